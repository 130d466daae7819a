// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tells the color of many pages at once, given a set per color.

use std::collections::HashMap;

use super::{
    code::{Answers, Code, ENOUGH, MOST_WORDS, QUESTIONS},
    prober::{PageId, Prober},
    shape::{SMALL_SET_PASSES, Shape},
    tester::Tester,
};
use crate::color::Color;

/// How many pages of a set to read, how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effort {
    pages: usize,
    passes: u32,
}

/// Share of pages that the set of their color must evict: of sixteen answers
/// two may be wrong.
const SURE: f64 = 0.97;
/// Sweeps over pages not yet assigned.
const SWEEPS: usize = 5;
/// Sweeps by the least effort.
const LIGHT_SWEEPS: usize = 2;

/// The least reading that evicts a color's own pages nearly always.
///
/// Pages of each set that are not read are asked about halves of all colors, as
/// in a sweep: in larger batches, and with more sets read together, a page is
/// not evicted as surely as by one set alone.
pub(super) fn least_effort<P: Prober>(
    tester: &mut Tester<P>,
    sets: &[Vec<PageId>],
    shape: Shape,
) -> Effort {
    let ways = shape.ways_to_fill();
    let levels = [(ways + ways / 2, 1), (ways + ways / 2, 2), (2 * ways, 2), (2 * ways, 4)];
    let batch = shape.batch(sets.len());
    for (pages, passes) in levels {
        let effort = Effort { pages, passes };
        let (mut evicted, mut asked) = (0, 0);
        // One page of each color after the other, so that a batch is of all.
        let held: Vec<(usize, PageId)> = (pages..shape.set_size())
            .flat_map(|i| {
                (0..).zip(sets).filter_map(move |(color, set)| Some((color, *set.get(i)?)))
            })
            .collect();
        let targets: Vec<PageId> = held.iter().map(|&(_, page)| page).collect();
        for half in 0..2 {
            let set = effort.pages_of(sets.iter().skip(half).step_by(2));
            let votes = tester.votes(&targets, batch, &set, passes);
            let read = held.iter().zip(votes).filter(|((color, _), _)| color % 2 == half);
            for vote in read.filter_map(|(_, vote)| vote) {
                evicted += u32::from(vote);
                asked += 1;
            }
        }
        if asked >= 32 && f64::from(evicted) >= SURE * f64::from(asked) {
            return effort;
        }
    }
    Effort::most(shape)
}

impl Effort {
    fn most(shape: Shape) -> Self {
        Effort { pages: shape.set_size(), passes: SMALL_SET_PASSES }
    }

    /// What to read of some sets.
    fn pages_of<'a>(self, sets: impl Iterator<Item = &'a Vec<PageId>>) -> Vec<PageId> {
        sets.flat_map(|set| set.iter().take(self.pages).copied()).collect()
    }
}

/// Assigns a color to each page: the one whose set evicts it again and again,
/// while those of the others do not. `None` for pages that answer unlike any
/// color.
pub(super) fn assign<P: Prober>(
    tester: &mut Tester<P>,
    pages: &[PageId],
    sets: &[Vec<PageId>],
    shape: Shape,
) -> Vec<Option<Color>> {
    let effort = least_effort(tester, sets, shape);
    let mut colors = vec![None; pages.len()];
    let mut before = usize::MAX;
    for sweep in 0..SWEEPS {
        let open: Vec<usize> = (0..pages.len()).filter(|&i| colors[i].is_none()).collect();
        if open.is_empty() {
            break;
        }
        let effort = if sweep < LIGHT_SWEEPS { effort } else { Effort::most(shape) };
        // Where many pages are left over, they may be of few colors and evict
        // each other: then so few at a time that they cannot.
        let alone = sweep >= LIGHT_SWEEPS || open.len() > before / 8;
        let batch = shape.batch(if alone { 1 } else { sets.len() });
        before = open.len();
        let targets: Vec<PageId> = open.iter().map(|&i| pages[i]).collect();
        let found = sweep_once(tester, &targets, sets, batch, effort);
        for (&i, color) in open.iter().zip(found) {
            colors[i] = color;
        }
    }
    colors
}

/// One sweep of all sets over `pages`, timing `batch` of them at once.
pub(super) fn sweep_once<P: Prober>(
    tester: &mut Tester<P>,
    pages: &[PageId],
    sets: &[Vec<PageId>],
    batch: usize,
    effort: Effort,
) -> Vec<Option<Color>> {
    // A page that is read with a set cannot be evicted by it: its color is known.
    let members = members(sets);
    let mut colors: Vec<Option<Color>> =
        pages.iter().map(|page| members.get(page).copied()).collect();
    // In random order: neighbors in ascending order wake the prefetchers.
    let mut open: Vec<usize> = (0..pages.len()).filter(|&i| colors[i].is_none()).collect();
    tester.rng.shuffle(&mut open);
    let mut first = 0;
    for part in parts(sets) {
        let targets: Vec<PageId> = open.iter().map(|&i| pages[i]).collect();
        for (&i, told) in open.iter().zip(tell(tester, &targets, part, batch, effort)) {
            colors[i] = told.map(|color| Color((first + color) as u32));
        }
        open.retain(|&i| colors[i].is_none());
        first += part.len();
    }
    colors
}

