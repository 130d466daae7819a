// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds one clean set of pages per color.

use super::{
    assign::{least_effort, sweep_once},
    calibrate::BATCH,
    prober::{PageId, Prober},
    repair,
    signature::{self, Crowd},
    tester::Tester,
};

/// What discovery goes by. Its figures are for shapes that
/// [`limits::check`](super::limits::check) lets pass: those of others may not
/// fit 32 bits.
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
/// Pages per color to find colors with: a full set even where chance deals
/// out few.
const TARGETS_PER_COLOR: usize = 56;
/// The most ways of an L1 data cache in the field (Intel since Sunny Cove, AMD
/// since Zen 5).
pub(in crate::color) const L1_WAYS: usize = 12;
/// Pages beyond those wanted: another draw in another run, and more to judge by.
const SPARE: usize = 1024;
/// Rounds of looking for colors among pages that no set claims.
const ROUNDS: usize = 3;

impl Shape {
    /// The ways that matter: a set smaller than a set of L1 stays there, and
    /// the cache behind never sees it.
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

    fn is_complete(self, colors: usize) -> bool {
        self.colors.is_some_and(|expected| colors >= expected as usize)
    }
}

/// One set per color found, and what was seen on the way.
#[derive(Clone, Debug, Default)]
pub(super) struct Discovery {
    /// Pages of each color: between [`Shape::least`] and [`Shape::set_size`].
    pub sets: Vec<Vec<PageId>>,
    /// Crowd used; `None` if no crowd evicted half of the pages.
    pub crowd: Option<Crowd>,
    /// Groups given up because half of them did not evict the other half.
    pub impure: usize,
    /// Groups joined because each evicted the other.
    pub joined: usize,
}

/// Passes over small sets: cheap, and needed where replacement is not LRU.
pub(super) const SMALL_SET_PASSES: u32 = 6;

/// Finds the colors that `pages`, in random order, have.
pub(super) fn discover<P: Prober>(
    tester: &mut Tester<P>,
    pages: &[PageId],
    shape: Shape,
) -> Discovery {
    let (targets, pool) = pages.split_at(shape.targets().min(pages.len() / 2));
    let mut found = Discovery::default();
    let few = &targets[..targets.len().min(8 * shape.batch_all())];
    let mut unclaimed = targets.to_vec();
    for _ in 0..ROUNDS {
        // Anew in each round: an unquiet moment gives a wrong size.
        let Some(crowd) = signature::tune(tester, few, pool, shape) else { break };
        found.crowd = Some(crowd);
        let colors_left = (shape.colors_assumed() as usize).saturating_sub(found.sets.len());
        let batch = shape.batch(colors_left.max(1));
        let signatures = signature::collect(tester, &unclaimed, pool, crowd, batch);
        let before = found.sets.len();
        for group in signature::cluster(&signatures, shape.least()) {
            let members: Vec<PageId> =
                group.into_iter().take(shape.set_size()).map(|i| unclaimed[i]).collect();
            match repair::purified(tester, &members, shape) {
                Some(set) => found.sets.push(set),
                None => found.impure += 1,
            }
        }
        found.joined += repair::join(tester, &mut found.sets, shape);
        if shape.is_complete(found.sets.len()) || found.sets.len() <= before {
            break;
        }
        let effort = least_effort(tester, &found.sets, shape);
        let batch = shape.batch(found.sets.len());
        let colors = sweep_once(tester, &unclaimed, &found.sets, batch, effort);
        let mut claimed = colors.iter().map(Option::is_some);
        unclaimed.retain(|_| !claimed.next().unwrap_or(false));
        if unclaimed.len() < shape.least() {
            break;
        }
    }
    found
}
