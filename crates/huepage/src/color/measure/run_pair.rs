// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two independent discoveries on the same pages, and whether to believe them.

use std::time::{Duration, Instant};

use super::{
    calibrate::LEAST_CONTRAST,
    discovery_run::{DiscoveryRun, Lines},
    prober::{PageId, Prober},
    shape::Shape,
};
use crate::color::{Attempt, Color, Distrust, agreement::agreement};

/// Pages to judge by.
const JUDGED: usize = 2048;
/// Share of judged pages that may stay unassigned.
const MOST_UNASSIGNED: f64 = 0.02;
/// Agreement between two runs below which neither is believed.
const LEAST_AGREEMENT: f64 = 0.98;

/// Two runs of discovery, independent of each other, at other lines.
#[derive(Debug)]
pub(super) struct RunPair<P> {
    lines: Lines,
    pub first: DiscoveryRun<P>,
    pub second: DiscoveryRun<P>,
    /// Time for finding the first.
    pub discover: Duration,
    /// Time for finding the second and for comparing.
    pub verify: Duration,
}

impl<P: Prober + Clone> RunPair<P> {
    /// Discovers twice with `pages`.
    pub fn new(
        mut prober: P,
        mut pages: Vec<PageId>,
        shape: Shape,
        rng: &mut fastrand::Rng,
    ) -> Self {
        let begin = Instant::now();
        rng.shuffle(&mut pages);
        let lines = Lines::find(&mut prober, &pages, shape, rng);
        let mut run = |prober: P, bases: &[u8]| {
            DiscoveryRun::discover(prober, &pages, shape, &lines.masks, bases, rng.fork())
        };
        let first = run(prober.clone(), &lines.first);
        let discover = begin.elapsed();
        let second = run(prober, &lines.second);
        RunPair { lines, first, second, discover, verify: begin.elapsed() - discover }
    }

    /// The masks, and all lines that either run read to find its sets.
    #[cfg(feature = "serde")]
    pub fn lines_read(&self) -> (Vec<u8>, Vec<u8>) {
        let Lines { masks, first, second, .. } = &self.lines;
        (masks.iter().collect(), masks.lines_of(first.iter().chain(second)).collect())
    }

    /// What was seen, and the reason not to believe it if there is one. `pages`
    /// are those that the runs may be compared on.
    pub fn judge(&mut self, pages: &[PageId], rng: &mut fastrand::Rng) -> Attempt {
        let begin = Instant::now();
        let expected = self.first.shape.colors;
        let runs = [&self.first, &self.second];
        let sum = |of: fn(&DiscoveryRun<P>) -> u64| runs.map(of).iter().sum::<u64>();
        let samples = sum(|run| run.tester.samples).max(1);
        let mut attempt = Attempt {
            contrast: runs.map(|run| run.tester.contrast()).into_iter().fold(1.0, f64::min),
            line_masks: self.lines.masks.len(),
            expected_colors: expected,
            colors: (self.first.colors(), self.second.colors()),
            mixed: sum(|run| run.found.impure as u64) as usize,
            joined: sum(|run| run.found.joined as u64) as usize,
            disturbed: sum(|run| run.tester.disturbed) as f64 / samples as f64,
            unassigned: 1.0,
            agreement: 0.0,
            distrust: None,
        };
        let (first, second) = attempt.colors;
        attempt.distrust = if attempt.contrast < LEAST_CONTRAST {
            Some(Distrust::NoContrast)
        } else if first < 2 || second < 2 {
            Some(Distrust::NoColors)
        } else if expected.is_some_and(|expected| first != expected as usize) {
            Some(Distrust::ColorCount)
        } else if first != second {
            Some(Distrust::RunsDiffer)
        } else {
            let judged = rng.choose_multiple(pages.iter().copied(), JUDGED);
            let a = held_out(&mut self.first, &self.lines, &judged);
            let b = held_out(&mut self.second, &self.lines, &judged);
            let unassigned = a.iter().filter(|color| color.is_none()).count();
            attempt.unassigned = unassigned as f64 / a.len().max(1) as f64;
            attempt.agreement = agreement(&a, &b).among_all;
            if attempt.unassigned > MOST_UNASSIGNED {
                Some(Distrust::Unassigned)
            } else {
                (attempt.agreement < LEAST_AGREEMENT).then_some(Distrust::Disagreement)
            }
        };
        self.verify += begin.elapsed();
        attempt
    }

    /// The share of `pages` to which the second run gives the color that `colors`
    /// gives. The second run uses all of its own sets and does not know `colors`, at
    /// lines that neither run discovered with and that `colors` was not made with.
    pub fn check(&mut self, pages: &[PageId], colors: &[Option<Color>]) -> f64 {
        let again = held_out(&mut self.second, &self.lines, pages);
        agreement(colors, &again).among_all
    }
}

/// A run's colors of the pages, at lines that neither run discovered with.
fn held_out<P: Prober>(
    run: &mut DiscoveryRun<P>,
    lines: &Lines,
    pages: &[PageId],
) -> Vec<Option<Color>> {
    let own = run.tester.take_lines(&lines.masks, &lines.held_out);
    let colors = run.assign(pages);
    run.tester.give_back(own);
    colors
}

#[cfg(test)]
mod tests {
    use super::{
        super::simulated::{CacheModel, Simulated},
        *,
    };

