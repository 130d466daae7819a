// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tests of the analysis on simulated machines with known results: runs differ by the
//! frames that they get, a neighbor comes and goes, the clock rate changes.

use fastrand::Rng;

use super::{
    Arm, Cost, arms, measure, moments,
    report::ArmReport,
    runner::{Launch, Plan},
    verdict,
};
use crate::bench::{VerdictKind, moment::Moment, report::Verdict, stats::normal};

/// The properties of a machine, and the times of the program on it.
#[derive(Clone, Copy)]
struct HostModel {
    /// Median seconds of placed runs, and their deviation as a share of it; the same
    /// of default ones.
    placed: (f64, f64),
    default: (f64, f64),
    /// Share of the time that a neighbor is there, and that the looks miss it.
    neighbor: f64,
    missed: f64,
    /// How much slower the slow clock is; it changes about every tenth run.
    slow_clock: f64,
    /// How much longer the second of two default runs takes for a reason other than its
    /// pages: a control has to find this.
    flaw: f64,
    /// Runs of each arm in quiet moments.
    runs: usize,
}

const NOISY: HostModel = HostModel {
    placed: (1.0, 0.01),
    default: (1.6, 0.12),
    neighbor: 0.3,
    missed: 0.05,
    slow_clock: 1.1,
    flaw: 0.0,
    runs: 15,
};

/// Rounds after which no more come, as with --time-limit.
const MOST: usize = 100;

struct World {
    machine: HostModel,
    rng: Rng,
    neighbor: bool,
    slow: bool,
    launched: usize,
}

impl Launch for World {
    fn launch(&mut self, arm: Arm, _: bool) -> anyhow::Result<(Cost, Moment)> {
        let machine = self.machine;
        self.launched += 1;
        if self.rng.f64() < 0.2 {
            self.neighbor = self.rng.f64() < machine.neighbor;
        }
        if self.rng.f64() < 0.1 {
            self.slow = !self.slow;
        }
        let (median, deviation) = if arm == Arm::Placed { machine.placed } else { machine.default };
        let mut seconds = median * (deviation * normal(&mut self.rng)).exp();
        if arm == Arm::Control {
            seconds *= 1.0 + machine.flaw;
        }
        seconds *= 1.0 + 0.003 * normal(&mut self.rng).abs();
        let clock = if self.slow { machine.slow_clock } else { 1.0 };
        seconds *= clock;
        // A program that fits the cache loses more.
        let fitted = if arm == Arm::Placed { 1.5 } else { 1.0 };
        let missed = self.rng.f64() < machine.missed;
        if self.neighbor {
            seconds *= 1.1 + fitted * self.rng.f64();
        }
        let seen = self.neighbor && !missed;
        // If no round is ever quiet the run has to end, too: these rounds are cut off.
        let moment = Moment {
            elapsed: 1000,
            cpu: 1000,
            arithmetic: (1e4 * clock * (1.0 + 0.005 * normal(&mut self.rng).abs())) as u64,
            cache_quiet: Some(!seen || self.launched > 3 * MOST * 3),
            ..Moment::default()
        };
        let cost = Cost { elapsed: seconds, user: 0.9 * seconds, system: 0.0, succeeded: true };
        Ok((cost, moment))
    }
}

impl HostModel {
    fn judged(self, seed: u64) -> (Vec<ArmReport>, Verdict) {
        let mut rng = Rng::with_seed(seed);
        let neighbor = rng.f64() < self.neighbor;
        let mut world = World { machine: self, rng, neighbor, slow: false, launched: 0 };
        let plan = Plan {
            runs: self.runs,
            warm: 0,
            arms: Arm::ALL.to_vec(),
            // Each run is over at once: the number of runs ends it.
            time_limit: std::time::Duration::from_secs(3600),
            seed,
        };
        let runs = measure(&mut world, &plan).unwrap();
        let runs: Vec<_> = runs.0.into_iter().filter(|run| run.round < MOST).collect();
        let arms = arms(&runs, seed);
        let verdict = verdict("elapsed time", &arms, |arm| &arm.elapsed, &moments(&runs));
        (arms, verdict)
    }

