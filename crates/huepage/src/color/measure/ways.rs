// SPDX-License-Identifier: MIT OR Apache-2.0
//! The associativity of the cache: how many pages of one color evict another page of
//! it.

use super::{
    prober::{PageId, Prober},
    shape::SMALL_SET_PASSES,
    tester::Tester,
};

/// Pages of other colors read along, more than L1 has ways: a few pages alone
/// would stay there, and the cache behind would not see them.
const FILLERS: usize = 16;
/// Pages of each set that are not read but timed.
const TARGETS: usize = 4;

/// The fewest pages of a color that evict more than half of the others of it.
/// With LRU that is the associativity; with other policies, which spare some
/// lines and drop others early, close to it. Never less than one.
pub(super) fn measured_ways<P: Prober>(tester: &mut Tester<P>, sets: &[Vec<PageId>]) -> u32 {
    let most = sets.iter().map(|set| set.len().saturating_sub(TARGETS)).min().unwrap_or(0);
    // Invariant: low pages do not evict; high pages do, or are all there are.
    let (mut low, mut high) = (0, most.max(1));
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if evicted_share(tester, sets, middle) > 0.5 {
            high = middle;
        } else {
            low = middle;
        }
    }
    high as u32
}

fn evicted_share<P: Prober>(tester: &mut Tester<P>, sets: &[Vec<PageId>], pages: usize) -> f64 {
    let (mut evicted, mut asked) = (0, 0);
    for (color, set) in sets.iter().enumerate() {
        let Some((targets, members)) = set.split_at_checked(TARGETS) else { continue };
        let others = sets.iter().enumerate().filter(|(other, _)| *other != color);
        let mut fillers: Vec<PageId> =
            others.flat_map(|(_, set)| set.iter().copied().take(FILLERS)).collect();
        // Spread over the other colors, so that none of their sets overflows.
        tester.rng.shuffle(&mut fillers);
        fillers.truncate(FILLERS);
        fillers.extend_from_slice(&members[..pages.min(members.len())]);
        // One by one: targets of one color count as pages of it.
        for vote in tester.votes(targets, 1, &fillers, SMALL_SET_PASSES).into_iter().flatten() {
            evicted += u32::from(vote);
            asked += 1;
        }
    }
    f64::from(evicted) / f64::from(asked.max(1))
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            shape::Shape,
            simulated::{CacheModel, Replacement, Simulated},
        },
        *,
    };

    fn ways_of(machine: CacheModel) -> u32 {
        let shape = Shape { colors: Some(machine.colors()), ways: machine.ways as u32 };
        let (prober, sets, _) = Simulated::sorted(machine, shape.pages(), shape.set_size(), 51);
        measured_ways(&mut prober.tester(shape, 52), &sets)
    }

    #[test]
    fn ways_of_an_lru_are_counted_exactly() {
        for (kib, ways) in [(256, 4), (256, 8), (1024, 16), (1280, 20)] {
            assert_eq!(ways_of(CacheModel::new(kib << 10, ways)), ways as u32);
        }
    }

    #[test]
    fn ways_of_other_policies_are_close() {
        for replacement in [Replacement::Qlru, Replacement::TreePlru] {
            let ways = ways_of(CacheModel { replacement, ..CacheModel::new(1 << 20, 16) });
            assert!((14..=19).contains(&ways), "{replacement:?}: {ways}");
        }
    }
}
