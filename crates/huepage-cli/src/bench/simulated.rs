// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests of the analysis on simulated machines with known results: a neighbor that
//! comes and goes, stolen time and a clock rate that changes.

use fastrand::Rng;
use huepage::{topology::CacheGeometry, units::Bytes};

use super::{
    Placement, VerdictKind,
    analysis::{moments, rows},
    moment::Moment,
    report::{Row, Verdict},
    runner::quiet_visits,
    samples::{Allocation, Group, Samples, Slice},
    stats::normal,
    verdict::verdict,
    workload::Unit,
};

/// The properties of a machine, and the costs of two placements on it.
#[derive(Clone, Copy)]
struct HostModel {
    /// Share of the time that the neighbor is there; it comes and goes about
    /// every fortieth visit.
    neighbor: f64,
    /// The share of visits with a neighbor in which the looks miss it.
    missed: f64,
    /// The share of slices out of which the hypervisor takes some time.
    stolen: f64,
    /// How much slower the slow clock is; it changes about every hundredth visit.
    slow_clock: f64,
    /// Median cost of balanced allocations, and the deviation between them as a
    /// share of it; the same of default ones.
    balanced: (f64, f64),
    default: (f64, f64),
    unit: Unit,
    /// Of each placement.
    allocations: usize,
}

const NOISY: HostModel = HostModel {
    neighbor: 0.4,
    missed: 0.05,
    stolen: 0.05,
    slow_clock: 1.15,
    balanced: (7.0, 0.002),
    default: (13.0, 0.15),
    unit: Unit::NsPerAccess,
    allocations: 15,
};

/// Visits in quiet moments that every allocation is to have, and blocks after
/// which no more come: as with the options --visits and --time-limit.
const VISITS: usize = 8;
const MOST_BLOCKS: usize = 60;
const BYTES: Bytes = Bytes::kib(1792);

/// What happens around the visits.
struct World {
    rng: Rng,
    neighbor: bool,
    slow: bool,
}

impl World {
    fn chance(&mut self, share: f64) -> bool {
        self.rng.f64() < share
    }

    /// Goes on to the next visit.
    fn step(&mut self, machine: HostModel) {
        if self.chance(1.0 / 40.0) {
            self.neighbor = self.rng.f64() < machine.neighbor;
        }
        if self.chance(1.0 / 100.0) {
            self.slow = !self.slow;
        }
    }

    /// One slice of an allocation of that cost.
    fn slice(&mut self, machine: HostModel, cost: f64, seen: bool, block: usize) -> Slice {
        let mut cost = cost * (1.0 + 0.01 * normal(&mut self.rng).abs());
        if self.neighbor {
            // Sharing the cache costs more if the memory fitted better.
            let fitted = if cost < 10.0 { 1.5 } else { 1.0 };
            cost *= 1.2 + 2.0 * fitted * self.rng.f64();
        }
        let clock = if self.slow { machine.slow_clock } else { 1.0 };
        cost *= clock;
        let elapsed = 500_000.0;
        let mut cpu = elapsed;
        if self.chance(machine.stolen) {
            let away = 0.1 + self.rng.f64();
            cost *= 1.0 + away;
            cpu /= 1.0 + away;
        }
        let arithmetic = 10_000.0 * clock * (1.0 + 0.005 * normal(&mut self.rng).abs());
        let moment = Moment {
            elapsed: elapsed as u64,
            cpu: cpu as u64,
            arithmetic: arithmetic as u64,
            evicted: Some(if seen { 0.3 } else { 0.0 }),
            cache_quiet: Some(!seen),
            ..Moment::default()
        };
        Slice { block, start: 0.0, figure: machine.unit.cost(cost), moment }
    }
}

