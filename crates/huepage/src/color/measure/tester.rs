// SPDX-License-Identifier: MIT OR Apache-2.0
//! Single samples turned into answers: thresholds kept up to date, disturbed
//! samples dropped.

use std::time::Duration;

use super::{
    calibrate::{Gauge, LEAST_CONTRAST, Threshold, calibrate},
    lines::Masks,
    prober::{Chain, PageId, Pattern, Prober, Sample},
};

/// A pattern with the limit between its hits and misses.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    pub pattern: Pattern,
    pub threshold: Threshold,
}

/// Asks a [`Prober`] yes-or-no questions.
#[derive(Debug)]
pub(super) struct Tester<P> {
    pub prober: P,
    pub rng: fastrand::Rng,
    /// Patterns in use, each at other lines of the page.
    probes: Vec<Probe>,
    gauge: Gauge,
    out: Vec<Sample>,
    /// Samples asked for, and samples dropped as disturbed.
    pub samples: u64,
    pub disturbed: u64,
}

/// Contrast below which a wider chain is tried.
const GOOD_CONTRAST: f64 = 0.95;
/// Counter steps between hit and miss below which a wider chain is tried.
const ENOUGH_STEPS: u32 = 3;

impl<P: Prober> Tester<P> {
    /// A tester that reads lines of the groups of `bases`.
    pub fn new(prober: P, gauge: Gauge, masks: &Masks, bases: &[u8], rng: fastrand::Rng) -> Self {
        let mut tester = Tester {
            prober,
            rng,
            probes: Vec::new(),
            gauge,
            out: Vec::new(),
            samples: 0,
            disturbed: 0,
        };
        tester.take_lines(masks, bases);
        tester
    }

    /// Reads lines of the groups of `bases` from now on. Returns what was used
    /// before, for [`Tester::give_back`].
    pub fn take_lines(&mut self, masks: &Masks, bases: &[u8]) -> Vec<Probe> {
        let probes = self.choose_probes(masks, bases);
        std::mem::replace(&mut self.probes, probes)
    }

    /// Reads the lines used before from now on.
    pub fn give_back(&mut self, probes: Vec<Probe>) {
        self.probes = probes;
        self.recalibrate();
    }

    /// The narrowest chains with good contrast: a narrow chain is quicker, a
    /// wide one makes up for a coarse time stamp counter.
    fn choose_probes(&mut self, masks: &Masks, bases: &[u8]) -> Vec<Probe> {
        let mut best: Vec<Probe> = Vec::new();
        let (mut best_contrast, mut best_steps) = (f64::MIN, 0);
        for width in [1, 2, 4, Chain::MAX] {
            let bases_per_probe = width.div_ceil(masks.len()).min(bases.len());
            let probes: Vec<Probe> = bases
                .chunks_exact(bases_per_probe)
                .map(|bases| {
                    let pattern = masks.pattern(bases, width, &mut self.rng);
                    let threshold = self.calibrated(&pattern);
                    Probe { pattern, threshold }
                })
                .collect();
            let contrast = mean(probes.iter().map(|p| p.threshold.contrast()));
            let steps = probes.iter().map(|p| p.threshold.steps).min().unwrap_or(0);
            if contrast > best_contrast || best_steps < ENOUGH_STEPS && steps > best_steps {
                (best, best_contrast, best_steps) = (probes, contrast, steps);
            }
            if best_contrast >= GOOD_CONTRAST && best_steps >= ENOUGH_STEPS {
                break;
            }
        }
        best
    }

    fn calibrated(&mut self, pattern: &Pattern) -> Threshold {
        calibrate(&mut self.prober, pattern, &self.gauge)
    }

    /// Calibrates with other pages from now on.
    #[cfg(feature = "serde")]
    pub fn regauge(&mut self, gauge: Gauge) {
        self.gauge = gauge;
    }

    /// Measures all thresholds again: clocks and neighbors change.
    pub fn recalibrate(&mut self) {
        for _ in 0..self.probes.len() {
            self.recalibrate_next();
        }
    }

    /// Measures one threshold again, another one each time. A limit that does not
    /// separate hits from misses was measured in a bad moment: the previous one is
    /// kept.
    pub fn recalibrate_next(&mut self) {
        self.probes.rotate_left(1);
        let pattern = self.probes[0].pattern.clone();
        let threshold = self.calibrated(&pattern);
        if threshold.contrast() >= LEAST_CONTRAST {
            self.probes[0].threshold = threshold;
        }
    }

