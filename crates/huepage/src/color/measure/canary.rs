// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lines of known colors, held in the cache to see whether others evict them.

use std::time::{Duration, Instant};

use super::{
    prober::{HELD_READS, PageId, Prober},
    shape::Shape,
    tester::Tester,
    ways::measured_ways,
};
use crate::color::{ColorCount, Pressure};

/// Rounds of looks without a pause between reading and timing: lines that are gone then
/// were evicted by the lines held, unless others access the cache all the time.
const FLOOR_ROUNDS: usize = 7;
/// Looks in each round.
const LOOKS_PER_ROUND: usize = 3;
/// Between two rounds. A neighbor that pauses does so in some of the rounds.
const BETWEEN_ROUNDS: Duration = Duration::from_millis(1);
/// Share of lines that may be gone without a pause; with more, the sets are too
/// full to hold lines in, or a neighbor is there.
const MOST_FLOOR: f64 = 0.01;
/// A canary made beside a busy neighbor is made again after this time.
const UNSETTLED_FOR: Duration = Duration::from_secs(2);
/// Times that ways are counted if none are declared. A neighbor can only make them look
/// fewer, so the largest count is nearest to the truth.
const WAYS_COUNTED: usize = 3;
/// Share of quiet looks that are counted as disturbed.
const FALSE_ALARM: f64 = 0.01;
/// Clocks and neighbors change: limits between hits and misses are measured
/// again after so long, one pattern of lines at a time.
const CALIBRATE_AFTER: Duration = Duration::from_millis(500);

/// A read from memory beside neighbors, until it is known better: 5 to 7 us were measured
/// in a guest with pages of 4 KiB, whose host and guest tables were in no cache either.
const COLD_READ: Duration = Duration::from_micros(8);

/// Time for making a canary again, and for measuring limits again.
#[derive(Clone, Copy, Debug)]
struct Upkeep {
    began: Instant,
    /// Time taken since.
    spent: Duration,
    /// Making the canary and measuring how many lines evict each other: as long as the
    /// last time.
    making: Duration,
    /// Measuring one limit: as long as the last time, if there was one.
    calibrating: Duration,
}

impl Upkeep {
    /// Whether all of it, and `cost` more, is at most `share` of the time until `now`.
    fn affords(&self, cost: Duration, share: f64, now: Instant) -> bool {
        let since = now.saturating_duration_since(self.began);
        (self.spent + cost).as_secs_f64() <= share * since.as_secs_f64()
    }
}

/// Pages held, and how many of their lines may be gone in a quiet look.
#[derive(Clone, Debug)]
pub(super) struct Canary {
    /// Pages and the index of their color, in the order in which they are read.
    pages: Vec<(PageId, u32)>,
    count: ColorCount,
    /// Lines that may be gone in a quiet look.
    most_quiet: u32,
    /// Whether enough pages were kept in the cache when it was made.
    settled: bool,
    made: Instant,
    upkeep: Upkeep,
    calibrated: Instant,
}

impl Canary {
    /// Holds as many pages of each set as stay in the cache: seven eighths of the ways,
    /// or down to three quarters if seven eighths evict each other. If even these do
    /// not stay, a neighbor evicts them, now and maybe later: then hardly any look is
    /// quiet until the canary is made again.
    pub fn new<P: Prober>(tester: &mut Tester<P>, sets: &[Vec<PageId>], shape: Shape) -> Self {
        tester.recalibrate();
        let began = Instant::now();
        let mut canary = Canary::fitting(tester, sets, shape);
        let fitting = began.elapsed();
        // Its first look will be a cold one, in which each line is read to be held and
        // once more to be timed.
        let lines = canary.pages.len() * tester.lines_per_page();
        canary.upkeep = Upkeep {
            began,
            spent: Duration::ZERO,
            making: fitting + COLD_READ * (HELD_READS + 1) * lines as u32,
            calibrating: COLD_READ * tester.calibration_reads(),
        };
        canary
    }