impl HostModel {
    /// A run of the crossed design.
    fn run(self, seed: u64) -> Samples {
        let mut rng = Rng::with_seed(seed);
        let neighbor = rng.f64() < self.neighbor;
        let mut world = World { rng, neighbor, slow: false };
        let sides = [(Placement::Default, self.default), (Placement::Balanced, self.balanced)];
        let costs = sides.map(|(_, (median, deviation))| {
            let mut cost = || median * (deviation * normal(&mut world.rng)).exp();
            (0..self.allocations).map(|_| cost()).collect::<Vec<f64>>()
        });
        let groups = sides.map(|(placement, _)| Group {
            bench: "chase",
            bytes: BYTES,
            placement,
            unit: self.unit,
            allocations: vec![Allocation::default(); self.allocations],
        });
        let mut visits: Vec<(usize, usize)> =
            (0..2).flat_map(|side| (0..self.allocations).map(move |n| (side, n))).collect();
        let mut samples = Samples { groups: groups.into(), ..Samples::default() };
        while samples.blocks < MOST_BLOCKS && quiet_visits(&samples) < VISITS {
            world.rng.shuffle(&mut visits);
            for &(side, number) in &visits {
                world.step(self);
                let seen = world.neighbor && !world.chance(self.missed);
                for _ in 0..2 {
                    let slice = world.slice(self, costs[side][number], seen, samples.blocks);
                    samples.groups[side].allocations[number].slices.push(slice);
                }
            }
            samples.blocks += 1;
        }
        samples
    }

    /// The row of balanced pages, and the verdict.
    fn judged(self, seed: u64) -> (Row, Verdict) {
        let samples = self.run(seed);
        let rows = rows(&samples, seed);
        let cache = CacheGeometry::from_size(2, Bytes::mib(2), 16, 64).unwrap();
        let verdict = verdict(&rows, cache, &moments(&samples));
        (rows[1].clone(), verdict)
    }

    /// In how many of a hundred runs the interval contained the true ratio, and how
    /// many runs called balanced pages better.
    fn hundred(self) -> (u32, u32) {
        let truth = self.default.0 / self.balanced.0;
        let (mut covered, mut better) = (0, 0);
        for seed in 0..100 {
            let (row, verdict) = self.judged(seed);
            let inside = |r: super::bootstrap::Estimate| r.low <= truth && truth <= r.high;
            covered += u32::from(row.ratio_to_default.is_some_and(inside));
            better += u32::from(verdict.kind == VerdictKind::Better);
        }
        (covered, better)
    }
}

#[test]
fn the_known_effect_is_inside_its_interval_and_called_better() {
    for machine in [
        NOISY,
        HostModel { unit: Unit::GbPerSecond, ..NOISY },
        HostModel { neighbor: 0.0, stolen: 0.0, slow_clock: 1.0, ..NOISY },
        HostModel { balanced: (7.0, 0.05), default: (10.0, 0.3), ..NOISY },
    ] {
        let (covered, better) = machine.hundred();
        assert!(covered >= 93, "{covered} of 100, {better} better");
        // If default allocations differ by half as much as the effect, some runs cannot
        // decide.
        let least = if machine.default.1 > 0.2 { 80 } else { 98 };
        assert!(better >= least, "{better} of 100");
    }
}

/// With as few allocations as the large workloads have, and with the fewest for which
/// results are given.
#[test]
fn few_allocations_have_intervals_that_hold_the_effect_too() {
    for allocations in [8, 6] {
        let (covered, better) = HostModel { allocations, ..NOISY }.hundred();
        assert!(covered >= 93, "{covered} of 100 with {allocations}");
        assert!(better >= 95, "{better} of 100 with {allocations}");
    }
}

/// The speed itself, of allocations that differ: the low quantile of slices is a little
/// above the true cost, by a tenth of their noise.
#[test]
fn the_true_speed_is_inside_its_interval() {
    for allocations in [15, 8, 6] {
        let machine = HostModel { allocations, ..NOISY };
        let inside = (0..100).filter(|&seed| {
            let quiet = rows(&machine.run(seed), seed)[0].quiet;
            quiet.is_some_and(|quiet| {
                (quiet.low..=quiet.high).contains(&(machine.default.0 * 1.0015))
            })
        });
        let inside = inside.count();
        assert!(inside >= 92, "{inside} of 100 with {allocations}");
    }
}

#[test]
fn what_has_no_effect_is_seldom_called_better() {
    for deviation in [0.002, 0.15] {
        let side = (9.0, deviation);
        let (covered, better) = HostModel { balanced: side, default: side, ..NOISY }.hundred();
        assert!(better <= 5, "{better} of 100, deviation {deviation}");
        assert!(covered >= 93, "{covered} of 100, deviation {deviation}");
    }
}

