// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages of known color, found by an earlier discovery: whether they still have
//! these colors, and the colors of other pages by them.

use std::time::{Duration, Instant};

use super::{
    assign::{assign, least_effort, sweep_once},
    calibrate::{Gauge, LEAST_CONTRAST},
    canary::Canary,
    discovery_run::BASES,
    lines::Masks,
    prober::{PageId, Prober},
    shape::Shape,
    tester::Tester,
};
use crate::color::{
    Color, Pressure,
    measurement::{Check, DiscoveryFacts},
};

/// Pages of each color that are checked at a time. With 32 colors they make two batches
/// of 64, with two of each color in a batch.
const SAMPLE: usize = 4;
/// Times that pages which did not answer as expected are tested again.
const ASKED_AGAIN: usize = 4;
/// Share of the checked pages that may show no color: noise causes that.
const MOST_SILENT: f64 = 0.05;

/// Reference pages and what is needed to use them.
#[derive(Debug)]
pub(in crate::color) struct Reference<P> {
    pub(super) tester: Tester<P>,
    sets: Vec<Vec<PageId>>,
    shape: Shape,
    masks: Masks,
    /// Lines to choose from: one of each group that discovery did not read.
    bases: Vec<u8>,
    /// Made when first asked for.
    canary: Option<Canary>,
}

impl<P: Prober> Reference<P> {
    /// Takes the pages of each color, of which none may be empty.
    pub fn new(
        prober: P,
        mut sets: Vec<Vec<PageId>>,
        known: &DiscoveryFacts,
        mut rng: fastrand::Rng,
    ) -> Self {
        let shape = Shape { colors: Some(sets.len() as u32), ways: known.ways };
        let masks = Masks::generated_by(known.masks.iter().copied());
        let all = masks.representatives();
        let unused = || all.iter().filter(|line| !known.lines.contains(line)).copied();
        // Where every line can meet every other there is but one to read.
        let bases = if unused().next().is_some() { unused().collect() } else { all };
        sets.iter_mut().for_each(|set| rng.shuffle(set));
        let gauge = gauge(&sets, shape);
        let lines = drawn(&bases, &mut rng);
        let tester = Tester::new(prober, gauge, &masks, &lines, rng);
        Reference { tester, sets, shape, masks, bases, canary: None }
    }

    /// Checks some pages of each color, other ones each time: whether the remaining
    /// pages of their color evict them, at lines that discovery did not read.
    pub fn check(&mut self) -> Check {
        self.turn();
        if self.tester.contrast() < LEAST_CONTRAST {
            return Check::Unclear;
        }
        let found = self.look(sample_size(&self.sets));
        let silent = found.iter().filter(|look| look.told.is_none()).count();
        let held = found.iter().filter(|look| look.told == Some(look.is_said)).count();
        let moved = found.len() - silent - held;
        let asked = found.len() as f64;
        if (silent + moved) as f64 > 0.5 * asked {
            Check::Stale
        } else if moved > 0 {
            Check::Moved(moved)
        } else if silent as f64 > MOST_SILENT * asked {
            Check::Stale
        } else {
            Check::Holds
        }
    }

    /// Finds the color of every reference page by the others, pages in question first:
    /// pairs of a page and its color, `None` for pages that answer like no color.
    pub fn examine(&mut self) -> Vec<(PageId, Option<Color>)> {
        let most = self.sets.iter().map(Vec::len).max().unwrap_or(0);
        let step = sample_size(&self.sets);
        let mut told = Vec::new();
        for _ in 0..most.div_ceil(step) {
            told.extend(self.look(step).into_iter().map(|look| (look.page, look.told)));
            self.sets.iter_mut().for_each(|set| {
                let by = step.min(set.len());
                set.rotate_right(by);
            });
        }
        told.sort_unstable();
        told.dedup_by_key(|(page, _)| *page);
        told
    }

    /// The color of each page.
    pub fn assign(&mut self, pages: &[PageId]) -> Vec<Option<Color>> {
        assign(&mut self.tester, pages, &self.sets, self.shape)
    }

    /// What others evict within `wait`.
    pub fn pressure(&mut self, wait: Duration) -> Pressure {
        let (tester, sets, shape) = (&mut self.tester, &self.sets, self.shape);
        let canary = self.canary.get_or_insert_with(|| Canary::new(tester, sets, shape));
        canary.renew(Instant::now(), 1.0, tester, sets, shape);
        canary.look(tester, wait, 1.0)
    }

