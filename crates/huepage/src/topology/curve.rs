// SPDX-License-Identifier: MIT OR Apache-2.0
//! Latency over working set, measured: the curve whose rises are cache ends.

use std::{
    io,
    time::{Duration, Instant},
};

use fastrand::Rng;

use super::{
    PinError, Pinned, Witnessed,
    samples::{Sample, Samples, median},
};
use crate::{chase::Chase, units::Bytes};

/// Nanoseconds per access of a random pointer chase over growing working sets.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Curve {
    /// The CPU it was measured on.
    pub cpu: u32,
    /// Fresh allocations per working set; each point is their median.
    pub rounds: u32,
    /// By ascending size.
    pub points: Vec<Point>,
}

/// One working set.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Point {
    /// Its size.
    pub bytes: Bytes,
    /// Median nanoseconds per access.
    pub nanoseconds: f64,
    /// The same in quiet moments; `None` where these are not known.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub witnessed: Option<Witnessed>,
}

impl Point {
    /// A point without knowledge of which moments were quiet.
    pub fn new(bytes: Bytes, nanoseconds: f64) -> Self {
        Point { bytes, nanoseconds, witnessed: None }
    }
}

/// How to measure a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePlan {
    /// The largest working set.
    pub largest: Bytes,
    /// Fresh allocations per working set, while time is left.
    pub rounds: u32,
    /// When to stop. A machine too slow for one round in this time leaves out
    /// the largest working sets.
    pub budget: Duration,
    /// How long to go on for quiet moments, for working sets that had too few.
    pub patience: Duration,
}

impl CurvePlan {
    /// Enough to see the end of an L2 of `declared` size, or, where nothing
    /// credible is declared, of any L2 up to 4 MiB.
    pub fn for_l2(declared: Option<Bytes>) -> Self {
        let largest = match declared {
            Some(size) => Bytes(size.0.saturating_mul(4)).clamp(Bytes::mib(2), Bytes::mib(16)),
            None => Bytes::mib(12),
        };
        let (budget, patience) = (Duration::from_millis(1500), Duration::from_millis(700));
        CurvePlan { largest, rounds: 9, budget, patience }
    }
}

