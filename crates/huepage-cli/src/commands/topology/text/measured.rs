// SPDX-License-Identifier: MIT OR Apache-2.0
//! The measured ends of caches as text, beside the declared sizes.

use huepage_present::{number::counted, paragraph::put};
use std::fmt::Write;

use huepage::{
    topology::{
        Cache, CacheEnd, CacheKind, Measured, QuietEnds, SizeVerdict, Topology, cache_name,
    },
    units::Bytes,
};

/// L1 and L2: level, kind, and how to get at their end.
type Ends = [(u8, CacheKind, Option<CacheEnd>); 2];

fn ends(l1: Option<CacheEnd>, l2: Option<CacheEnd>) -> Ends {
    [(1, CacheKind::Data, l1), (2, CacheKind::Unified, l2)]
}

/// Where L1 and L2 end, declared and measured.
pub fn measured(out: &mut String, topology: &Topology) {
    let Some(measured) = &topology.measured else { return };
    let curve = &measured.curve;
    let rounds = counted(u64::from(curve.rounds), "round");
    let rounds = if curve.rounds < 3 { format!("{rounds} only: busy or slow") } else { rounds };
    let _ = writeln!(out, "\nEnds of caches by timing, CPU {}, {rounds}", curve.cpu);
    match &measured.quiet {
        Some(quiet) => in_quiet_moments(out, topology, measured, quiet),
        None => now(out, topology, measured),
    }
}

fn declared(topology: &Topology, cpu: u32, level: u8, kind: CacheKind) -> Option<Bytes> {
    let cache = topology
        .caches
        .iter()
        .find(|c| (c.level, c.kind) == (level, kind) && c.cpus.contains(&cpu));
    cache.and_then(Cache::geometry).map(|geometry| geometry.size())
}

fn size(size: Option<Bytes>) -> String {
    size.map_or("-".to_owned(), |size| size.to_string())
}

fn range(end: &CacheEnd) -> String {
    format!("{} to {}", end.at_least, end.at_most)
}

/// For a curve without knowledge of which moments were quiet.
fn now(out: &mut String, topology: &Topology, measured: &Measured) {
    let _ = writeln!(out, "        declared  measured");
    let mut sentences = Vec::new();
    for (level, kind, end) in ends(measured.l1, measured.l2) {
        let declared = declared(topology, measured.curve.cpu, level, kind);
        let found = match end {
            Some(end) => {
                let verdict = declared.and_then(|size| measured.verdict(level, size));
                sentences.extend(sentence(&cache_name(level, kind), verdict));
                let (inside, outside) = (end.nanoseconds_inside, end.nanoseconds_outside);
                let (range, verdict) = (range(&end), word(verdict));
                format!("{range:<21} {verdict:<8} {inside:.1} ns inside, {outside:.1} ns outside")
            }
            None => no_end(measured),
        };
        let declared = size(declared);
        put(out, &format!("  {:<4} ", cache_name(level, kind)), &format!("{declared:>9}  {found}"));
    }
    for sentence in sentences {
        put(out, "           ", &sentence);
    }
}

fn no_end(measured: &Measured) -> String {
    match measured.curve.points.last() {
        Some(last) => format!("no end seen up to {}", last.bytes),
        None => "nothing".to_owned(),
    }
}

fn word(verdict: Option<SizeVerdict>) -> &'static str {
    match verdict {
        Some(SizeVerdict::Fits) => "fits",
        Some(SizeVerdict::FitsWhenQuiet) => "fits when quiet",
        Some(SizeVerdict::Differs) => "DIFFERS",
        Some(SizeVerdict::DiffersNow) => "differs now",
        Some(SizeVerdict::CannotTell) => "cannot tell now",
        None => "",
    }
}

/// Quiet moments and now, side by side.
fn in_quiet_moments(out: &mut String, topology: &Topology, measured: &Measured, quiet: &QuietEnds) {
    let _ = writeln!(out, "        declared  in quiet moments      now");
    let mut sentences = Vec::new();
    let both = ends(quiet.l1, quiet.l2).into_iter().zip(ends(measured.l1, measured.l2));
    for ((level, kind, end), (.., end_now)) in both {
        let declared = declared(topology, measured.curve.cpu, level, kind);
        let of_size = declared.and_then(|size| measured.verdict(level, size));
        let in_quiet = match end {
            Some(end) => range(&end),
            None if quiet.complete => "no end seen".to_owned(),
            None => "too few moments".to_owned(),
        };
        let end_now = end_now.map_or("no end seen".to_owned(), |end| range(&end));
        let (name, size, verdict) = (cache_name(level, kind), size(declared), word(of_size));
        let row = format!("  {name:<4} {size:>9}  {in_quiet:<21} {end_now:<21} {verdict}");
        let _ = writeln!(out, "{}", row.trim_end());
        sentences.extend(sentence(&name, of_size));
    }
    times(out, "  quiet  ", quiet.l1, quiet.l2);
    times(out, "  now    ", measured.l1, measured.l2);
    let share = 100.0 * quiet.neighbor_share;
    let samples = quiet.samples;
    put(out, "Neighbor   ", &format!("seen beside {share:.0}% of {samples} samples"));
    for sentence in sentences {
        put(out, "           ", &sentence);
    }
}

/// The meaning of a verdict, if it needs more than a word.
fn sentence(name: &str, verdict: Option<SizeVerdict>) -> Option<String> {
    match verdict? {
        SizeVerdict::FitsWhenQuiet => {
            Some(format!("other programs take part of the {name} now: see huepage pressure"))
        }
        SizeVerdict::CannotTell => Some(format!(
            "too few moments were quiet to find the size of the {name} without others: try \
             again, or find a quiet time with huepage pressure --watch 1"
        )),
        SizeVerdict::DiffersNow => Some(format!(
            "its colors were not found, so it is unknown whether others take part of the {name} now"
        )),
        SizeVerdict::Fits | SizeVerdict::Differs => None,
    }
}

/// Latencies inside and outside of each cache whose end was measured.
fn times(out: &mut String, head: &str, l1: Option<CacheEnd>, l2: Option<CacheEnd>) {
    let of = |(level, kind, end): (u8, CacheKind, Option<CacheEnd>)| {
        let CacheEnd { nanoseconds_inside, nanoseconds_outside, .. } = end?;
        let name = cache_name(level, kind);
        Some(format!(
            "{name} {nanoseconds_inside:.1} ns inside, {nanoseconds_outside:.1} ns outside"
        ))
    };
    let times: Vec<String> = ends(l1, l2).into_iter().filter_map(of).collect();
    if !times.is_empty() {
        put(out, head, &times.join("; "));
    }
}
