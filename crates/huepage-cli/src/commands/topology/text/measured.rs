// SPDX-License-Identifier: MIT OR Apache-2.0
//! The measured ends of caches as text, beside the declared sizes.

use std::fmt::Write;

use huepage::{
    topology::{Cache, CacheEnd, CacheKind, Topology, cache_name},
    units::Bytes,
};

use crate::layout::{counted, put};

/// Where L1 and L2 end, declared and measured.
pub fn measured(out: &mut String, topology: &Topology) {
    let Some(measured) = &topology.measured else { return };
    let curve = &measured.curve;
    let rounds = counted(u64::from(curve.rounds), "round");
    let rounds = if curve.rounds < 3 { format!("{rounds} only: busy or slow") } else { rounds };
    let _ = writeln!(out, "\nEnds of caches by timing, CPU {}, {rounds}", curve.cpu);
    let _ = writeln!(out, "        declared  measured");
    let ends = [(1, CacheKind::Data, &measured.l1), (2, CacheKind::Unified, &measured.l2)];
    for (level, kind, end) in ends {
        let geometry = topology
            .caches
            .iter()
            .find(|c| (c.level, c.kind) == (level, kind) && c.cpus.contains(&curve.cpu))
            .and_then(Cache::geometry);
        let declared = geometry.map(|geometry| geometry.size());
        let found = match end {
            Some(end) => found(end, declared),
            None => match curve.points.last() {
                Some(last) => format!("no end seen up to {}", last.bytes),
                None => "nothing".to_owned(),
            },
        };
        let declared = declared.map_or("-".to_owned(), |size| size.to_string());
        put(out, &format!("  {:<4} ", cache_name(level, kind)), &format!("{declared:>9}  {found}"));
    }
}

fn found(end: &CacheEnd, declared: Option<Bytes>) -> String {
    let verdict = match declared {
        Some(size) if end.fits(size) => "fits",
        Some(_) => "DIFFERS",
        None => "",
    };
    let range = format!("{} to {}", end.at_least, end.at_most);
    let (inside, outside) = (end.nanoseconds_inside, end.nanoseconds_outside);
    format!("{range:<21} {verdict:<8} {inside:.1} ns inside, {outside:.1} ns outside")
}
