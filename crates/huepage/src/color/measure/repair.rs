// SPDX-License-Identifier: MIT OR Apache-2.0
//! Detects groups that mix two colors and colors that fell into two groups.

use std::collections::{HashSet, VecDeque};

use super::{
    prober::{PageId, Prober},
    shape::{SMALL_SET_PASSES, Shape},
    tester::Tester,
};

/// The members that others of the group evict; `None` if these are less than three
/// quarters, as in a group of two colors.
pub(super) fn purified<P: Prober>(
    tester: &mut Tester<P>,
    members: &[PageId],
    shape: Shape,
) -> Option<Vec<PageId>> {
    // So few of the others that, of two colors mixed evenly, neither has enough to
    // evict a lone target; but more than the ways of L1, since otherwise only the first
    // pass would reach the cache.
    let others = (2 * (shape.ways as usize - 1)).max(shape.ways_to_fill() + 1);
    let parts = if members.len() >= 2 * others { 2 } else { 4 };
    let mut kept = Vec::new();
    for part in 0..parts {
        let side = |inside: bool| {
            let of_side = move |(i, _): &(usize, PageId)| (i % parts == part) == inside;
            members.iter().copied().enumerate().filter(of_side).map(|(_, page)| page)
        };
        let targets: Vec<PageId> = side(true).collect();
        let set: Vec<PageId> = side(false).take(others).collect();
        let evicted = tester.evicted(&targets, shape.batch(1), &set, SMALL_SET_PASSES, 3, 5);
        kept.extend(evicted);
    }
    (kept.len() * 4 >= members.len() * 3 && kept.len() >= shape.least()).then_some(kept)
}

/// Members of a set tested against other sets.
const SAMPLE: usize = 8;

/// Joins sets that evict each other's members. Returns how many were joined.
pub(super) fn join<P: Prober>(
    tester: &mut Tester<P>,
    sets: &mut Vec<Vec<PageId>>,
    shape: Shape,
) -> usize {
    let before = sets.len();
    // Large sets first, so that the larger of two is kept.
    sets.sort_by_key(|set| std::cmp::Reverse(set.len()));
    let mut kept: Vec<Vec<PageId>> = Vec::new();
    let mut left: VecDeque<Vec<PageId>> = sets.drain(..).collect();
    while let Some(mut set) = left.pop_front() {
        // One page of each of the others, then a second one: pages of one color
        // are far enough from each other that a batch holds few of them.
        let sample: Vec<PageId> = (0..SAMPLE)
            .flat_map(|i| left.iter().filter_map(move |other| other.get(i)))
            .copied()
            .collect();
        let batch = shape.batch(left.len().max(1));
        let evicted: HashSet<PageId> =
            tester.evicted(&sample, batch, &set, SMALL_SET_PASSES, 2, 3).into_iter().collect();
        left.retain_mut(|other| {
            let sample = &other[..SAMPLE.min(other.len())];
            let is_twin =
                2 * sample.iter().filter(|page| evicted.contains(page)).count() > sample.len();
            if is_twin {
                set.append(other);
            }
            !is_twin
        });
        set.truncate(shape.set_size());
        kept.push(set);
    }
    *sets = kept;
    before - sets.len()
}

#[cfg(test)]
mod tests {
    use super::{
        super::simulated::{CacheModel, Simulated},
        *,
    };

    const SHAPE: Shape = Shape { colors: Some(8), ways: 8 };

    /// A tester, and the pages of each true color.
    fn sorted_pages(seed: u64) -> (Tester<Simulated>, Vec<Vec<PageId>>) {
        let machine = CacheModel::new(256 << 10, 8);
        let (prober, colors, _) = Simulated::sorted(machine, 1200, usize::MAX, seed);
        (prober.tester(SHAPE, seed), colors)
    }

    #[test]
    fn a_pure_group_is_kept_and_a_stranger_dropped() {
        let (mut tester, colors) = sorted_pages(41);
        let mut group = colors[0][..20].to_vec();
        group[7] = colors[1][0];
        let kept = purified(&mut tester, &group, SHAPE).unwrap();
        assert!(kept.len() >= 18 && !kept.contains(&colors[1][0]), "{kept:?}");
    }

    #[test]
    fn a_group_of_two_colors_is_refused() {
        let (mut tester, colors) = sorted_pages(42);
        let mixed: Vec<PageId> = colors[2][..10].iter().chain(&colors[3][..10]).copied().collect();
        assert_eq!(purified(&mut tester, &mixed, SHAPE), None);
    }

    #[test]
    fn a_color_in_two_groups_is_joined_and_unlike_colors_are_not() {
        let (mut tester, colors) = sorted_pages(43);
        let mut sets =
            vec![colors[4][..20].to_vec(), colors[5][..20].to_vec(), colors[4][20..35].to_vec()];
        assert_eq!(join(&mut tester, &mut sets, SHAPE), 1);
        assert_eq!(sets.len(), 2);
        for (set, color) in sets.iter().zip([4, 5]) {
            assert!(set.iter().all(|page| colors[color].contains(page)));
        }
    }
}