    fn runs(
        machine: CacheModel,
        shape: Shape,
        seed: u64,
    ) -> (RunPair<Simulated>, Vec<PageId>, fastrand::Rng) {
        let count = shape.pages() + 500;
        let prober = Simulated::new(machine, count, seed);
        let pages: Vec<PageId> = (0..count as u32).map(PageId).collect();
        let mut rng = fastrand::Rng::with_seed(seed);
        (RunPair::new(prober, pages.clone(), shape, &mut rng), pages, rng)
    }

    fn judged(machine: CacheModel, shape: Shape, seed: u64) -> Attempt {
        let (mut runs, pages, mut rng) = runs(machine, shape, seed);
        runs.judge(&pages, &mut rng)
    }

    fn shape(colors: u32) -> Shape {
        Shape { colors: Some(colors), ways: 8 }
    }

    #[test]
    fn two_runs_that_agree_are_believed() {
        let attempt = judged(CacheModel::new(256 << 10, 8), shape(8), 31);
        assert_eq!((attempt.distrust, attempt.colors), (None, (8, 8)));
        assert!(attempt.agreement >= 0.995, "{attempt}");
    }

    #[test]
    fn another_number_of_colors_than_declared_is_not_believed() {
        for declared in [4, 16] {
            let attempt = judged(CacheModel::new(256 << 10, 8), shape(declared), 32);
            assert_eq!(attempt.distrust, Some(Distrust::ColorCount), "{declared}: {attempt}");
        }
    }

    #[test]
    fn a_cache_that_takes_no_time_is_not_believed() {
        let machine = CacheModel { latency: (20, 20, 20), ..CacheModel::new(256 << 10, 8) };
        assert_eq!(judged(machine, shape(8), 33).distrust, Some(Distrust::NoContrast));
    }

    /// The cache is not indexed by page frame: the line decides the set, whatever the
    /// page.
    #[test]
    fn a_cache_without_page_colors_is_not_believed() {
        let attempt = judged(
            CacheModel { frames: 1 << 20, index_by_hash: true, ..CacheModel::new(256 << 10, 8) },
            shape(8),
            34,
        );
        assert!(attempt.distrust.is_some(), "{attempt}");
    }

    /// Two colors in one set and a third one in two: as many sets as before.
    fn merge_and_split(sets: &mut [Vec<PageId>]) {
        let [a, b, c] = &mut sets[..3] else { panic!("three colors at least") };
        let merged: Vec<PageId> = a.iter().zip(&*b).flat_map(|(&a, &b)| [a, b]).collect();
        *b = c.split_off(c.len() / 2);
        *a = merged;
    }

    /// Pages judged or surveyed that are of one of three colors out of eight.
    const THREE_OF_EIGHT: f64 = 3.0 / 8.0;

    #[test]
    fn colors_merged_in_one_run_are_noticed() {
        for first in [true, false] {
            let (mut runs, pages, mut rng) = runs(CacheModel::new(256 << 10, 8), shape(8), 35);
            let run = if first { &mut runs.first } else { &mut runs.second };
            merge_and_split(&mut run.found.sets);
            let attempt = runs.judge(&pages, &mut rng);
            assert_eq!(attempt.colors, (8, 8), "counting them is not enough");
            assert!(attempt.distrust.is_some(), "{attempt}");
            // If it were believed, the survey would show it.
            let colors = runs.first.assign(&pages);
            let agreement = runs.check(&pages, &colors);
            // Of the two merged colors at most one agrees.
            assert!(agreement < 1.0 - THREE_OF_EIGHT / 3.0 + 0.02, "{agreement}");
        }
    }

    #[test]
    fn pages_with_a_wrong_color_are_counted_one_by_one() {
        let (mut runs, pages, _) = runs(CacheModel::new(256 << 10, 8), shape(8), 36);
        let told = runs.first.assign(&pages);
        assert_eq!(runs.check(&pages, &told), 1.0);
        for wrong in [1, 7, 100] {
            let mut colors = told.clone();
            for color in colors.iter_mut().step_by(5).take(wrong) {
                *color = color.map(|color| Color((color.0 + 1) % 8));
            }
            let agreement = runs.check(&pages, &colors);
            let expected = 1.0 - wrong as f64 / pages.len() as f64;
            assert!((agreement - expected).abs() < 1e-9, "{wrong}: {agreement}");
        }
    }

    #[test]
    fn shuffled_labels_agree_as_often_as_chance_does() {
        let (mut runs, pages, mut rng) = runs(CacheModel::new(256 << 10, 8), shape(8), 37);
        let mut colors = runs.first.assign(&pages);
        rng.shuffle(&mut colors);
        let agreement = runs.check(&pages, &colors);
        assert!(agreement < 1.0 / 8.0 + 0.1, "{agreement}");
    }

    /// Other numbers for the same colors count as agreement; a page to which the map
    /// gives no color does not.
    #[test]
    fn names_do_not_count_and_pages_without_a_color_do() {
        let (mut runs, pages, _) = runs(CacheModel::new(256 << 10, 8), shape(8), 38);
        let rename = |color: Color| Color((color.0 + 3) % 8);
        let told: Vec<_> = runs.first.assign(&pages).into_iter().map(|c| c.map(rename)).collect();
        assert_eq!(runs.check(&pages, &told), 1.0);
        let half: Vec<_> = told.iter().enumerate().map(|(i, c)| c.filter(|_| i % 2 == 0)).collect();
        assert!((runs.check(&pages, &half) - 0.5).abs() < 0.01);
    }
}
