// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds the plugin and turns a model into its options.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

use super::{Backing, Model, Outside, Record, Replacement, Scope};
use crate::workspace::Workspace;

/// Compiles the plugin.
pub fn build(folder: &Path) -> anyhow::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let plugin = folder.join("huepage-model.so");
    if plugin.exists() {
        return Ok(plugin);
    }
    let sources = Workspace::find()?.root().join("lab/model");
    let files: Vec<PathBuf> = std::fs::read_dir(&sources)?
        .map(|file| file.map(|file| file.path()))
        .collect::<Result<_, _>>()?;
    let files = files.iter().filter(|file| file.extension().is_some_and(|e| e == "c"));
    let output = Command::new("cc")
        .args(["-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", "-shared", "-o"])
        .arg(&plugin)
        .args(files)
        .arg("-lm")
        .output()
        .context("run cc")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(plugin)
}

/// Reads the records.
pub fn read_records(path: &Path) -> anyhow::Result<Vec<Record>> {
    let text = std::fs::read_to_string(path)?;
    text.lines().map(|line| serde_json::from_str(line).with_context(|| line.to_owned())).collect()
}

impl Model {
    /// Whether it can be.
    pub fn check(&self) -> anyhow::Result<()> {
        Ok(())
    }

    /// As options.
    pub fn plugin_options(&self, out: &Path) -> String {
        let mut options = vec![format!("out={}", out.display())];
        for (n, level) in self.levels.iter().enumerate() {
            let replacement = match level.replacement {
                Replacement::Lru => "lru",
                Replacement::TreePlru => "tree-plru",
                Replacement::Random => "random",
            };
            let scope = if level.scope == Scope::Private { "private" } else { "shared" };
            options.push(format!(
                "level{n}={}:{}:{}:{replacement}:{scope}:{}",
                level.size.0, level.ways, level.line.0, level.latency
            ));
        }
        for (n, node) in self.nodes.iter().enumerate() {
            let memory: Vec<String> = node.memory.iter().map(|(a, b)| format!("{a}-{b}")).collect();
            let cpus: Vec<String> = node.cpus.iter().map(u32::to_string).collect();
            options.push(format!("node{n}={}:{}", memory.join("+"), cpus.join("+")));
        }
        for (n, row) in self.distances.iter().enumerate() {
            let row: Vec<String> = row.iter().map(u32::to_string).collect();
            options.push(format!("distance{n}={}", row.join("+")));
        }
        for (n, cache) in self.memory_side.iter().enumerate() {
            let backing = match cache.backing {
                Backing::All => "all".to_owned(),
                Backing::Node(node) => format!("node{node}"),
                Backing::Range { start, end } => format!("{start}-{end}"),
            };
            options.push(format!(
                "memside{n}={}:{}:{}:{backing}:{}",
                cache.size.0, cache.ways, cache.line.0, cache.latency
            ));
        }
        options.push(format!("memory={}", self.memory_latency));
        let outside = if self.outside == Outside::Skip { "skip" } else { "model" };
        options.push(format!("outside={outside},seed={}", self.seed));
        let switch = |on| if on { "on" } else { "off" };
        options.push(format!("colors={}", switch(self.color_conflicts)));
        options.push(format!("pages={}", switch(self.page_times)));
        options.join(",")
    }
}