    fn fitting<P: Prober>(tester: &mut Tester<P>, sets: &[Vec<PageId>], shape: Shape) -> Self {
        let ways = match shape.colors {
            Some(_) => shape.ways as usize,
            None => counted_ways(tester, sets) as usize,
        };
        let nominal = ways.saturating_sub((ways / 8).max(1)).max(1);
        let least = (3 * ways).div_ceil(4).min(nominal);
        for depth in (least..=nominal).rev() {
            let mut canary = Canary::holding(depth, sets);
            let floor = canary.floor(tester);
            if floor <= MOST_FLOOR {
                canary.bound_by(floor);
                canary.settled = true;
                return canary;
            }
        }
        Canary::holding(nominal, sets)
    }

    /// Holds `depth` pages of each set, under the strictest bound.
    fn holding(depth: usize, sets: &[Vec<PageId>]) -> Self {
        let pages = sets.iter().zip(0..).flat_map(|(set, color)| {
            set[..depth.min(set.len())].iter().map(move |&page| (page, color))
        });
        let now = Instant::now();
        let mut canary = Canary {
            pages: pages.collect(),
            count: ColorCount::new(sets.len() as u32).expect("a color at least"),
            most_quiet: 0,
            settled: false,
            made: now,
            upkeep: Upkeep {
                began: now,
                spent: Duration::ZERO,
                making: Duration::ZERO,
                calibrating: Duration::ZERO,
            },
            calibrated: now,
        };
        canary.bound_by(0.0);
        canary
    }

    /// Sets how many lines may be gone in a quiet look: as many as chance makes of a
    /// share of `floor`, or of one line in a look if `floor` is less.
    fn bound_by(&mut self, floor: f64) {
        let lines = self.pages.len() as u32;
        self.most_quiet = upper(lines, floor.max(1.0 / f64::from(lines.max(1))));
    }

    /// The share of lines that is gone right after reading in the quieter moments: the
    /// lower quartile of all looks.
    fn floor<P: Prober>(&mut self, tester: &mut Tester<P>) -> f64 {
        let mut shares = Vec::with_capacity(FLOOR_ROUNDS * LOOKS_PER_ROUND);
        for round in 0..FLOOR_ROUNDS {
            if round > 0 {
                std::thread::sleep(BETWEEN_ROUNDS);
            }
            for _ in 0..LOOKS_PER_ROUND {
                // A look of which every sample was disturbed counts as one with all lines gone.
                shares.push(self.look(tester, Duration::ZERO, 0.0).share().unwrap_or(1.0));
            }
        }
        shares.sort_unstable_by(f64::total_cmp);
        shares[shares.len() / 4]
    }

    /// Makes the canary again if it did not succeed and was made some time before
    /// `now`: the neighbor may have stopped. Upkeep takes at most `share` of the time.
    pub fn renew<P: Prober>(
        &mut self,
        now: Instant,
        share: f64,
        tester: &mut Tester<P>,
        sets: &[Vec<PageId>],
        shape: Shape,
    ) {
        let due = now.saturating_duration_since(self.made) >= UNSETTLED_FOR;
        let mut upkeep = self.upkeep;
        if self.settled || !due || !upkeep.affords(upkeep.making, share, now) {
            return;
        }
        let begin = Instant::now();
        let limits = upkeep.calibrating * tester.probes();
        if upkeep.affords(upkeep.making + limits, share, now) {
            tester.recalibrate();
        }
        let fitting = Instant::now();
        *self = Canary::fitting(tester, sets, shape);
        upkeep.making = fitting.elapsed();
        upkeep.spent += begin.elapsed();
        self.upkeep = upkeep;
    }

