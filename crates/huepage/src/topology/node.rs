// SPDX-License-Identifier: MIT OR Apache-2.0
//! NUMA nodes: which CPUs and memory belong together, and how far apart.
//!
//! `/sys/devices/system/node/`, described in the kernel's
//! Documentation/ABI/stable/sysfs-devices-node. Node numbers may have holes, a
//! node may have no CPUs or no memory, and node 0 need not exist.

use super::{
    MachineSource, MemorySideCache, side_cache,
    source::{indexes, numbered, text},
};
use crate::units::Bytes;

const DIRECTORY: &str = "/sys/devices/system/node";

/// One online NUMA node.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct NumaNode {
    /// Its number; not always counted from 0 or without holes.
    pub id: u32,
    /// Its CPUs, ascending; none on a node of memory only.
    pub cpus: Vec<u32>,
    /// Its memory; 0 on a node of CPUs only, `None` if the kernel does not show it.
    pub memory: Option<Bytes>,
    /// Relative distance to every online node, ascending; 10 is local. Empty
    /// where the kernel's table cannot be read.
    pub distances: Vec<Distance>,
    /// Caches in front of this node's memory, from HMAT.
    pub memory_side_caches: Vec<MemorySideCache>,
}

/// How far another node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Distance {
    /// The other node.
    pub node: u32,
    /// ACPI SLIT units: 10 is local.
    pub distance: u32,
}

/// All online nodes, ascending; none on a kernel without NUMA. Files that cannot be
/// read are listed in `problems`.
pub(super) fn read(source: &dyn MachineSource, problems: &mut Vec<String>) -> Vec<NumaNode> {
    let online = indexes(source, &format!("{DIRECTORY}/online"))
        .unwrap_or_else(|| numbered(source, DIRECTORY, "node"));
    online
        .iter()
        .map(|&id| {
            let directory = format!("{DIRECTORY}/node{id}");
            let distances = distances(source, id, &online).unwrap_or_else(|problem| {
                problems.push(problem);
                Vec::new()
            });
            NumaNode {
                id,
                cpus: indexes(source, &format!("{directory}/cpulist")).unwrap_or_default(),
                memory: memory(source, &directory),
                distances,
                memory_side_caches: side_cache::read(source, &directory),
            }
        })
        .collect()
}

/// `Node 3 MemTotal:  65856512 kB`, where kB means KiB.
fn memory(source: &dyn MachineSource, directory: &str) -> Option<Bytes> {
    let meminfo = text(source, &format!("{directory}/meminfo"))?;
    let line = meminfo.lines().find(|line| line.contains("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().nth(3)?.parse().ok()?;
    kib.checked_mul(1024).map(Bytes)
}

/// The row has one entry per online node, in ascending order: if a node number is
/// missing, the third entry is not that of node 2.
fn distances(source: &dyn MachineSource, id: u32, online: &[u32]) -> Result<Vec<Distance>, String> {
    let Some(row) = text(source, &format!("{DIRECTORY}/node{id}/distance")) else {
        return Err(format!("node {id} has no distances"));
    };
    let values: Vec<u32> = row
        .split_whitespace()
        .map(|word| word.parse().map_err(|_| format!("node {id}: '{word}' is no distance")))
        .collect::<Result<_, _>>()?;
    if values.len() != online.len() {
        return Err(format!(
            "node {id} has {} distances for {} online node(s)",
            values.len(),
            online.len()
        ));
    }
    Ok(online.iter().zip(values).map(|(&node, distance)| Distance { node, distance }).collect())
}
