// SPDX-License-Identifier: MIT OR Apache-2.0
//! A model as options of the plugin, as `lab/model/options.h` describes them.

use std::path::Path;

use huepage::units::Bytes;
use serde::Serialize;

use super::{Backing, Level, MemorySideCache, Model, Node};
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
        options.push(format!("outside={}", word(self.outside)));
        options.push(format!("colors={}", switch(self.color_conflicts)));
        options.push(format!("pages={}", switch(self.page_times)));
        options.push(format!("frames={}", switch(self.frames)));
        options.push(format!("addresses={}", switch(self.addresses)));
        options.push(format!("strings={}", switch(self.count_strings)));
        options.join(",")
    }
}

fn numbered(key: &str, values: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    values.enumerate().map(move |(number, value)| format!("{key}{number}={value}"))
}

fn level(level: &Level) -> String {
    let geometry = geometry(level.size, level.ways, level.line);
    let (replacement, scope) = (word(level.replacement), word(level.scope));
    format!("{geometry}:{replacement}:{scope}:{}", level.latency)
}

/// The plugin has the same words as JSON.
fn word(value: impl Serialize) -> String {
    let word = serde_json::to_value(value).expect("a name is plain data");
    word.as_str().expect("a name is a string").to_owned()
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
