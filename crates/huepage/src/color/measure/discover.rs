// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds one clean set of pages per color.

use super::{
    assign::{least_effort, sweep_once},
    prober::{PageId, Prober},
    repair,
    shape::Shape,
    signature::{self, Crowd},
    tester::Tester,
};

/// Rounds of looking for colors among pages that have the color of no set.
const ROUNDS: usize = 3;

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
