// SPDX-License-Identifier: MIT OR Apache-2.0
//! The parts of a modelled memory hierarchy.

use huepage::units::Bytes;
use serde::{Deserialize, Serialize};

/// A memory hierarchy. All latencies are in cycles of a clock of 1 GHz, so in
/// nanoseconds as well.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Caches from the CPU outward. Each is asked when all before it missed.
    pub levels: Vec<Level>,
    /// Caches between the last level and memory, per address range.
    pub memory_side: Vec<MemorySideCache>,
    /// Memory and CPUs of each node; one node with everything if empty.
    pub nodes: Vec<Node>,
    /// By node of the CPU, then node of the memory, as in ACPI SLIT: 10 is local.
    /// Empty: 10 locally, 20 elsewhere.
    pub distances: Vec<Vec<u32>>,
    /// Latency of an access to memory at distance 10; others in proportion.
    pub memory_latency: u32,
    /// What is modelled outside regions of interest.
    pub outside: Outside,
    /// Seed of random replacement.
    pub seed: u64,
    /// Report misses per color of the memory-side cache, or else of the last
    /// level: sets × line / page size colors.
    pub color_conflicts: bool,
    /// Report the mean and deviation of access times per physical page.
    pub page_times: bool,
    /// Report accesses and misses by page frame, over all regions.
    #[serde(default, skip_serializing_if = "is_false")]
    pub frames: bool,
    /// Report how often the instruction at each address was executed, by region.
    #[serde(default, skip_serializing_if = "is_false")]
    pub addresses: bool,
    /// Count each repetition of an x86 string instruction, as QEMU executes it;
    /// clearing a page is up to 4096 of them. Otherwise such instructions do not count.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub count_strings: bool,
}

impl Model {
    /// No caches and one node: every access is one to memory. Only regions of interest
    /// count, and in them everything.
    pub fn uncached(memory_latency: u32) -> Self {
        Model {
            levels: Vec::new(),
            memory_side: Vec::new(),
            nodes: Vec::new(),
            distances: Vec::new(),
            memory_latency,
            outside: Outside::Skip,
            seed: 1,
            color_conflicts: false,
            page_times: false,
            frames: false,
            addresses: false,
            count_strings: true,
        }
    }
}

fn yes() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_true(value: &bool) -> bool {
    *value
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// One cache level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// As in reports: `L1`, `L2`.
    pub name: String,
    /// All of it; sets = size / (ways × line), any number.
    pub size: Bytes,
    /// Associativity.
    pub ways: u32,
    /// Line size, a power of two.
    pub line: Bytes,
    /// Which line is replaced.
    pub replacement: Replacement,
    /// One per CPU or one for all.
    pub scope: Scope,
    /// Cycles of a hit.
    pub latency: u32,
}

impl Level {
    /// One of each CPU, with lines of 64 bytes.
    pub fn private(
        name: &str,
        size: Bytes,
        ways: u32,
        replacement: Replacement,
        latency: u32,
    ) -> Self {
        Level {
            name: name.into(),
            size,
            ways,
            line: Bytes(64),
            replacement,
            scope: Scope::Private,
            latency,
        }
    }
}

/// Which line of a set is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replacement {
    /// The least recently used.
    Lru,
    /// By a binary tree of bits; ways are a power of two.
    TreePlru,
    /// Any, by the model's seed.
    Random,
    /// The first of the oldest, by ages of two bits: `lab/model/cache.h`.
    Qlru,
}

/// How many of a level there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// One per CPU.
    Private,
    /// One for all CPUs.
    Shared,
}

/// A cache between the last level and part of memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemorySideCache {
    /// Size of the cache.
    pub size: Bytes,
    /// 1: direct-mapped.
    pub ways: u32,
    /// Line size, a power of two.
    pub line: Bytes,
    /// Which memory it caches.
    pub backing: Backing,
    /// Time to find a line: 64 bytes / hit bandwidth, as a rate, in picoseconds per
    /// line, for modelled bandwidth.
    pub hit_picoseconds: u64,
    /// The same for a line that it has to fetch.
    pub miss_picoseconds: u64,
    /// Cycles of a hit, for modelled latency. A miss takes the latency of the distance.
    pub latency: u32,
}

/// The memory behind a memory-side cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backing {
    /// All memory.
    All,
    /// One node's.
    Node(u32),
    /// Physical addresses `[start, end)`.
    Range {
        /// First byte.
        start: u64,
        /// First byte behind it.
        end: u64,
    },
}

/// Memory and CPUs of a NUMA node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Physical address ranges `[start, end)`.
    pub memory: Vec<(u64, u64)>,
    /// CPU numbers.
    pub cpus: Vec<u32>,
}

/// What happens to accesses outside regions of interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outside {
    /// They go through the caches but are not counted.
    Model,
    /// They are ignored, which is faster: warm up inside a region.
    Skip,
}
