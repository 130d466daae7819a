// SPDX-License-Identifier: MIT OR Apache-2.0
//! The results of a run: the model's counts by cache and by mapping, and colors.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use anyhow::Context;
use huepage::units::Bytes;
use serde::Serialize;

use super::{Way, mappings::Process};
use crate::{
    boot::Report,
    experiment::PAGE,
    model::{FrameCounts, Model},
};

/// Anonymous mappings smaller than this are one entry.
const SMALL: u64 = 1 << 20;

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// The policy by which pages were placed.
    pub policy: &'static str,
    /// The use of memory before.
    pub age: &'static str,
    /// Which kernel.
    pub kernel: String,
    /// How the program ended.
    pub ended: Ended,
    /// Instructions executed, the kernel's among them.
    pub instructions: u64,
    /// Loads and stores.
    pub accesses: u64,
    /// Instructions plus latencies: modelled.
    pub cycles: u64,
    /// Hits and misses of each cache.
    pub caches: Vec<CacheCounts>,
    /// How the pages share the colors of the last cache.
    pub colors: Colors,
    /// Counts of each mapping and of the rest, most misses of the last cache first.
    pub mappings: Vec<MappingCounts>,
    /// The program's standard output.
    #[serde(skip)]
    pub stdout: Vec<u8>,
    /// The program's standard error.
    #[serde(skip)]
    pub stderr: Vec<u8>,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// Counts of a cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CacheCounts {
    /// The name in the model.
    pub name: String,
    /// Lines found.
    pub hits: u64,
    /// Lines not found.
    pub misses: u64,
}

/// How pages share the colors of a cache.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Colors {
    /// The cache.
    pub cache: String,
    /// Pages of one way.
    pub colors: u64,
    /// Its associativity.
    pub ways: u32,
    /// Frames that were accessed and mapped when a process ended.
    pub pages: u64,
    /// Share of them on colors with more of them than there are ways.
    pub conflicts: f64,
    /// Most of them on a color, less the fewest.
    pub spread: u64,
}

/// Counts of the accesses to a mapping.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MappingCounts {
    /// A path, a name in brackets, the address of an anonymous mapping, or another
    /// name.
    pub name: String,
    /// Frames behind it.
    pub pages: u64,
    /// Mapped pages whose frame is a zero page; only in the entry of zero pages.
    pub mapped: u64,
    /// Loads and stores.
    pub accesses: u64,
    /// Lines that each cache did not find, in the order of the caches.
    pub misses: Vec<u64>,
}

/// The entry of zero pages, which belong to no mapping.
pub const ZERO_PAGES: &str = "zero pages";
const REST: &str = "kernel, page cache, unmapped before the end";

/// A cache whose sets pages compete for.
pub struct ColoredCache {
    /// The name in the model.
    pub name: String,
    /// All of it.
    pub size: Bytes,
    /// Its associativity.
    pub ways: u32,
}

/// The memory-side cache, or else the last level.
///
/// # Errors
/// A model without caches.
pub fn colored_cache(model: &Model) -> anyhow::Result<ColoredCache> {
    let side = model.memory_side.first().map(|side| ColoredCache {
        name: "memory side".into(),
        size: side.size,
        ways: side.ways,
    });
    let level = || {
        let level = model.levels.last()?;
        Some(ColoredCache { name: level.name.clone(), size: level.size, ways: level.ways })
    };
    side.or_else(level).context("the model has no cache: name one in levels")
}

impl Outcome {
    pub(super) fn new(
        way: Way,
        model: &Model,
        (kernel, (code, signal)): (String, (i32, i32)),
        report: &Report,
        processes: &[Process],
        (stdout, stderr): (Vec<u8>, Vec<u8>),
    ) -> anyhow::Result<Self> {
        let sum = |of: fn(&crate::model::Record) -> u64| report.records.iter().map(of).sum();
        let by_frame: HashMap<u64, &FrameCounts> =
            report.frames.iter().map(|counts| (counts.frame, counts)).collect();
        Ok(Outcome {
            policy: way.policy.name(),
            age: way.age.name(),
            kernel,
            ended: if signal == 0 { Ended::Code(code) } else { Ended::Signal(signal) },
            instructions: sum(|record| record.instructions),
            accesses: sum(|record| record.accesses),
            cycles: sum(|record| record.cycles),
            caches: caches(model, report),
            colors: colors(&colored_cache(model)?, processes, &by_frame),
            mappings: by_mapping(processes, &report.frames, &by_frame),
            stdout,
            stderr,
        })
    }
}

