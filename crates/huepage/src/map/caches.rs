// SPDX-License-Identifier: MIT OR Apache-2.0
//! The caches of a machine that have colors.

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{topology::RecordedMachine, units::Bytes};

    fn machine(name: &str) -> Topology {
        let path = format!("{}/tests/machines/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let json = std::fs::read_to_string(path).unwrap();
        Topology::read(&RecordedMachine::from_json(&json).unwrap()).unwrap()
    }

    fn names(caches: &[MappedCache]) -> Vec<&str> {
        caches.iter().map(|cache| cache.name.as_str()).collect()
    }

    #[test]
    fn two_kinds_of_cores_have_two_caches_of_a_level_and_the_shared_one_is_hashed() {
        let (caches, shown) = mapped(&machine("alder-lake-i9-12900k"), None);
        assert_eq!(names(&caches), ["L2 of CPUs 0-15", "L2 of CPUs 16-23", "L3"]);
        assert_eq!(caches.iter().map(|c| c.colors.get()).collect::<Vec<_>>(), [32, 32, 640]);
        assert_eq!(caches.iter().map(|c| c.ways).collect::<Vec<_>>(), [10, 16, 12]);
        assert_eq!([caches[0].trust, caches[2].trust], [Trust::Plain, Trust::Hashed]);
        assert_eq!(shown, Some(0));
    }

    #[test]
    fn a_memory_side_cache_counts_the_frames_of_its_node_only() {
        let (caches, _) = mapped(&machine("xeon-max-9462-hbm-cache"), None);
        let side = caches.iter().find(|cache| cache.node.is_some()).unwrap();
        assert_eq!((side.name.as_str(), side.ways), ("node 0 memory-side cache 1", 1));
        assert_eq!(u64::from(side.colors.get()) * 4096, side.size.0);
        assert_eq!(side.trust, Trust::Plain);
    }

    #[test]
    fn in_a_virtual_machine_no_color_is_trusted() {
        let (caches, _) = mapped(&machine("epyc-family-26-guest"), None);
        assert!(!caches.is_empty());
        assert!(caches.iter().all(|cache| cache.trust == Trust::VirtualMachine));
    }

    #[test]
    fn a_geometry_given_by_hand_replaces_its_level_and_is_shown() {
        let given = CacheGeometry::from_size(2, Bytes::mib(1), 8, 64).unwrap();
        let (caches, shown) = mapped(&machine("alder-lake-i9-12900k"), Some(given));
        assert_eq!(names(&caches), ["L2", "L3"]);
        assert_eq!((caches[0].size, caches[0].ways, shown), (Bytes::mib(1), 8, Some(0)));
        let (none, shown) = mapped(&machine("qemu-virt-arm64-no-geometry"), None);
        assert_eq!((none.len(), shown), (0, None));
        let (one, shown) = mapped(&machine("qemu-virt-arm64-no-geometry"), Some(given));
        assert_eq!((names(&one), shown), (vec!["L2"], Some(0)));
    }
}