    /// Takes other lines, and other pages to check and to calibrate with.
    fn turn(&mut self) {
        let rng = &mut self.tester.rng;
        self.sets.iter_mut().for_each(|set| rng.shuffle(set));
        let lines = drawn(&self.bases, rng);
        self.tester.regauge(gauge(&self.sets, self.shape));
        self.tester.take_lines(&self.masks, &lines);
    }

    /// Looks at the last `count` pages of each set, by means of the others.
    fn look(&mut self, count: usize) -> Vec<Look> {
        let mut looks = sample(&self.sets, count);
        let rest: Vec<Vec<PageId>> =
            self.sets.iter().map(|set| set[..set.len().saturating_sub(count)].to_vec()).collect();
        let effort = least_effort(&mut self.tester, &rest, self.shape);
        let batch = self.shape.batch(rest.len());
        for _ in 0..=ASKED_AGAIN {
            let open: Vec<usize> = (0..looks.len()).filter(|&i| looks[i].is_open()).collect();
            if open.is_empty() {
                break;
            }
            let pages: Vec<PageId> = open.iter().map(|&i| looks[i].page).collect();
            let told = sweep_once(&mut self.tester, &pages, &rest, batch, effort);
            for (i, told) in open.into_iter().zip(told) {
                looks[i].note(told);
            }
        }
        // A page that showed another color only once counts as having shown none.
        looks.iter_mut().filter(|look| look.is_open()).for_each(|look| look.told = None);
        looks
    }
}

/// A reference page looked at.
#[derive(Clone, Copy, Debug)]
struct Look {
    page: PageId,
    is_said: Color,
    told: Option<Color>,
    /// Whether it showed another color than the recorded one twice.
    sure: bool,
}

impl Look {
    fn is_open(&self) -> bool {
        self.told != Some(self.is_said) && !self.sure
    }

    fn note(&mut self, told: Option<Color>) {
        if told.is_some() {
            self.sure = self.told == told;
            self.told = told;
        }
    }
}

/// The last `count` pages of each set, one of each color after the other, so that
/// a batch holds few of one color.
fn sample(sets: &[Vec<PageId>], count: usize) -> Vec<Look> {
    let of = move |i: usize, color: u32, set: &Vec<PageId>| {
        let page = *set.get(set.len().checked_sub(1 + i)?)?;
        Some(Look { page, is_said: Color(color), told: None, sure: false })
    };
    (0..count)
        .flat_map(|i| (0..).zip(sets).filter_map(move |(color, set)| of(i, color, set)))
        .collect()
}

/// Pages of each set that are looked at together.
fn sample_size(sets: &[Vec<PageId>]) -> usize {
    let least = sets.iter().map(Vec::len).min().unwrap_or(0);
    SAMPLE.min(least / 4).max(1)
}

fn gauge(sets: &[Vec<PageId>], shape: Shape) -> Gauge {
    let count = sample_size(sets);
    let targets: Vec<PageId> = sample(sets, count).iter().map(|look| look.page).collect();
    let rest = |i: usize| {
        sets.iter().filter_map(move |set| set[..set.len().saturating_sub(count)].get(i).copied())
    };
    let flush: Vec<PageId> =
        (0..sets.iter().map(Vec::len).max().unwrap_or(0)).flat_map(rest).collect();
    Gauge::known(targets, flush, shape)
}

fn drawn(bases: &[u8], rng: &mut fastrand::Rng) -> Vec<u8> {
    rng.choose_multiple(bases.iter().copied(), BASES.min((bases.len() / 2).max(1)))
}

#[cfg(test)]
mod tests {
    use super::{
        super::simulated::{CacheModel, Replacement, Simulated},
        *,
    };

    const PER_COLOR: usize = 28;

    fn machine() -> CacheModel {
        CacheModel::new(2 << 20, 16)
    }

    /// A machine with `spare` more pages, and true sets as a palette has them.
    fn sorted(machine: CacheModel, spare: usize) -> (Simulated, Vec<Vec<PageId>>, Vec<PageId>) {
        let count = 3 * PER_COLOR * machine.colors() as usize + spare;
        let (prober, sets, others) = Simulated::sorted(machine, count, PER_COLOR, 81);
        assert!(sets.iter().all(|set| set.len() == PER_COLOR));
        (prober, sets, others)
    }

    fn reference(prober: Simulated, sets: Vec<Vec<PageId>>) -> Reference<Simulated> {
        let known = DiscoveryFacts {
            ways: prober.machine.ways as u32,
            masks: vec![0],
            lines: (0..12).collect(),
        };
        Reference::new(prober, sets, &known, fastrand::Rng::with_seed(82))
    }