#[test]
fn a_neighbor_that_never_rests_leaves_nothing_to_tell() {
    for seed in 0..20 {
        let (row, verdict) = HostModel { neighbor: 1.0, missed: 0.01, ..NOISY }.judged(seed);
        assert_eq!(verdict.kind, VerdictKind::CannotTell, "{}", verdict.text);
        assert!(verdict.text.contains("had quiet moments enough"), "{}", verdict.text);
        assert!(row.quiet.is_none());
        // The speed of all slices is reported nevertheless.
        assert!(row.whole.is_some_and(|whole| whole.median > 9.0));
    }
}

/// A test of the check: if quiet moments are one in twenty, a low quantile alone does
/// not find them.
#[test]
fn without_quiet_moments_told_apart_the_neighbor_is_in_the_figures() {
    let machine = HostModel { neighbor: 0.96, missed: 0.0, stolen: 0.0, ..NOISY };
    let (mut told, mut untold) = (Vec::new(), Vec::new());
    for seed in 0..40 {
        let mut samples = machine.run(seed);
        let off = |samples: &Samples| {
            Some((rows(samples, seed)[1].quiet?.median / machine.balanced.0).ln().abs())
        };
        let Some(with) = off(&samples) else { continue };
        told.push(with);
        let allocations = samples.groups.iter_mut().flat_map(|group| &mut group.allocations);
        for slice in allocations.flat_map(|allocation| &mut allocation.slices) {
            slice.moment = Moment { arithmetic: 10_000, ..Moment::default() };
        }
        untold.extend(off(&samples));
    }
    let worst = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    assert!(told.len() >= 5, "{}", told.len());
    assert!(worst(&told) < 0.03, "{told:?}");
    assert!(worst(&untold) > 0.15, "{untold:?}");
}

/// Spread between allocations is due to placement, spread over time to the neighbor.
#[test]
fn the_two_spreads_are_told_apart() {
    let (mut balanced, mut default, mut over_time) = (Vec::new(), Vec::new(), Vec::new());
    for seed in 0..20 {
        let samples = NOISY.run(seed);
        let found = rows(&samples, seed);
        default.push(found[0].between.unwrap().spread);
        balanced.push(found[1].between.unwrap().spread);
        over_time.push(found[1].over_time.unwrap().spread);
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    // p95 / p5 - 1 of a log-normal draw with deviation 0.15 is 0.64; of fifteen
    // draws, somewhat less.
    assert!((0.35..0.8).contains(&mean(&default)), "{default:?}");
    assert!(mean(&balanced) < 0.05, "{balanced:?}");
    assert!(mean(&over_time) > 0.5, "{over_time:?}");
}

#[test]
fn an_allocation_whose_pages_moved_is_left_out_and_counted() {
    let mut samples = HostModel { neighbor: 0.0, stolen: 0.0, ..NOISY }.run(1);
    for slice in &mut samples.groups[1].allocations[3].slices {
        slice.figure = 1000.0;
    }
    let with = rows(&samples, 1);
    samples.groups[1].allocations[3].moved = Some(true);
    let without = rows(&samples, 1);
    assert_eq!(without[1].allocations, NOISY.allocations - 1);
    assert_eq!(without[1].each.len(), NOISY.allocations - 1);
    assert!(with[1].between.unwrap().spread > 10.0);
    assert!(without[1].between.unwrap().spread < 0.1);
}

/// Low quantiles of few slices are higher than of many, so each allocation gives as
/// many; an allocation that is almost never quiet does not reduce those of the others.
#[test]
fn an_allocation_with_hardly_any_quiet_moment_is_left_out() {
    let mut samples = HostModel { neighbor: 0.0, stolen: 0.0, slow_clock: 1.0, ..NOISY }.run(2);
    for slice in samples.groups[0].allocations[0].slices.iter_mut().skip(5) {
        slice.moment.switches = 1;
    }
    let found = rows(&samples, 2);
    assert_eq!(found[0].allocations, NOISY.allocations - 1);
    assert_eq!(found[1].allocations, NOISY.allocations);
    assert!(found[0].each[0].quiet.is_none() && found[0].each[1].quiet.is_some());
}