    /// Of a hundred runs: in how many the interval contained the true ratio, in how
    /// many the control's interval contained its true ratio, and how many verdicts of
    /// each kind there were.
    fn hundred(self) -> Counts {
        let truth = self.default.0 / self.placed.0;
        let mut counts = Counts::default();
        for seed in 0..100 {
            let (arms, verdict) = self.judged(seed);
            let holds = |arm: usize, truth: f64| {
                let ratio = arms[arm].elapsed.quiet.and_then(|quiet| quiet.ratio);
                u32::from(ratio.is_some_and(|r| r.low <= truth && truth <= r.high))
            };
            counts.covered += holds(1, truth);
            counts.control += holds(2, 1.0 / (1.0 + self.flaw));
            match verdict.kind {
                VerdictKind::Better => counts.better += 1,
                VerdictKind::NotBetter => counts.not_better += 1,
                VerdictKind::CannotTell => counts.cannot_tell += 1,
            }
        }
        counts
    }
}

#[derive(Debug, Default)]
struct Counts {
    covered: u32,
    control: u32,
    better: u32,
    not_better: u32,
    cannot_tell: u32,
}

#[test]
fn the_known_effect_is_inside_its_interval_and_called_better() {
    for machine in [
        NOISY,
        HostModel { neighbor: 0.0, slow_clock: 1.0, ..NOISY },
        HostModel { default: (1.03, 0.01), ..NOISY },
        HostModel { runs: 30, default: (1.2, 0.2), ..NOISY },
    ] {
        let counts = machine.hundred();
        assert!(counts.covered >= 92 && counts.control >= 92, "{counts:?}");
        assert_eq!(counts.not_better, 0, "{counts:?}");
        // If default runs differ by as much as the effect, some runs cannot decide.
        let least = if machine.default.1 > 0.15 { 70 } else { 95 };
        assert!(counts.better >= least, "{counts:?}");
    }
}

#[test]
fn a_known_loss_is_called_not_better() {
    let counts = HostModel { placed: (1.05, 0.005), default: (1.0, 0.005), ..NOISY }.hundred();
    assert!(counts.covered >= 92, "{counts:?}");
    assert!(counts.not_better >= 95 && counts.better == 0, "{counts:?}");
}

#[test]
fn what_has_no_effect_is_seldom_called_better_or_worse() {
    for deviation in [0.002, 0.1] {
        let side = (1.0, deviation);
        let counts = HostModel { placed: side, default: side, ..NOISY }.hundred();
        assert!(counts.covered >= 92 && counts.control >= 92, "{counts:?}");
        assert!(counts.better <= 5 && counts.not_better <= 5, "{counts:?}");
    }
}

/// A test of the check: with a method that shows differences where there are none, the
/// control shows them too, and a difference no larger than the control's does not
/// count.
#[test]
fn a_method_with_a_flaw_is_found_out_by_its_control() {
    let side = (1.0, 0.005);
    let flawed = HostModel { placed: (0.97, 0.005), default: side, flaw: -0.1, ..NOISY };
    let counts = flawed.hundred();
    assert!(counts.better <= 2 && counts.cannot_tell >= 95, "{counts:?}");
    let sound = HostModel { flaw: 0.0, ..flawed }.hundred();
    assert!(sound.better >= 90, "{sound:?}");
}

#[test]
fn a_neighbor_that_never_rests_leaves_nothing_to_tell() {
    for seed in 0..10 {
        let machine = HostModel { neighbor: 1.0, missed: 0.01, ..NOISY };
        let (arms, verdict) = machine.judged(seed);
        assert_eq!(verdict.kind, VerdictKind::CannotTell, "{}", verdict.text);
        assert!(verdict.text.contains("runs were quiet"), "{}", verdict.text);
        // The time of all runs is reported nevertheless.
        assert!(arms[1].elapsed.all.is_some_and(|all| all.median.value > 1.1));
    }
}

/// A test of the check: if all runs count as quiet, the figures contain the neighbor.
#[test]
fn without_quiet_moments_told_apart_the_neighbor_is_in_the_figures() {
    let machine = HostModel { neighbor: 0.7, ..NOISY };
    let off = |of: fn(&ArmReport) -> f64| {
        let offs =
            (0..20).map(|seed| (of(&machine.judged(seed).0[1]) / machine.placed.0).ln().abs());
        offs.fold(0.0, f64::max)
    };
    let quiet = off(|arm| arm.elapsed.quiet.map_or(1.0, |quiet| quiet.median.value));
    let all = off(|arm| arm.elapsed.all.unwrap().median.value);
    assert!(quiet < 0.05, "{quiet}");
    assert!(all > 0.3, "{all}");
}
