// SPDX-License-Identifier: MIT OR Apache-2.0
//! A model as options of the plugin, as `lab/model/options.h` describes them.

use std::path::Path;

use huepage::units::Bytes;

use super::{Backing, Level, MemorySideCache, Model, Node, Outside, Replacement, Scope};
use crate::boot::escaped;

impl Model {
    /// What goes behind `-plugin file.so,` for QEMU, with records written to `out`.
    pub fn plugin_options(&self, out: &Path) -> String {
        // Nothing else here has commas.
        let mut options = vec![format!("out={}", escaped(out))];
        options.extend(numbered("level", self.levels.iter().map(level)));
        options.extend(numbered("node", self.nodes.iter().map(node)));
        options.extend(numbered("distance", self.distances.iter().map(|row| list(row))));
        options.extend(numbered("memside", self.memory_side.iter().map(memory_side)));
        options.push(format!("memory={}", self.memory_latency));
        options.push(format!("seed={}", self.seed));
        let outside = match self.outside {
            Outside::Model => "model",
            Outside::Skip => "skip",
        };
        options.push(format!("outside={outside}"));
        options.push(format!("colors={}", switch(self.color_conflicts)));
        options.push(format!("pages={}", switch(self.page_times)));
        options.push(format!("frames={}", switch(self.frames)));
        options.push(format!("strings={}", switch(self.count_strings)));
        options.join(",")
    }
}

fn numbered(key: &str, values: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    values.enumerate().map(move |(number, value)| format!("{key}{number}={value}"))
}

fn level(level: &Level) -> String {
    let replacement = match level.replacement {
        Replacement::Lru => "lru",
        Replacement::TreePlru => "tree-plru",
        Replacement::Random => "random",
        Replacement::Qlru => "qlru",
    };
    let scope = match level.scope {
        Scope::Private => "private",
        Scope::Shared => "shared",
    };
    let geometry = geometry(level.size, level.ways, level.line);
    format!("{geometry}:{replacement}:{scope}:{}", level.latency)
}

fn memory_side(cache: &MemorySideCache) -> String {
    let backing = match cache.backing {
        Backing::All => "all".to_owned(),
        Backing::Node(node) => format!("node{node}"),
        Backing::Range { start, end } => range(start, end),
    };
    let geometry = geometry(cache.size, cache.ways, cache.line);
    format!("{geometry}:{backing}:{}", cache.latency)
}

fn geometry(size: Bytes, ways: u32, line: Bytes) -> String {
    format!("{}:{ways}:{}", size.0, line.0)
}

fn node(node: &Node) -> String {
    let memory: Vec<_> = node.memory.iter().map(|&(start, end)| range(start, end)).collect();
    format!("{}:{}", memory.join("+"), list(&node.cpus))
}

fn range(start: u64, end: u64) -> String {
    format!("{start:#x}-{end:#x}")
}

fn list(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join("+")
}

fn switch(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}
