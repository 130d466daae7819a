// SPDX-License-Identifier: MIT OR Apache-2.0
//! NUMA nodes, their distances and memory-side caches as text.

use huepage_present::{
    number::{counted, indexes},
    paragraph::{WIDTH, put},
};
use std::fmt::Write;

use huepage::{
    topology::{AddressMode, Distance, Indexing, MemorySideCache, NumaNode, Topology, WritePolicy},
    units::Bytes,
};

/// Nodes with memory, CPUs and distances.
pub fn nodes(out: &mut String, topology: &Topology) {
    if topology.nodes.is_empty() {
        out.push_str("\nNUMA       none: the kernel lists no nodes\n");
        return;
    }
    out.push_str("\nNUMA nodes\n");
    // Large machines have many similar nodes: neighbors with as much memory and as many
    // CPUs share a line.
    let many = topology.nodes.len() > 8;
    let alike =
        |a: &NumaNode, b: &NumaNode| many && a.memory == b.memory && a.cpus.len() == b.cpus.len();
    for group in topology.nodes.chunk_by(alike) {
        let ids: Vec<u32> = group.iter().map(|node| node.id).collect();
        let cpus: Vec<u32> = group.iter().flat_map(|node| node.cpus.clone()).collect();
        let each = if group.len() > 1 { " each" } else { "" };
        let memory = match group[0].memory {
            None => "memory unknown".to_owned(),
            Some(Bytes(0)) => "no memory".to_owned(),
            Some(memory) => format!("{memory}{each}"),
        };
        let cpus = match group[0].cpus.len() {
            0 => "no CPUs".to_owned(),
            _ if group.len() == 1 => format!("CPUs {}", indexes(&cpus)),
            count => format!("{}{each}: {}", counted(count as u64, "CPU"), indexes(&cpus)),
        };
        put(out, &format!("  {:<5} ", indexes(&ids)), &format!("{memory:>10}  {cpus}"));
    }
    if topology.nodes.len() > 1 {
        distances(out, &topology.nodes);
    }
}

/// A table if it fits the width, otherwise nodes with the same view share a line.
fn distances(out: &mut String, nodes: &[NumaNode]) {
    if 8 + 4 * nodes.len() <= WIDTH {
        let cells = |cells: Vec<u32>| {
            cells.iter().fold(String::new(), |row, cell| format!("{row}{cell:>4}"))
        };
        let _ = writeln!(out, "  to    {}", cells(nodes.iter().map(|node| node.id).collect()));
        for node in nodes.iter().filter(|node| !node.distances.is_empty()) {
            let row = node.distances.iter().map(|distance| distance.distance).collect();
            let _ = writeln!(out, "  {:<5} {}", node.id, cells(row));
        }
        return;
    }
    let mut views: Vec<(String, Vec<u32>)> = Vec::new();
    for node in nodes.iter().filter(|node| !node.distances.is_empty()) {
        let view = view(node);
        match views.iter_mut().find(|(known, _)| *known == view) {
            Some((_, ids)) => ids.push(node.id),
            None => views.push((view, vec![node.id])),
        }
    }
    for (view, ids) in views {
        put(out, &format!("  {:<5} ", indexes(&ids)), &view);
    }
}

/// A node's distances as text. The node itself is listed with its nearest
/// neighbors, so that nodes of one group have the same view.
fn view(node: &NumaNode) -> String {
    let own = node.distances.iter().find(|d| d.node == node.id).map(|d| d.distance);
    let mut values: Vec<u32> =
        node.distances.iter().filter(|d| d.node != node.id).map(|d| d.distance).collect();
    values.sort_unstable();
    values.dedup();
    let mut parts: Vec<String> = own.iter().map(|own| format!("{own} local")).collect();
    for (i, value) in values.into_iter().enumerate() {
        let near = |d: &&Distance| {
            if d.node == node.id { i == 0 } else { d.distance == value }
        };
        let ids: Vec<u32> = node.distances.iter().filter(near).map(|d| d.node).collect();
        parts.push(format!("{value} to {}", indexes(&ids)));
    }
    parts.join("; ")
}

/// Caches in front of memory, by node.
pub fn side_caches(out: &mut String, topology: &Topology) {
    if topology.nodes.iter().all(|node| node.memory_side_caches.is_empty()) {
        return;
    }
    out.push_str("\nMemory-side caches\n");
    for node in &topology.nodes {
        for cache in &node.memory_side_caches {
            put(out, &format!("  {:<4} ", node.id), &side_cache(cache));
        }
    }
}

fn side_cache(cache: &MemorySideCache) -> String {
    let size = cache.size.map_or("size unknown".to_owned(), |size| size.to_string());
    let indexing = match cache.indexing {
        Indexing::DirectMapped => "direct-mapped",
        Indexing::Indexed => "indexed",
        Indexing::Other => "indexing unknown",
    };
    let policy = match cache.write_policy {
        WritePolicy::WriteBack => "write-back",
        WritePolicy::WriteThrough => "write-through",
        WritePolicy::Other => "write policy unknown",
    };
    let mode = match cache.address_mode {
        Some(AddressMode::ExtendedLinear) => ", extended-linear",
        Some(AddressMode::Other) => ", unknown address mode",
        Some(AddressMode::Reserved) | None => "",
    };
    let line = cache.line.map(|line| format!(", line {line} B")).unwrap_or_default();
    let colors = cache.colors.map_or("colors unknown".to_owned(), |n| counted(n, "color"));
    format!("level {} {size:>9} {indexing}{mode}, {policy}{line}, {colors}", cache.level)
}