    /// One look: what others evict within `wait`. Upkeep takes at most `share` of the time.
    pub fn look<P: Prober>(
        &mut self,
        tester: &mut Tester<P>,
        wait: Duration,
        share: f64,
    ) -> Pressure {
        let due = self.calibrated.elapsed() > CALIBRATE_AFTER;
        let began = Instant::now();
        if due && self.upkeep.affords(self.upkeep.calibrating, share, began) {
            tester.recalibrate_next();
            self.calibrated = Instant::now();
            self.upkeep.calibrating = began.elapsed();
            self.upkeep.spent += self.upkeep.calibrating;
        }
        tester.rng.shuffle(&mut self.pages);
        let targets: Vec<PageId> = self.pages.iter().map(|&(page, _)| page).collect();
        let (votes, waited) = tester.held(&targets, wait);
        let mut pressure = Pressure::none(self.count);
        for (&(_, color), vote) in self.pages.iter().zip(votes) {
            let held = &mut pressure.colors[color as usize];
            held.lines += u64::from(vote.is_some());
            held.evicted += u64::from(vote == Some(true));
        }
        let all = pressure.held();
        pressure.waited = waited;
        pressure.looks = 1;
        // A look of which most samples were interrupted is not called quiet.
        let seen = 2 * all.lines > self.pages.len() as u64;
        pressure.quiet_looks = u64::from(seen && all.evicted <= u64::from(self.most_quiet));
        pressure
    }
}

