// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lines of known colors, held in the cache to see whether others evict them.

use std::time::{Duration, Instant};

use super::{
    discover::Shape,
    prober::{PageId, Prober},
    tester::Tester,
};
use crate::color::{ColorCount, Pressure};

/// Looks without a pause between reading and timing: what is gone then was not
/// evicted by others, unless they never rest.
const FLOOR_LOOKS: usize = 21;
/// Share of lines that may be gone without a pause; with more, the sets are too
/// full to hold lines in.
const MOST_FLOOR: f64 = 0.01;
/// Quiet looks taken for unquiet ones.
const FALSE_ALARM: f64 = 0.01;
/// Clocks and neighbors change: limits between hits and misses are measured
/// again after so long, one pattern of lines at a time.
const CALIBRATE_AFTER: Duration = Duration::from_millis(500);

/// Pages held, and what is gone of them by itself.
#[derive(Clone, Debug)]
pub(super) struct Canary {
    /// Pages and the index of their color, in the order in which they are read.
    pages: Vec<(PageId, u32)>,
    /// Lines that may be gone in a quiet look.
    most_quiet: u32,
    calibrated: Instant,
}

impl Canary {
    /// Holds as many pages of each set as it keeps by itself: seven eighths of
    /// the ways, or fewer where that is too many.
    pub fn new<P: Prober>(
        tester: &mut Tester<P>,
        sets: &[Vec<PageId>],
        shape: Shape,
        count: ColorCount,
    ) -> Self {
        tester.recalibrate();
        let ways = shape.ways as usize;
        let mut depth = ways - (ways / 8).max(1).min(ways - 1);
        loop {
            let pages = sets.iter().zip(0..).flat_map(|(set, color)| {
                set[..depth.min(set.len())].iter().map(move |&page| (page, color))
            });
            let mut canary =
                Canary { pages: pages.collect(), most_quiet: 0, calibrated: Instant::now() };
            let mut gone: Vec<u64> = (0..FLOOR_LOOKS)
                .map(|_| canary.look(tester, Duration::ZERO, count).held().evicted)
                .collect();
            gone.sort_unstable();
            let lines = canary.pages.len() as u32;
            let floor = gone[FLOOR_LOOKS / 2] as f64 / f64::from(lines.max(1));
            if floor <= MOST_FLOOR || depth == 1 {
                // One line in a look is the least that can be told from none.
                canary.most_quiet = upper(lines, floor.max(1.0 / f64::from(lines.max(1))));
                return canary;
            }
            depth -= 1;
        }
    }

    /// One look: what others evict within `wait`.
    pub fn look<P: Prober>(
        &mut self,
        tester: &mut Tester<P>,
        wait: Duration,
        count: ColorCount,
    ) -> Pressure {
        if self.calibrated.elapsed() > CALIBRATE_AFTER {
            tester.recalibrate_next();
            self.calibrated = Instant::now();
        }
        tester.rng.shuffle(&mut self.pages);
        let targets: Vec<PageId> = self.pages.iter().map(|&(page, _)| page).collect();
        let (votes, waited) = tester.held(&targets, wait);
        let mut pressure = Pressure::none(count);
        for (&(_, color), vote) in self.pages.iter().zip(votes) {
            let held = &mut pressure.colors[color as usize];
            held.lines += u64::from(vote.is_some());
            held.evicted += u64::from(vote == Some(true));
        }
        let all = pressure.held();
        pressure.waited = waited;
        pressure.looks = 1;
        // A look that was interrupted in most of its samples says nothing good.
        let seen = 2 * all.lines > self.pages.len() as u64;
        pressure.quiet_looks = u64::from(seen && all.evicted <= u64::from(self.most_quiet));
        pressure
    }
}

