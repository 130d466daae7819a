// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tells the color of many pages at once, given a set per color.

use std::collections::HashMap;

use super::{
    discover::{SMALL_SET_PASSES, Shape},
    prober::{PageId, Prober},
    tester::Tester,
};
use crate::color::Color;

/// How many pages of a set to read, how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effort {
    pages: usize,
    passes: u32,
}

/// Share of its own color that a sweep must evict: those missed are asked again
/// in the next sweep.
const SURE: f64 = 0.97;
/// Further votes on a page that was evicted once: that many must agree, of at
/// most that many.
const CONFIRM: (u32, u32) = (2, 4);
/// Sweeps over pages not yet assigned.
const SWEEPS: usize = 5;
/// Sets between calibrations.
const CALIBRATE_EVERY: usize = 4;

/// The least reading that evicts a color's own pages nearly always.
pub(super) fn least_effort<P: Prober>(
    tester: &mut Tester<P>,
    sets: &[Vec<PageId>],
    shape: Shape,
) -> Effort {
    let ways = shape.ways_to_fill();
    let most = Effort { pages: shape.set_size(), passes: SMALL_SET_PASSES };
    let levels = [(ways + ways / 2, 1), (ways + ways / 2, 2), (2 * ways, 2), (2 * ways, 4)];
    for (pages, passes) in levels {
        let (mut evicted, mut asked) = (0, 0);
        for set in sets.iter().filter(|set| set.len() > pages) {
            let (set, members) = set.split_at(pages);
            let votes = tester.votes(members, shape.batch(1), set, passes);
            evicted += votes.iter().filter(|v| **v == Some(true)).count();
            asked += votes.iter().flatten().count();
        }
        if asked >= 32 && evicted as f64 >= SURE * asked as f64 {
            return Effort { pages, passes };
        }
    }
    most
}

/// Assigns a color to each page: the one whose set evicts it again and again.
/// `None` for pages that no set evicts reliably.
pub(super) fn assign<P: Prober>(
    tester: &mut Tester<P>,
    pages: &[PageId],
    sets: &[Vec<PageId>],
    shape: Shape,
) -> Vec<Option<Color>> {
    let effort = least_effort(tester, sets, shape);
    let mut colors = vec![None; pages.len()];
    for sweep in 0..SWEEPS {
        let open: Vec<usize> = (0..pages.len()).filter(|&i| colors[i].is_none()).collect();
        if open.is_empty() {
            break;
        }
        let effort = match sweep {
            0 | 1 => effort,
            _ => Effort { pages: shape.set_size(), passes: SMALL_SET_PASSES },
        };
        let targets: Vec<PageId> = open.iter().map(|&i| pages[i]).collect();
        let found = sweep_once(tester, &targets, sets, shape, effort);
        let found = recheck(tester, &targets, found, sets, shape, effort);
        for (&i, color) in open.iter().zip(found) {
            colors[i] = color;
        }
    }
    colors
}

/// Asks each page once more about its color, some milliseconds later: what a
/// noisy moment told three times over is not told again. Who answers no is open
/// again.
fn recheck<P: Prober>(
    tester: &mut Tester<P>,
    pages: &[PageId],
    mut colors: Vec<Option<Color>>,
    sets: &[Vec<PageId>],
    shape: Shape,
    effort: Effort,
) -> Vec<Option<Color>> {
    let members = members(sets);
    for (color, set) in sets.iter().enumerate() {
        let color = Some(Color(color as u32));
        let of_color = |&i: &usize| colors[i] == color && !members.contains_key(&pages[i]);
        let asked: Vec<usize> = (0..pages.len()).filter(of_color).collect();
        let targets: Vec<PageId> = asked.iter().map(|&i| pages[i]).collect();
        let set = &set[..effort.pages.min(set.len())];
        let votes = tester.votes(&targets, shape.batch(1), set, effort.passes);
        for (i, vote) in asked.into_iter().zip(votes) {
            if vote == Some(false) {
                colors[i] = None;
            }
        }
    }
    colors
}

/// One sweep of all sets over `pages`. A page is taken out as soon as it has a
/// color, so the average page meets half of the sets.
pub(super) fn sweep_once<P: Prober>(
    tester: &mut Tester<P>,
    pages: &[PageId],
    sets: &[Vec<PageId>],
    shape: Shape,
    effort: Effort,
) -> Vec<Option<Color>> {
    // A page that is read with a set cannot be evicted by it: its color is known.
    let members = members(sets);
    let mut colors: Vec<Option<Color>> =
        pages.iter().map(|page| members.get(page).copied()).collect();
    // In random order: neighbors in ascending order wake the prefetchers.
    let mut open: Vec<usize> = (0..pages.len()).filter(|&i| colors[i].is_none()).collect();
    tester.rng.shuffle(&mut open);
    for (color, set) in sets.iter().enumerate() {
        if color % CALIBRATE_EVERY == 0 {
            tester.recalibrate();
        }
        let color = Color(color as u32);
        let set = &set[..effort.pages.min(set.len())];
        let batch = shape.batch(sets.len() - color.index());
        let targets: Vec<PageId> = open.iter().map(|&i| pages[i]).collect();
        let votes = tester.votes(&targets, batch, set, effort.passes);
        let suspects: Vec<(PageId, usize)> = open
            .iter()
            .zip(votes)
            .filter(|(_, vote)| *vote == Some(true))
            .map(|(&i, _)| (pages[i], i))
            .collect();
        for i in confirmed(tester, suspects, set, shape, effort.passes) {
            colors[i] = Some(color);
        }
        open.retain(|&i| colors[i].is_none());
    }
    colors
}

/// The color of every page that is in a set.
fn members(sets: &[Vec<PageId>]) -> HashMap<PageId, Color> {
    let colors = (0..).map(Color).zip(sets);
    colors.flat_map(|(color, set)| set.iter().map(move |&page| (page, color))).collect()
}

/// Of pages evicted once, those that are evicted again: a disturbed moment
/// makes a whole batch look evicted, but not twice more.
fn confirmed<P: Prober>(
    tester: &mut Tester<P>,
    mut suspects: Vec<(PageId, usize)>,
    set: &[PageId],
    shape: Shape,
    passes: u32,
) -> Vec<usize> {
    let (need, most) = CONFIRM;
    let mut yes = vec![0; suspects.len()];
    let mut done = Vec::new();
    for asked in 1..=most {
        let targets: Vec<PageId> = suspects.iter().map(|&(page, _)| page).collect();
        let votes = tester.votes(&targets, shape.batch(1), set, passes);
        let mut open = (Vec::new(), Vec::new());
        for ((suspect, count), vote) in suspects.into_iter().zip(yes).zip(votes) {
            let count = count + u32::from(vote == Some(true));
            if count >= need {
                done.push(suspect.1);
            } else if count + (most - asked) >= need {
                open.0.push(suspect);
                open.1.push(count);
            }
        }
        (suspects, yes) = open;
    }
    done
}