fn caches(model: &Model, report: &Report) -> Vec<CacheCounts> {
    let level = |(number, level): (usize, &crate::model::Level)| CacheCounts {
        name: level.name.clone(),
        hits: report.records.iter().map(|record| record.levels[number].hits).sum(),
        misses: report.records.iter().map(|record| record.levels[number].misses).sum(),
    };
    let mut caches: Vec<_> = model.levels.iter().enumerate().map(level).collect();
    if !model.memory_side.is_empty() {
        let sides = || report.records.iter().flat_map(|record| &record.memory_side);
        caches.push(CacheCounts {
            name: "memory side".into(),
            hits: sides().map(|side| side.hits).sum(),
            misses: sides().map(|side| side.misses).sum(),
        });
    }
    caches
}

fn colors(
    cache: &ColoredCache,
    processes: &[Process],
    by_frame: &HashMap<u64, &FrameCounts>,
) -> Colors {
    let colors = (cache.size.0 / u64::from(cache.ways) / PAGE).max(1);
    let frames: BTreeSet<u64> = processes
        .iter()
        .flatten()
        .flat_map(|mapping| &mapping.frames)
        .filter(|frame| by_frame.get(frame).is_some_and(|counts| counts.accesses > 0))
        .copied()
        .collect();
    let mut on_color = vec![0u64; colors as usize];
    for frame in &frames {
        on_color[(frame % colors) as usize] += 1;
    }
    let crowded: u64 = on_color.iter().filter(|&&pages| pages > u64::from(cache.ways)).sum();
    let (most, least) = (on_color.iter().max(), on_color.iter().min());
    Colors {
        cache: cache.name.clone(),
        colors,
        ways: cache.ways,
        pages: frames.len() as u64,
        conflicts: if frames.is_empty() { 0.0 } else { crowded as f64 / frames.len() as f64 },
        spread: most.unwrap_or(&0) - least.unwrap_or(&0),
    }
}

/// A frame counts for the first mapping that has it: if several processes share it, it
/// is not counted twice, and if it was freed and used again, both uses count for that
/// mapping.
fn by_mapping(
    processes: &[Process],
    frames: &[FrameCounts],
    by_frame: &HashMap<u64, &FrameCounts>,
) -> Vec<MappingCounts> {
    let caches = frames.first().map_or(0, |frame| frame.misses.len());
    let mut seen = BTreeSet::new();
    let mut found: BTreeMap<String, MappingCounts> = BTreeMap::new();
    let mut add = |name: &str, frame: Option<u64>, mapped: u64| {
        let entry = found.entry(name.to_owned()).or_insert_with(|| MappingCounts {
            name: name.to_owned(),
            pages: 0,
            mapped: 0,
            accesses: 0,
            misses: vec![0; caches],
        });
        entry.mapped += mapped;
        let Some(frame) = frame.filter(|frame| seen.insert(*frame)) else { return };
        entry.pages += 1;
        if let Some(counts) = by_frame.get(&frame) {
            entry.accesses += counts.accesses;
            for (sum, misses) in entry.misses.iter_mut().zip(&counts.misses) {
                *sum += misses;
            }
        }
    };
    for mapping in processes.iter().flatten() {
        let name = match &*mapping.name {
            "" if mapping.end - mapping.start < SMALL => "anonymous, under 1 MiB".to_owned(),
            "" => format!("anonymous at {:#x}", mapping.start),
            name => name.to_owned(),
        };
        for &frame in &mapping.frames {
            add(&name, Some(frame), 0);
        }
        for &(frame, count) in &mapping.zeros {
            add(&name, None, count);
            add(ZERO_PAGES, Some(frame), count);
        }
    }
    for counts in frames {
        add(REST, Some(counts.frame), 0);
    }
    let mut mappings: Vec<_> =
        found.into_values().filter(|of| of.accesses + of.mapped > 0).collect();
    mappings
        .sort_by_key(|of| std::cmp::Reverse((of.misses.last().copied().unwrap_or(0), of.accesses)));
    mappings
}