/// The least number that a binomial draw of `trials` with probability `p`
/// exceeds in at most [`FALSE_ALARM`] of all cases.
fn upper(trials: u32, p: f64) -> u32 {
    // Terms of the distribution, each from the one before it.
    let mut term = (1.0 - p).powi(trials as i32);
    let mut sum = term;
    for k in 0..trials {
        if 1.0 - sum <= FALSE_ALARM {
            return k;
        }
        term *= f64::from(trials - k) / f64::from(k + 1) * p / (1.0 - p);
        sum += term;
    }
    trials
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            calibrate::Gauge,
            lines::Masks,
            simulated::{Machine, Replacement, Simulated},
        },
        *,
    };
    use crate::color::Color;

    const COLORS: u32 = 8;
    const SHAPE: Shape = Shape { colors: Some(COLORS), ways: 16 };
    const WAIT: Duration = Duration::from_micros(1);

    fn machine() -> Machine {
        Machine::new(512 << 10, 16)
    }

    /// A canary on a machine that is quiet while it is made, and then as given.
    fn canary_on(quiet: Machine, then: Machine) -> (Canary, Tester<Simulated>) {
        let pages: Vec<PageId> = (0..SHAPE.pages() as u32).map(PageId).collect();
        let prober = Simulated::new(quiet, pages.len(), 61);
        let mut sets = vec![Vec::new(); COLORS as usize];
        for &page in &pages {
            sets[prober.color(page) as usize].push(page);
        }
        let gauge = Gauge::new(&pages, SHAPE.full(), SHAPE.batch_all());
        let rng = fastrand::Rng::with_seed(62);
        let masks = Masks::generated_by([]);
        let mut tester = Tester::new(prober, gauge, &masks, &[3, 17, 40], rng);
        let canary = Canary::new(&mut tester, &sets, SHAPE, count());
        tester.prober.machine = then;
        (canary, tester)
    }

    fn count() -> ColorCount {
        ColorCount::new(COLORS).unwrap()
    }

    fn looks(canary: &mut Canary, tester: &mut Tester<Simulated>, looks: usize) -> Pressure {
        let mut sum = Pressure::none(count());
        for _ in 0..looks {
            sum += &canary.look(tester, WAIT, count());
        }
        sum
    }

    #[test]
    fn without_a_neighbor_nearly_every_look_is_quiet() {
        for replacement in [Replacement::Lru, Replacement::Qlru, Replacement::TreePlru] {
            let machine = Machine { replacement, ..machine() };
            let (mut canary, mut tester) = canary_on(machine.clone(), machine);
            let sum = looks(&mut canary, &mut tester, 200);
            assert!(sum.quiet_looks >= 190, "{replacement:?}: {sum:?}");
            assert!(sum.share().unwrap() < 0.01, "{replacement:?}: {sum:?}");
        }
    }

    #[test]
    fn the_more_a_neighbor_reads_the_more_is_gone() {
        let shares = [0, 4, 8, 16].map(|ways| {
            let neighbor_reads = ways * machine().sets() as u32;
            let (mut canary, mut tester) =
                canary_on(machine(), Machine { neighbor_reads, ..machine() });
            let sum = looks(&mut canary, &mut tester, 20);
            assert_eq!(sum.quiet_looks > 15, ways == 0, "{ways}: {sum:?}");
            sum.share().unwrap()
        });
        assert!(shares.is_sorted(), "{shares:?}");
        // Two of sixteen ways are not held: an LRU set that four lines come into
        // loses about two of fourteen, one that sixteen come into nearly all.
        assert!((0.08..0.25).contains(&shares[1]), "{shares:?}");
        assert!(shares[3] > 0.8, "{shares:?}");
    }

    #[test]
    fn a_neighbor_in_some_colors_is_seen_in_these() {
        let then = Machine {
            neighbor_reads: 8 * machine().sets() as u32 / 4,
            neighbor_colors: Some(2),
            ..machine()
        };
        let (mut canary, mut tester) = canary_on(machine(), then);
        let sum = looks(&mut canary, &mut tester, 50);
        for color in 0..COLORS {
            let share = sum.share_of(Color(color)).unwrap();
            assert_eq!(share > 0.2, color < 2, "{color}: {share}");
            assert!(color < 2 || share < 0.02, "{color}: {share}");
        }
    }

    #[test]
    fn an_associativity_given_too_high_is_noticed() {
        let machine = Machine::new(256 << 10, 8);
        let (mut canary, mut tester) = canary_on(machine.clone(), machine);
        assert!(canary.pages.len() <= 8 * 8, "{}", canary.pages.len());
        assert!(looks(&mut canary, &mut tester, 100).quiet_looks >= 90);
    }

    #[test]
    fn the_bound_is_that_of_the_binomial_distribution() {
        // Binomial(448, 1/448): P(X > 3) = 0.0188, P(X > 4) = 0.0036.
        assert_eq!(upper(448, 1.0 / 448.0), 4);
        assert_eq!(upper(10, 1e-9), 0);
        assert_eq!(upper(3, 0.999_999), 3);
    }
}
