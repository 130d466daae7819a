// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks that a model is a possible memory hierarchy.

use huepage::units::Bytes;

use super::{Backing, Level, Model, Replacement};

/// What is impossible in a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{part}: {problem}")]
pub struct ModelError {
    /// A level by its name, or `memory-side cache 0`, `node 1`, `distances`.
    pub part: String,
    /// What is wrong with it.
    pub problem: String,
}

/// The largest line, a page.
const MAX_LINE: u64 = 4096;
/// The largest cache.
const MAX_SIZE: u64 = 1 << 48;
/// The most expensive line, in cycles.
const MAX_LATENCY: u32 = 1_000_000;
/// The plugin has a word of bits per set.
const MAX_TREE_WAYS: u32 = 64;

impl Model {
    /// Finds errors that the plugin would refuse.
    ///
    /// # Errors
    /// The first part that is wrong by itself or inconsistent with the others.
    pub fn check(&self) -> Result<(), ModelError> {
        let mut last_line = 0;
        for (n, level) in self.levels.iter().enumerate() {
            let &Level { size, ways, line, .. } = level;
            let wrong = |problem| no(&level.name, problem);
            geometry(size, ways, line, last_line).or_else(wrong)?;
            latency(level.latency).or_else(wrong)?;
            let tree = level.replacement == Replacement::TreePlru;
            if tree && (!ways.is_power_of_two() || ways > MAX_TREE_WAYS) {
                let most = MAX_TREE_WAYS;
                return wrong(format!(
                    "tree-PLRU takes a power of two up to {most} ways, not {ways}"
                ));
            }
            if self.levels[..n].iter().any(|other| other.name == level.name) {
                return wrong("two levels have this name".to_owned());
            }
            last_line = line.0;
        }
        latency(self.memory_latency).or_else(|e| no("memory", e))?;
        self.check_nodes()?;
        self.check_memory_side(last_line)?;
        if self.color_conflicts && self.levels.is_empty() && self.memory_side.is_empty() {
            return no("color conflicts", "there is no cache to have colors".to_owned());
        }
        Ok(())
    }

    fn check_nodes(&self) -> Result<(), ModelError> {
        let mut ranges: Vec<(usize, (u64, u64))> = Vec::new();
        let mut cpus: Vec<(usize, u32)> = Vec::new();
        for (n, node) in self.nodes.iter().enumerate() {
            let wrong = |problem| no(&format!("node {n}"), problem);
            for &(start, end) in &node.memory {
                let memory = format!("memory {start:#x}-{end:#x}");
                if start >= end {
                    return wrong(format!("{memory} is empty"));
                }
                if let Some((other, _)) = ranges.iter().find(|(_, r)| overlap(*r, (start, end))) {
                    return wrong(format!("{memory} overlaps that of node {other}"));
                }
                ranges.push((n, (start, end)));
            }
            for &cpu in &node.cpus {
                if let Some((other, _)) = cpus.iter().find(|(_, c)| *c == cpu) {
                    return wrong(format!("CPU {cpu} is in node {other} already"));
                }
                cpus.push((n, cpu));
            }
        }
        let nodes = self.nodes.len();
        let square =
            self.distances.len() == nodes && self.distances.iter().all(|r| r.len() == nodes);
        if !self.distances.is_empty() && !square {
            return no("distances", format!("they must be {nodes} rows of {nodes}"));
        }
        Ok(())
    }

    fn check_memory_side(&self, last_line: u64) -> Result<(), ModelError> {
        for (n, cache) in self.memory_side.iter().enumerate() {
            let wrong = |problem| no(&format!("memory-side cache {n}"), problem);
            geometry(cache.size, cache.ways, cache.line, last_line).or_else(wrong)?;
            latency(cache.latency).or_else(wrong)?;
            match cache.backing {
                Backing::Node(node) if node as usize >= self.nodes.len().max(1) => {
                    return wrong(format!("there is no node {node}"));
                }
                Backing::Range { start, end } if start >= end => {
                    return wrong(format!("range {start:#x}-{end:#x} is empty"));
                }
                _ => {}
            }
            let memory = self.behind(cache.backing);
            let shares = |other: &super::MemorySideCache| {
                let others = self.behind(other.backing);
                memory.iter().any(|a| others.iter().any(|b| overlap(*a, *b)))
            };
            if let Some(other) = self.memory_side[..n].iter().position(shares) {
                return wrong(format!("it caches memory that cache {other} caches too"));
            }
        }
        Ok(())
    }

    fn behind(&self, backing: Backing) -> Vec<(u64, u64)> {
        match backing {
            Backing::Node(node) if !self.nodes.is_empty() => {
                self.nodes[node as usize].memory.clone()
            }
            Backing::All | Backing::Node(_) => vec![(0, u64::MAX)],
            Backing::Range { start, end } => vec![(start, end)],
        }
    }
}

fn no(part: &str, problem: String) -> Result<(), ModelError> {
    Err(ModelError { part: part.to_owned(), problem })
}

fn overlap(a: (u64, u64), b: (u64, u64)) -> bool {
    a.0 < b.1 && b.0 < a.1
}

fn latency(cycles: u32) -> Result<(), String> {
    if cycles > MAX_LATENCY {
        return Err(format!("latency {cycles} is more than {MAX_LATENCY} cycles"));
    }
    Ok(())
}

fn geometry(size: Bytes, ways: u32, line: Bytes, line_before: u64) -> Result<(), String> {
    if !line.0.is_power_of_two() || line.0 > MAX_LINE {
        return Err(format!("line size {} is no power of two up to {MAX_LINE}", line.0));
    }
    if ways == 0 {
        return Err("it has no ways".to_owned());
    }
    let way_lines = u64::from(ways) * line.0;
    if size.0 == 0 || size.0 > MAX_SIZE || !size.0.is_multiple_of(way_lines) {
        return Err(format!(
            "size {} is no multiple, up to {MAX_SIZE}, of {ways} ways of {} bytes",
            size.0, line.0
        ));
    }
    // A miss would fetch several lines here, of which the model would count one.
    if line.0 < line_before {
        return Err(format!("its lines are smaller than the {line_before} bytes of those before"));
    }
    Ok(())
}