fn counted_ways<P: Prober>(tester: &mut Tester<P>, sets: &[Vec<PageId>]) -> u32 {
    let mut most = 1;
    for time in 0..WAYS_COUNTED {
        if time > 0 {
            std::thread::sleep(BETWEEN_ROUNDS);
        }
        most = most.max(measured_ways(tester, sets));
    }
    most
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
        super::simulated::{CacheModel, Replacement, Simulated},
        *,
    };

    const COLORS: u32 = 8;
    const SHAPE: Shape = Shape { colors: Some(COLORS), ways: 16 };
    const WAIT: Duration = Duration::from_micros(1);

    fn machine() -> CacheModel {
        CacheModel::new(512 << 10, 16)
    }

    /// A canary made on one machine, which then becomes another.
    fn canary_on(made_on: CacheModel, then: CacheModel) -> (Canary, Tester<Simulated>) {
        let (mut tester, sets) = machine_of(made_on, SHAPE);
        let canary = Canary::new(&mut tester, &sets, SHAPE);
        tester.prober.machine = then;
        (canary, tester)
    }

    fn machine_of(machine: CacheModel, shape: Shape) -> (Tester<Simulated>, Vec<Vec<PageId>>) {
        let (prober, sets, _) = Simulated::sorted(machine, shape.pages(), shape.set_size(), 61);
        (prober.tester(shape, 62), sets)
    }

    fn looks(canary: &mut Canary, tester: &mut Tester<Simulated>, looks: usize) -> Pressure {
        let mut sum = Pressure::none(canary.count);
        for _ in 0..looks {
            sum += &canary.look(tester, WAIT, 1.0);
        }
        sum
    }

    #[test]
    fn without_a_neighbor_nearly_every_look_is_quiet() {
        for replacement in [Replacement::Lru, Replacement::Qlru, Replacement::TreePlru] {
            let machine = CacheModel { replacement, ..machine() };
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
                canary_on(machine(), CacheModel { neighbor_reads, ..machine() });
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
        let then = CacheModel {
            neighbor_reads: 8 * machine().sets() as u32 / 4,
            neighbor_colors: Some(2),
            ..machine()
        };
        let (mut canary, mut tester) = canary_on(machine(), then);
        let sum = looks(&mut canary, &mut tester, 50);
        for color in 0..COLORS {
            let share = sum.colors[color as usize].share().unwrap();
            assert_eq!(share > 0.2, color < 2, "{color}: {share}");
            assert!(color < 2 || share < 0.02, "{color}: {share}");
        }
    }

    #[test]
    fn an_associativity_assumed_too_high_is_noticed() {
        let shape = Shape { colors: None, ..SHAPE };
        let (mut tester, sets) = machine_of(CacheModel::new(1 << 20, 8), shape);
        let mut canary = Canary::new(&mut tester, &sets, shape);
        assert_eq!((canary.pages.len(), canary.settled), (32 * 7, true));
        assert!(looks(&mut canary, &mut tester, 100).quiet_looks >= 90);
    }

    /// A neighbor that reads enough to be seen is not counted as the quiet state of the
    /// machine, and looks are quiet again after it has stopped.
    #[test]
    fn a_neighbor_there_from_the_beginning_is_seen_until_it_leaves() {
        for ways in [4, 16, 40, 200] {
            let with = CacheModel { neighbor_reads: ways * machine().sets() as u32, ..machine() };
            let (mut tester, sets) = machine_of(with, SHAPE);
            let mut canary = Canary::new(&mut tester, &sets, SHAPE);
            let sum = looks(&mut canary, &mut tester, 50);
            assert_eq!(sum.quiet_looks, 0, "{ways}: {sum:?}");
            let renew = |canary: &mut Canary, tester: &mut Tester<Simulated>, after| {
                let now = canary.made + after;
                canary.renew(now, 1.0, tester, &sets, SHAPE);
            };
            renew(&mut canary, &mut tester, UNSETTLED_FOR);
            let sum = looks(&mut canary, &mut tester, 50);
            assert_eq!(sum.quiet_looks, 0, "{ways}, made again: {sum:?}");
            tester.prober.machine = machine();
            renew(&mut canary, &mut tester, UNSETTLED_FOR);
            assert!(canary.settled, "{ways}");
            let sum = looks(&mut canary, &mut tester, 100);
            assert!(sum.quiet_looks >= 95, "{ways}, left: {sum:?}");
        }
    }

    #[test]
    fn a_neighbor_that_never_rests_unsettles_a_canary_for_two_seconds() {
        let with = CacheModel { neighbor_reads: 200 * machine().sets() as u32, ..machine() };
        let (mut canary, mut tester) = canary_on(with, machine());
        assert_eq!((canary.settled, canary.pages.len()), (false, 8 * 14));
        let (_, sets) = machine_of(machine(), SHAPE);
        let made = canary.made;
        let soon = made + UNSETTLED_FOR / 2;
        canary.renew(soon, 1.0, &mut tester, &sets, SHAPE);
        assert_eq!((canary.settled, canary.made), (false, made));
        // Nor as long as making it would take more than a hundredth of the time.
        canary.upkeep.making = UNSETTLED_FOR / 50;
        canary.upkeep.began = made;
        canary.renew(made + UNSETTLED_FOR * 19 / 10, 0.01, &mut tester, &sets, SHAPE);
        assert_eq!(canary.made, made);
        canary.renew(made + UNSETTLED_FOR * 2, 0.01, &mut tester, &sets, SHAPE);
        assert!(canary.settled && canary.made > made);
        // And then it stays.
        let made = canary.made;
        canary.renew(made + 10 * UNSETTLED_FOR, 1.0, &mut tester, &sets, SHAPE);
        assert_eq!(canary.made, made);
    }

    #[test]
    fn a_neighbor_that_pauses_is_not_in_the_floor() {
        let with = CacheModel {
            neighbor_reads: 200 * machine().sets() as u32,
            neighbor_rests: 2,
            ..machine()
        };
        let (mut canary, mut tester) = canary_on(with.clone(), with);
        assert_eq!((canary.settled, canary.pages.len()), (true, 8 * 14));
        let sum = looks(&mut canary, &mut tester, 100);
        assert!((30..70).contains(&sum.quiet_looks), "{sum:?}");
    }

    #[test]
    fn the_bound_is_that_of_the_binomial_distribution() {
        // Binomial(448, 1/448): P(X > 3) = 0.0188, P(X > 4) = 0.0036.
        assert_eq!(upper(448, 1.0 / 448.0), 4);
        assert_eq!(upper(10, 1e-9), 0);
        assert_eq!(upper(3, 0.999_999), 3);
    }
}
