// SPDX-License-Identifier: MIT OR Apache-2.0
//! Detects groups that mix two colors and colors that fell into two groups.

use super::{
    discover::{SMALL_SET_PASSES, Shape},
    prober::{PageId, Prober},
    tester::Tester,
};

/// The members that the others evict. `None` where these are less than three
/// quarters: a group of two colors has too few of either in a half to evict
/// anything.
pub(super) fn purified<P: Prober>(
    tester: &mut Tester<P>,
    members: &[PageId],
    shape: Shape,
) -> Option<Vec<PageId>> {
    let mut kept = Vec::new();
    // Each member against the half it is not in; where a half is smaller than
    // the associativity, against all but a quarter.
    let parts = if members.len() / 2 > shape.ways as usize + 2 { 2 } else { 4 };
    for part in 0..parts {
        let (inside, outside): (Vec<_>, Vec<_>) =
            members.iter().enumerate().partition(|(i, _)| i % parts == part);
        let pages = |side: Vec<(usize, &PageId)>| -> Vec<PageId> {
            side.into_iter().map(|(_, &page)| page).collect()
        };
        let (evicted, _) =
            tester.split(&pages(inside), shape.batch(1), &pages(outside), SMALL_SET_PASSES, 3, 5);
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
    // Large sets first: what stays is the larger of two.
    sets.sort_by_key(|set| std::cmp::Reverse(set.len()));
    let mut kept: Vec<Vec<PageId>> = Vec::new();
    for set in sets.drain(..) {
        let sample = &set[..SAMPLE.min(set.len())];
        let twin = kept.iter_mut().find(|other| {
            let (evicted, _) = tester.split(sample, shape.batch(1), other, SMALL_SET_PASSES, 2, 3);
            2 * evicted.len() > sample.len()
        });
        match twin {
            Some(twin) => {
                twin.extend(set);
                twin.truncate(shape.set_size());
            }
            None => kept.push(set),
        }
    }
    *sets = kept;
    before - sets.len()
}
