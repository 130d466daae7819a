// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two independent discoveries on the same pages, and whether to believe them.

use std::time::{Duration, Instant};

use super::{
    discover::Shape,
    palette::{Lines, Palette},
    prober::{PageId, Prober},
};
use crate::color::{Attempt, Color, Distrust, agreement::agreement};

/// Pages to judge by.
const JUDGED: usize = 2048;
/// Contrast without which no answer means anything.
const LEAST_CONTRAST: f64 = 0.5;
/// Share of judged pages that may stay unassigned.
const MOST_UNASSIGNED: f64 = 0.02;
/// Agreement between two runs below which neither is believed.
const LEAST_AGREEMENT: f64 = 0.98;

/// Two palettes, found independently of each other at other lines.
#[derive(Debug)]
pub(super) struct Runs<P> {
    lines: Lines,
    pub first: Palette<P>,
    pub second: Palette<P>,
    /// Time for finding the first.
    pub discover: Duration,
    /// Time for finding the second and for comparing.
    pub verify: Duration,
}

impl<P: Prober + Clone> Runs<P> {
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
            Palette::discover(prober, &pages, shape, &lines.masks, bases, rng.fork())
        };
        let first = run(prober.clone(), &lines.first);
        let discover = begin.elapsed();
        let second = run(prober, &lines.second);
        Runs { lines, first, second, discover, verify: begin.elapsed() - discover }
    }

    /// What was seen, and the reason not to believe it if there is one. `pages`
    /// are those that the runs may be compared on.
    pub fn judge(&mut self, pages: &[PageId], rng: &mut fastrand::Rng) -> Attempt {
        let begin = Instant::now();
        let expected = self.first.shape.colors;
        let runs = [&self.first, &self.second];
        let sum = |of: fn(&Palette<P>) -> u64| runs.map(of).iter().sum::<u64>();
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
            let (a, b) = self.assign_held_out(&judged);
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

    /// Both runs' colors of the pages, at lines that neither discovered with.
    pub fn assign_held_out(
        &mut self,
        pages: &[PageId],
    ) -> (Vec<Option<Color>>, Vec<Option<Color>>) {
        let lines = &self.lines;
        let run = |palette: &mut Palette<P>, own: &[u8]| {
            palette.tester.use_lines(&lines.masks, &lines.held_out);
            let colors = palette.assign(pages);
            palette.tester.use_lines(&lines.masks, own);
            colors
        };
        (run(&mut self.first, &lines.first), run(&mut self.second, &lines.second))
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::simulated::{Machine, Simulated},
        *,
    };

    fn judged(machine: Machine, shape: Shape, seed: u64) -> Attempt {
        let count = shape.pages() + 500;
        let prober = Simulated::new(machine, count, seed);
        let pages: Vec<PageId> = (0..count as u32).map(PageId).collect();
        let mut rng = fastrand::Rng::with_seed(seed);
        Runs::new(prober, pages.clone(), shape, &mut rng).judge(&pages, &mut rng)
    }

    fn shape(colors: u32) -> Shape {
        Shape { colors: Some(colors), ways: 8 }
    }

    #[test]
    fn two_runs_that_agree_are_believed() {
        let attempt = judged(Machine::new(256 << 10, 8), shape(8), 31);
        assert_eq!((attempt.distrust, attempt.colors), (None, (8, 8)));
        assert!(attempt.agreement >= 0.995, "{attempt}");
    }

    #[test]
    fn another_number_of_colors_than_declared_is_not_believed() {
        for declared in [4, 16] {
            let attempt = judged(Machine::new(256 << 10, 8), shape(declared), 32);
            assert_eq!(attempt.distrust, Some(Distrust::ColorCount), "{declared}: {attempt}");
        }
    }

    #[test]
    fn a_cache_that_takes_no_time_is_not_believed() {
        let machine = Machine { latency: (20, 20, 20), ..Machine::new(256 << 10, 8) };
        assert_eq!(judged(machine, shape(8), 33).distrust, Some(Distrust::NoContrast));
    }

    /// Not indexed by page frame: the line decides, whatever the page.
    #[test]
    fn a_cache_without_page_colors_is_not_believed() {
        let attempt = judged(
            Machine { frames: 1 << 20, index_by_hash: true, ..Machine::new(256 << 10, 8) },
            shape(8),
            34,
        );
        assert!(attempt.distrust.is_some(), "{attempt}");
    }
}
