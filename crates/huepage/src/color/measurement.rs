// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options and results of measuring colors, the same on every architecture.

use std::time::Duration;

use super::Color;
#[cfg(feature = "serde")]
use super::palette::PaletteOptions;
use crate::topology::CacheGeometry;

/// The most ways of an L1 data cache in the field (Intel since Sunny Cove, AMD
/// since Zen 5).
#[cfg_attr(not(all(target_arch = "x86_64", feature = "measure")), allow(dead_code))]
pub(super) const L1_WAYS: usize = 12;

/// How to measure. Begin with [`MeasureOptions::new`]: features add fields.
#[derive(Clone, Debug)]
pub struct MeasureOptions {
    /// The CPU whose cache to measure.
    pub cpu: u32,
    /// The cache's declared geometry; `None` counts colors without a
    /// preconceived number.
    pub geometry: Option<CacheGeometry>,
    /// Seed of every random choice; samples of real time differ all the same.
    pub seed: u64,
    /// Attempts before giving up.
    pub attempts: u32,
    /// Time after which no further attempt begins.
    pub time_limit: Duration,
    /// The palette that [`choose`](super::choose) measures by; `None`: it discovers.
    #[cfg(feature = "serde")]
    pub palette: Option<PaletteOptions>,
}

impl MeasureOptions {
    /// The defaults for a CPU: a seed from the system, at most 60 attempts, none begun
    /// after half a minute. Neighbors that fill a cache for ten seconds have been seen;
    /// attempts that cannot succeed end sooner (see
    /// [`Evidence::is_unanimous`](super::Evidence::is_unanimous)).
    pub fn new(cpu: u32, geometry: Option<CacheGeometry>) -> Self {
        MeasureOptions {
            cpu,
            geometry,
            seed: crate::seed(),
            attempts: 60,
            time_limit: Duration::from_secs(30),
            #[cfg(feature = "serde")]
            palette: None,
        }
    }
}

/// What [`MeasuredOracle::survey`](super::MeasuredOracle::survey) found out about some pages.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// The color of each page.
    pub colors: Vec<Option<Color>>,
    /// Share of all pages to which an independent run gave the color in `colors`:
    /// by sets of its own, at line offsets that neither run discovered with.
    pub agreement: f64,
    /// Time for telling the colors.
    pub assign: Duration,
    /// Time for telling them again by the other run, and comparing.
    pub verify: Duration,
}

/// Facts about a cache that a discovery found and that other processes need to use its
/// sets.
#[cfg(feature = "serde")]
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct DiscoveryFacts {
    /// Associativity, declared or assumed.
    pub ways: u32,
    /// XOR masks between lines that can meet in one set.
    pub masks: Vec<u8>,
    /// Lines that discovery read.
    pub lines: Vec<u8>,
}

/// What a look at reference pages found.
#[cfg(feature = "serde")]
#[cfg_attr(not(all(target_arch = "x86_64", feature = "measure")), allow(dead_code))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// They have their recorded colors.
    Holds,
    /// Most have; so many showed another color, twice.
    Moved(usize),
    /// They do not evict each other as recorded.
    Stale,
    /// Hits and misses take the same time now, so nothing can be checked.
    Unclear,
}
