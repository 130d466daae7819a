// SPDX-License-Identifier: MIT OR Apache-2.0
//! The plugin's reports, one JSON line per region of interest and CPU.

use serde::{Deserialize, Serialize};

/// One region of interest on one CPU, from its begin to its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The number given in the guest.
    pub region: u32,
    /// How many regions ended before, over all numbers: 0, 1, 2, …
    pub sequence: u32,
    /// The CPU counted.
    pub cpu: u32,
    /// Instructions executed.
    pub instructions: u64,
    /// Memory accesses: loads and stores, each once.
    pub accesses: u64,
    /// By level, in the model's order.
    pub levels: Vec<LevelCounts>,
    /// By memory-side cache, in the model's order.
    pub memory_side: Vec<LevelCounts>,
    /// Lines from memory that were in no memory-side cache, by node.
    pub nodes: Vec<u64>,
    /// Lines from memory that belongs to no node, and were in no memory-side cache.
    #[serde(default)]
    pub elsewhere: u64,
    /// Instructions plus latencies, in modelled cycles.
    pub cycles: u64,
    /// Misses by color, where asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color_conflicts: Option<Vec<u64>>,
    /// Access times of pages, where asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_times: Option<PageTimes>,
}

/// All counts of a boot's model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Records {
    /// Of each region and CPU, in the order in which regions ended.
    pub regions: Vec<Record>,
    /// Of each page frame that was accessed in a region, ascending, where asked for.
    pub frames: Vec<FrameCounts>,
    /// Of each region that ended, in order, how often the instruction at each address was
    /// executed on all CPUs; addresses ascending, where asked for.
    pub addresses: Vec<Vec<(u64, u64)>>,
}

/// Counts of the accesses to one page frame, over all regions and CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameCounts {
    /// The frame's number.
    pub frame: u64,
    /// Loads and stores that began in it.
    pub accesses: u64,
    /// Lines of it that each level did not find, and then all memory-side caches.
    pub misses: Vec<u64>,
}

/// Counts of one cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelCounts {
    /// Lines found.
    pub hits: u64,
    /// Lines not found.
    pub misses: u64,
}

/// Modelled access times, taken per physical page first: the mean and the
/// standard deviation over pages of their mean access times, and the same over
/// single accesses, in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageTimes {
    /// Pages accessed.
    pub pages: u64,
    /// Mean over pages.
    pub mean: f64,
    /// Standard deviation over pages.
    pub deviation: f64,
    /// Mean over accesses.
    pub access_mean: f64,
    /// Standard deviation over accesses.
    pub access_deviation: f64,
}