    /// Patterns of lines in use.
    pub fn probes(&self) -> u32 {
        self.probes.len() as u32
    }

    /// Reads that it takes to measure a limit again, at most.
    pub fn calibration_reads(&self) -> u32 {
        (self.gauge.reads() * self.lines_per_page()) as u32
    }

    /// Lines read of each page of a set.
    pub fn lines_per_page(&self) -> usize {
        self.probes.first().map_or(1, |probe| probe.pattern.set.len())
    }

    /// Mean contrast of the probes in use.
    pub fn contrast(&self) -> f64 {
        mean(self.probes.iter().map(|p| p.threshold.contrast()))
    }

    /// One vote per target on whether reading `set` evicts it, all at the same
    /// lines, `batch` targets at a time. `None` where the sample was disturbed.
    ///
    /// Targets of one batch must not evict each other: at most a quarter of the
    /// ways may have one color.
    pub fn votes(
        &mut self,
        targets: &[PageId],
        batch: usize,
        set: &[PageId],
        passes: u32,
    ) -> Vec<Option<bool>> {
        let probe = &self.probes[self.rng.usize(0..self.probes.len())];
        let mut votes = Vec::with_capacity(targets.len());
        for batch in targets.chunks(batch) {
            self.prober.probe(batch, set, &probe.pattern, passes, &mut self.out);
            votes.extend(self.out.iter().map(|&sample| probe.threshold.is_miss(sample)));
        }
        self.samples += targets.len() as u64;
        self.disturbed += votes.iter().filter(|v| v.is_none()).count() as u64;
        votes
    }

    /// One vote per target on whether others have evicted it within `wait`, all at the
    /// same lines, and how long the wait really was. `None` if the sample was
    /// disturbed.
    pub fn held(&mut self, targets: &[PageId], wait: Duration) -> (Vec<Option<bool>>, Duration) {
        let probe = &self.probes[self.rng.usize(0..self.probes.len())];
        let waited = self.prober.hold(targets, &probe.pattern, wait, &mut self.out);
        (self.out.iter().map(|&sample| probe.threshold.is_miss(sample)).collect(), waited)
    }

    /// Of `targets`, those that at least `need` of `rounds` votes say are
    /// evicted by `set`.
    pub fn evicted(
        &mut self,
        targets: &[PageId],
        batch: usize,
        set: &[PageId],
        passes: u32,
        need: u32,
        rounds: u32,
    ) -> Vec<PageId> {
        let mut yes = vec![0; targets.len()];
        // Only those that further votes can still decide are asked again.
        let mut open: Vec<usize> = (0..targets.len()).collect();
        for left in (0..rounds).rev() {
            let asked: Vec<PageId> = open.iter().map(|&i| targets[i]).collect();
            for (&i, vote) in open.iter().zip(self.votes(&asked, batch, set, passes)) {
                yes[i] += u32::from(vote == Some(true));
            }
            open.retain(|&i| yes[i] < need && yes[i] + left >= need);
        }
        targets.iter().zip(yes).filter(|(_, yes)| *yes >= need).map(|(&page, _)| page).collect()
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            shape::Shape,
            simulated::{CacheModel, Simulated},
        },
        *,
    };

    #[test]
    fn a_limit_that_tells_nothing_apart_is_not_taken() {
        let shape = Shape { colors: Some(8), ways: 8 };
        let mut tester = Simulated::new(CacheModel::new(256 << 10, 8), 1024, 71).tester(shape, 72);
        let limits = |tester: &Tester<Simulated>| -> Vec<u32> {
            tester.probes.iter().map(|probe| probe.threshold.ticks).collect()
        };
        let before = limits(&tester);
        // A moment in which nothing stays in the cache.
        tester.prober.machine.latency = (5, 400, 400);
        tester.recalibrate();
        assert_eq!(limits(&tester), before);
        assert!(tester.contrast() > LEAST_CONTRAST);
        // A slower clock.
        tester.prober.machine.latency = (5, 60, 210);
        tester.recalibrate_next();
        let changed = limits(&tester).iter().zip(&before).filter(|(a, b)| a > b).count();
        assert!(changed >= 1, "{before:?}");
        tester.recalibrate();
        assert!(limits(&tester).iter().zip(&before).all(|(a, b)| a > b), "{before:?}");
    }
}