    fn noisy() -> CacheModel {
        CacheModel {
            replacement: Replacement::Qlru,
            latency: (10, 20, 90),
            jitter: 14.0,
            interrupts: 500,
            intrusions: 200,
            ..machine()
        }
    }

    #[test]
    fn pages_that_kept_their_colors_hold_on_every_machine() {
        let policies = [Replacement::Lru, Replacement::TreePlru, Replacement::Random];
        let policies = policies.map(|replacement| CacheModel { replacement, ..machine() });
        let few = [CacheModel::new(512 << 10, 8), CacheModel::new(1 << 20, 16)];
        for machine in policies.into_iter().chain(few).chain([noisy()]) {
            let label = format!("{machine:?}");
            let (prober, sets, others) = sorted(machine, 0);
            let mut reference = reference(prober, sets);
            for _ in 0..3 {
                assert_eq!(reference.check(), Check::Holds, "{label}");
            }
            let told = reference.assign(&others);
            let right = others.iter().zip(&told).filter(|(page, told)| {
                **told == Some(Color(reference.tester.prober.color(**page)))
            });
            assert!(right.count() >= others.len() - others.len() / 500, "{label}");
        }
    }

    #[test]
    fn lines_that_discovery_read_are_not_read() {
        let (prober, sets, _) = sorted(machine(), 0);
        let mut reference = reference(prober, sets);
        assert_eq!(reference.bases, (12..64).collect::<Vec<u8>>());
        reference.check();
    }

    /// A page that moved is found as soon as it is checked, and named.
    #[test]
    fn a_page_that_moved_is_found_and_told_its_color() {
        for machine in [machine(), noisy()] {
            let (prober, mut sets, others) = sorted(machine, 0);
            let stranger = *others.iter().find(|page| prober.color(**page) == 9).unwrap();
            sets[4][11] = stranger;
            let mut reference = reference(prober, sets);
            let looks = (1..100).find(|_| reference.check() == Check::Moved(1));
            // A check covers one page in seven: 50 without the moved page happen once
            // in 2,000 times.
            assert!(looks.is_some_and(|looks| looks < 50), "{looks:?}");
            for (page, told) in reference.examine() {
                assert_eq!(told, Some(Color(reference.tester.prober.color(page))), "{page:?}");
            }
        }
    }

    #[test]
    fn pages_of_other_colors_than_said_are_stale() {
        let (prober, mut sets, others) = sorted(machine(), 0);
        for (set, others) in sets.iter_mut().zip(others.chunks(PER_COLOR)) {
            set.copy_from_slice(others);
        }
        assert_eq!(reference(prober, sets).check(), Check::Stale);
    }

    /// All pages are in true sets, but under other colors than recorded: the sets are
    /// not stale, and yet no page has its recorded color.
    #[test]
    fn names_exchanged_are_moved_pages() {
        let (prober, mut sets, _) = sorted(machine(), 0);
        let (mut a, mut b) = (sets[1].split_off(14), sets[2].split_off(14));
        sets[1].append(&mut b);
        sets[2].append(&mut a);
        let check = reference(prober, sets).check();
        assert!(matches!(check, Check::Moved(_) | Check::Stale), "{check:?}");
    }

    #[test]
    fn where_hits_and_misses_are_alike_nothing_is_clear() {
        let flat = CacheModel { latency: (20, 20, 20), ..machine() };
        let (prober, sets, _) = sorted(flat, 0);
        assert_eq!(reference(prober, sets).check(), Check::Unclear);
    }

    #[test]
    fn every_page_is_examined_once() {
        let (prober, sets, _) = sorted(machine(), 0);
        let mut all: Vec<PageId> = sets.iter().flatten().copied().collect();
        all.sort_unstable();
        let examined = reference(prober, sets).examine();
        assert_eq!(examined.iter().map(|(page, _)| *page).collect::<Vec<_>>(), all);
        assert!(examined.iter().all(|(_, told)| told.is_some()));
    }

    #[test]
    fn the_fewest_pages_that_a_color_may_have_do() {
        let (prober, mut sets, others) = sorted(machine(), 0);
        sets.iter_mut().for_each(|set| set.truncate(21));
        let mut reference = reference(prober, sets);
        assert_eq!(reference.check(), Check::Holds);
        let told = reference.assign(&others[..500]);
        assert!(told.iter().flatten().count() >= 499);
    }
}