/// As few and as even parts as have a code.
fn parts(sets: &[Vec<PageId>]) -> impl Iterator<Item = &[Vec<PageId>]> {
    let count = sets.len().div_ceil(MOST_WORDS).max(1);
    sets.chunks(sets.len().div_ceil(count).max(1))
}

/// Finds for each target which of `sets` evicts it. Between two questions about a page
/// all other pages are asked about, so a noisy moment spoils only one answer of a page.
fn tell<P: Prober>(
    tester: &mut Tester<P>,
    targets: &[PageId],
    sets: &[Vec<PageId>],
    batch: usize,
    effort: Effort,
) -> Vec<Option<usize>> {
    let code = Code::draw(sets.len(), &mut tester.rng);
    let mut answers = vec![Answers::default(); targets.len()];
    let mut open: Vec<usize> = (0..targets.len()).collect();
    for question in 0..QUESTIONS {
        if question == ENOUGH {
            open.retain(|&i| code.decode(answers[i]).is_none());
        }
        if open.is_empty() {
            break;
        }
        tester.recalibrate_next();
        let mut set = effort.pages_of(code.asked(question).map(|color| &sets[color]));
        tester.rng.shuffle(&mut set);
        let asked: Vec<PageId> = open.iter().map(|&i| targets[i]).collect();
        for (&i, vote) in open.iter().zip(tester.votes(&asked, batch, &set, effort.passes)) {
            answers[i].note(question, vote);
        }
    }
    answers.into_iter().map(|answers| code.decode(answers)).collect()
}

/// The color of every page that is in a set.
fn members(sets: &[Vec<PageId>]) -> HashMap<PageId, Color> {
    let colors = (0..).map(Color).zip(sets);
    colors.flat_map(|(color, set)| set.iter().map(move |&page| (page, color))).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        super::simulated::{CacheModel, Simulated},
        *,
    };

    /// A tester, the pages that no set needs, and a true set of each color.
    fn sorted(machine: CacheModel, seed: u64) -> (Tester<Simulated>, Vec<PageId>, Shape, Sets) {
        let shape = Shape { colors: Some(machine.colors()), ways: machine.ways as u32 };
        let (prober, sets, others) =
            Simulated::sorted(machine, shape.pages(), shape.set_size(), seed);
        (prober.tester(shape, seed), others, shape, sets)
    }

    type Sets = Vec<Vec<PageId>>;

    fn truth(tester: &Tester<Simulated>, pages: &[PageId]) -> Vec<Option<Color>> {
        pages.iter().map(|&page| Some(Color(tester.prober.color(page)))).collect()
    }

    #[test]
    fn more_colors_than_a_code_has_words_are_told_apart() {
        let machine = CacheModel::new(1 << 20, 4);
        assert_eq!(machine.colors(), 64);
        let (mut tester, pages, shape, sets) = sorted(machine, 71);
        assert!(pages.len() > 1000);
        let colors = assign(&mut tester, &pages, &sets, shape);
        assert_eq!(colors, truth(&tester, &pages));
    }

    /// In one batch they would all evict each other.
    #[test]
    fn pages_of_one_color_are_told_as_those_of_many() {
        let (mut tester, pages, shape, sets) = sorted(CacheModel::new(512 << 10, 8), 72);
        let of_color = |page: &PageId| tester.prober.color(*page) == 5;
        let pages: Vec<PageId> = pages.into_iter().filter(of_color).collect();
        assert!(pages.len() > 2 * shape.batch_all(), "{}", pages.len());
        let colors = assign(&mut tester, &pages, &sets, shape);
        assert_eq!(colors, truth(&tester, &pages));
    }

    #[test]
    fn a_page_whose_color_has_no_set_is_given_none() {
        let (mut tester, pages, shape, mut sets) = sorted(CacheModel::new(512 << 10, 8), 73);
        sets.pop();
        let colors = assign(&mut tester, &pages, &sets, shape);
        let last = Color(sets.len() as u32);
        let expected = truth(&tester, &pages).into_iter().map(|color| color.filter(|c| *c < last));
        assert_eq!(colors, expected.collect::<Vec<_>>());
    }

    /// Where a set holds two colors, pages of both answer like it; where two sets
    /// If a set holds two colors, pages of both answer like it; if two sets
    #[test]
    fn a_color_with_two_sets_is_given_neither() {
        let (mut tester, pages, shape, mut sets) = sorted(CacheModel::new(512 << 10, 8), 74);
        let half = sets[3].len() / 2;
        let twin = sets[3].split_off(half);
        sets.push(twin);
        let colors = assign(&mut tester, &pages, &sets, shape);
        for (page, color) in pages.iter().zip(colors) {
            let truth = tester.prober.color(*page);
            assert_eq!(color, (truth != 3).then_some(Color(truth)));
        }
    }
}
