// SPDX-License-Identifier: MIT OR Apache-2.0
//! The caches of a machine that colors can be told for.

use super::{MappedCache, Trust};
use crate::{
    color::ColorCount,
    list,
    topology::{CacheGeometry, CacheKind, Topology},
};

/// All caches of more than one color: by level, memory-side caches last. A
/// geometry given by hand replaces what is declared of its level. The index is
/// that of the cache to show in pictures: the one given, else the first L2,
/// else the first.
///
/// L1 caches are left out: what their index takes above the page offset is of
/// the virtual address.
pub(super) fn mapped(
    topology: &Topology,
    given: Option<CacheGeometry>,
) -> (Vec<MappedCache>, Option<usize>) {
    let trust = |level: u8| match level {
        _ if topology.virtualization.detected => Trust::VirtualMachine,
        ..=2 => Trust::Plain,
        _ => Trust::Hashed,
    };
    let cache = |name: String, geometry: CacheGeometry| MappedCache {
        name,
        size: geometry.size(),
        ways: geometry.ways(),
        colors: geometry.colors(topology.page_size),
        node: None,
        trust: trust(geometry.level()),
    };
    // Alike ones of many cores are one; a machine with two kinds of cores has
    // two of a level.
    let mut declared: Vec<(CacheGeometry, Vec<u32>)> = Vec::new();
    let levels =
        topology.caches.iter().filter(|c| c.level >= 2 && c.kind != CacheKind::Instruction);
    for found in levels {
        let Some(geometry) = found.geometry() else { continue };
        match declared.iter_mut().find(|(known, _)| *known == geometry) {
            Some((_, cpus)) => cpus.extend(&found.cpus),
            None => declared.push((geometry, found.cpus.clone())),
        }
    }
    declared.retain(|(known, _)| given.is_none_or(|given| given.level() != known.level()));
    declared.extend(given.map(|given| (given, Vec::new())));
    declared.sort_by_key(|(geometry, cpus)| (geometry.level(), cpus.first().copied()));
    let alone =
        |level: u8| declared.iter().filter(|(other, _)| other.level() == level).count() == 1;

    let mut caches = Vec::new();
    let mut shown = None;
    for (geometry, cpus) in &declared {
        if geometry.colors(topology.page_size).get() == 1 {
            continue;
        }
        let level = geometry.level();
        let mut name = format!("L{level}");
        if !alone(level) {
            name += &format!(" of CPUs {}", list::format(&sorted(cpus)));
        }
        if shown.is_none() && given.map_or(level == 2, |given| given == *geometry) {
            shown = Some(caches.len());
        }
        caches.push(cache(name, *geometry));
    }
    for node in &topology.nodes {
        for side in &node.memory_side_caches {
            let colors = side.colors.and_then(|n| ColorCount::new(u32::try_from(n).ok()?));
            if let (Some(size), Some(colors)) = (side.size, colors.filter(|n| n.get() > 1)) {
                caches.push(MappedCache {
                    name: format!("node {} memory-side cache {}", node.id, side.level),
                    size,
                    ways: 1,
                    colors,
                    node: Some(node.id),
                    trust: trust(1),
                });
            }
        }
    }
    let shown = shown.or((!caches.is_empty()).then_some(0));
    (caches, shown)
}

fn sorted(cpus: &[u32]) -> Vec<u32> {
    let mut cpus = cpus.to_vec();
    cpus.sort_unstable();
    cpus
}