/// Why a curve could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// The thread cannot be kept on the CPU.
    #[error(transparent)]
    Pin(#[from] PinError),
    /// No memory for the working sets.
    #[error("cannot map memory for the measurement")]
    Memory(#[from] io::Error),
}

/// Smallest working set: well inside any L1.
const SMALLEST: u64 = 4096;
/// Loads per stretch of time taken: long against the clock's own cost of 30 ns,
/// short against the milliseconds between two switches to another process. The
/// median stretch has seen no interrupt.
const STRETCH: usize = 8192;
/// Stretches per allocation, at least.
const STRETCHES: usize = 5;
/// How often each line is visited, at least, after a first visit untimed.
const PASSES: usize = 2;

impl Curve {
    /// Measures on `cpu`, to which the calling thread is kept meanwhile.
    ///
    /// Every round allocates every working set anew, since the frames that the
    /// kernel happens to give decide how many lines collide near a cache's end.
    ///
    /// `witness` is called before and after each sample and returns whether the moment
    /// is quiet, without a neighbor in the cache, or `None` if that is unknown. If it
    /// is known, working sets with too few quiet samples get more of them, for at most
    /// `plan.patience`.
    ///
    /// # Errors
    /// [`MeasureError`] if the CPU is not available or memory is short.
    pub fn measure(
        cpu: u32,
        plan: &CurvePlan,
        rng: &mut Rng,
        mut witness: impl FnMut() -> Option<bool>,
    ) -> Result<Self, MeasureError> {
        let _pinned = Pinned::to(cpu)?;
        let begin = Instant::now();
        let mut sizes = sizes(plan.largest);
        let mut samples = vec![Samples::default(); sizes.len()];
        let mut rounds = 0;
        let mut longest = Duration::ZERO;
        while rounds < plan.rounds.max(1)
            && (rounds == 0 || begin.elapsed() + longest < plan.budget)
        {
            let round = Instant::now();
            let mut done = 0;
            for (size, samples) in sizes.iter().zip(&mut samples) {
                if rounds == 0 && done > 0 && begin.elapsed() >= plan.budget {
                    break;
                }
                let before = witness();
                samples.add(sample(*size, rng, before, &mut witness)?);
                done += 1;
            }
            sizes.truncate(done);
            samples.truncate(done);
            rounds += 1;
            longest = longest.max(round.elapsed());
        }
        let begin = Instant::now();
        while samples.iter().any(Samples::lack_quiet) && begin.elapsed() < plan.patience {
            let lacking =
                sizes.iter().zip(&mut samples).filter(|(_, samples)| samples.lack_quiet());
            for (size, samples) in lacking {
                let before = witness();
                if before == Some(true) && begin.elapsed() < plan.patience {
                    samples.add_waited_for(sample(*size, rng, before, &mut witness)?);
                }
            }
        }
        let points = sizes.into_iter().zip(&samples).map(|(bytes, samples)| Point {
            bytes,
            nanoseconds: samples.nanoseconds(),
            witnessed: samples.witnessed(),
        });
        Ok(Curve { cpu, rounds, points: points.collect() })
    }

    /// Whether a curve read from a file is possible.
    #[cfg(any(test, feature = "serde"))]
    pub(super) fn validate(&self) -> Result<(), String> {
        if !self.points.is_sorted_by(|a, b| a.bytes < b.bytes) {
            return Err("the sizes of the curve do not ascend".to_owned());
        }
        match self.points.iter().find(|p| !(p.nanoseconds.is_finite() && p.nanoseconds > 0.0)) {
            Some(point) => Err(format!("an access of {} ns in the curve", point.nanoseconds)),
            None => self
                .points
                .iter()
                .filter_map(|point| point.witnessed)
                .try_for_each(|witnessed| witnessed.validate()),
        }
    }
}

/// Nanoseconds per access in one fresh allocation, and whether it was quiet
/// before, as `before` says, and after.
fn sample(
    size: Bytes,
    rng: &mut Rng,
    before: Option<bool>,
    mut witness: impl FnMut() -> Option<bool>,
) -> io::Result<Sample> {
    let mut chase = Chase::new(size, 64, rng)?;
    // The first visit also brings lines back that a look has evicted.
    chase.nanoseconds_per_step(chase.lines());
    let stretches = (PASSES * chase.lines() / STRETCH).max(STRETCHES);
    let times: Vec<f64> = (0..stretches).map(|_| chase.nanoseconds_per_step(STRETCH)).collect();
    let quiet = if before == Some(true) { witness() } else { before };
    let fastest = times.iter().copied().fold(f64::INFINITY, f64::min);
    Ok(Sample { nanoseconds: median(times), fastest, quiet })
}

/// Four sizes per power of two: 4, 5, 6, 7, 8, 10, … KiB. All cache sizes of 2^n × 5,
/// 6, 7, such as 48 KiB and 1.25 MiB, are among them.
pub(super) fn sizes(largest: Bytes) -> Vec<Bytes> {
    (0..)
        .flat_map(|octave| (4..8).map(move |quarter| Bytes((SMALLEST / 4 * quarter) << octave)))
        .take_while(|size| *size <= largest.max(Bytes(SMALLEST)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_ascend_in_quarters_of_a_power_of_two() {
        let kib: Vec<u64> = sizes(Bytes::kib(20)).into_iter().map(|size| size.0 / 1024).collect();
        assert_eq!(kib, [4, 5, 6, 7, 8, 10, 12, 14, 16, 20]);
        assert_eq!(sizes(Bytes(0)), [Bytes::kib(4)]);
    }

    fn patient(largest: Bytes) -> CurvePlan {
        let long = Duration::from_secs(3600);
        CurvePlan { largest, rounds: 3, budget: long, patience: long }
    }

    fn measure(plan: &CurvePlan, witness: impl FnMut() -> Option<bool>) -> Vec<Witnessed> {
        let cpu = crate::topology::allowed_cpus().unwrap()[0];
        let curve = Curve::measure(cpu, plan, &mut Rng::with_seed(1), witness).unwrap();
        assert_eq!(curve.validate(), Ok(()));
        curve.points.iter().map(|point| point.witnessed.unwrap()).collect()
    }

    #[test]
    fn a_neighbor_that_comes_and_goes_is_told_and_quiet_waited_for() {
        let mut looks = 0;
        // Quiet for one look in each four: never before and after.
        let never = || {
            looks += 1;
            Some(looks % 4 == 0)
        };
        let plan = CurvePlan { patience: Duration::ZERO, ..patient(Bytes::kib(8)) };
        for of in measure(&plan, never) {
            assert_eq!((of.samples, of.with_neighbor, of.quiet), (3, 3, 0));
            assert_eq!(of.quiet_nanoseconds, None);
        }
        // Five looks of quiet, five looks beside a neighbor.
        let mut looks = 0;
        let turns = || {
            looks += 1;
            Some(looks / 5 % 2 == 0)
        };
        let witnessed = measure(&patient(Bytes::kib(8)), turns);
        let with_neighbor: u32 = witnessed.iter().map(|of| of.with_neighbor).sum();
        assert!((1..15).contains(&with_neighbor), "{witnessed:?}");
        assert!(witnessed.iter().all(|of| of.quiet >= 3 && of.samples == 3), "{witnessed:?}");
        assert!(witnessed.iter().all(|of| of.quiet_nanoseconds.is_some()));
    }

    #[test]
    fn a_quiet_machine_needs_no_patience() {
        let witnessed = measure(&patient(Bytes::kib(8)), || Some(true));
        for of in witnessed {
            assert_eq!((of.samples, of.with_neighbor, of.quiet), (3, 0, 3));
        }
    }

    #[test]
    fn a_curve_has_a_point_per_size_and_leaves_the_affinity_as_it_was() {
        let before = crate::topology::allowed_cpus().unwrap();
        let plan = patient(Bytes::kib(16));
        let curve = Curve::measure(before[0], &plan, &mut Rng::with_seed(1), || None).unwrap();
        assert_eq!((curve.cpu, curve.rounds, curve.points.len()), (before[0], 3, 9));
        assert!(curve.points.iter().all(|point| point.witnessed.is_none()));
        assert_eq!(curve.validate(), Ok(()));
        assert_eq!(crate::topology::allowed_cpus().unwrap(), before);
    }

    #[test]
    fn without_time_the_largest_sets_are_left_out() {
        let plan = CurvePlan { budget: Duration::ZERO, ..patient(Bytes::mib(8)) };
        let cpu = crate::topology::allowed_cpus().unwrap()[0];
        let curve = Curve::measure(cpu, &plan, &mut Rng::with_seed(1), || None).unwrap();
        assert_eq!((curve.rounds, curve.points.len()), (1, 1));
        assert_eq!(curve.points[0].bytes, Bytes::kib(4));
    }

    #[test]
    fn an_l2_is_measured_to_four_times_its_size_within_bounds() {
        for (declared, largest) in [
            (None, Bytes::mib(12)),
            (Some(Bytes::kib(256)), Bytes::mib(2)),
            (Some(Bytes::mib(1)), Bytes::mib(4)),
            (Some(Bytes(u64::MAX)), Bytes::mib(16)),
        ] {
            assert_eq!(CurvePlan::for_l2(declared).largest, largest);
        }
    }
}
