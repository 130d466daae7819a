// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many pages each step takes, for a cache of so many colors and ways.

use crate::color::measurement::L1_WAYS;

/// The shape of the cache for which discovery computes its figures. They are for shapes
/// that [`limits::check`](super::limits::check) accepts: those of others may exceed 32
/// bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Colors expected from the declared geometry, if any.
    pub colors: Option<u32>,
    /// Associativity, declared or assumed.
    pub ways: u32,
}

/// Colors assumed where none are declared: enough for every private cache in
/// the field; more only cost time.
const ASSUMED_COLORS: u32 = 32;
/// Pages per color to find colors with: enough for a full set even if chance gives few
/// of a color.
const TARGETS_PER_COLOR: usize = 56;
/// Targets per batch at most.
const BATCH: usize = 64;
/// Pages beyond those wanted: another draw in another run, and more to judge by.
const SPARE: usize = 1024;
/// Passes over small sets: cheap, and needed where replacement is not LRU.
pub(super) const SMALL_SET_PASSES: u32 = 6;

impl Shape {
    /// The ways that matter: fewer pages than L1 has ways stay in L1, and their reads
    /// never reach the cache behind it.
    pub fn ways_to_fill(self) -> usize {
        (self.ways as usize).max(L1_WAYS)
    }

    /// Pages per color set: enough to evict under every replacement policy
    /// seen (an Intel L2 needs twice its ways for two passes to be sure).
    pub fn set_size(self) -> usize {
        (5 * self.ways_to_fill()).div_ceil(2)
    }

    /// The fewest pages that make a set.
    pub fn least(self) -> usize {
        self.ways_to_fill() + 2
    }

    /// Targets per batch where `colors` colors are mixed: so few that those of
    /// one color do not evict each other.
    pub fn batch(self, colors: usize) -> usize {
        (colors * self.ways as usize / 4).clamp(1, BATCH)
    }

    /// Targets per batch where all colors are mixed.
    pub fn batch_all(self) -> usize {
        self.batch(self.colors_assumed() as usize)
    }

    /// Pages that fill every set of a plainly indexed cache.
    pub fn full(self) -> usize {
        self.colors_assumed() as usize * self.ways as usize
    }

    /// Colors declared, or assumed where none are.
    pub fn colors_assumed(self) -> u32 {
        self.colors.unwrap_or(ASSUMED_COLORS)
    }

    /// Pages to find colors with.
    pub fn targets(self) -> usize {
        self.colors_assumed() as usize * TARGETS_PER_COLOR
    }

    /// Pages that discovery wants in all: targets, and others for crowds.
    pub fn pages(self) -> usize {
        self.targets() + 8 * self.full()
    }

    /// Pages to give to both runs.
    pub fn arena(self) -> usize {
        self.pages() + SPARE
    }

    /// Whether `colors` are all that the declared geometry has.
    pub fn is_complete(self, colors: usize) -> bool {
        self.colors.is_some_and(|expected| colors >= expected as usize)
    }
}
