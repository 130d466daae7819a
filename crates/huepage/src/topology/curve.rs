// SPDX-License-Identifier: MIT OR Apache-2.0
//! Latency over working set, measured: the curve whose rises are cache ends.

use std::{
    io,
    time::{Duration, Instant},
};

use fastrand::Rng;
use serde::{Deserialize, Serialize};

use super::{PinError, Pinned, chase::Chase};
use crate::units::Bytes;

/// Nanoseconds per access of a random pointer chase over growing working sets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// The CPU it was measured on.
    pub cpu: u32,
    /// Fresh allocations per working set; each point is their median.
    pub rounds: u32,
    /// By ascending size.
    pub points: Vec<Point>,
}

/// One working set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// Its size.
    pub bytes: Bytes,
    /// Median nanoseconds per access.
    pub nanoseconds: f64,
}

/// How to measure a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePlan {
    /// The largest working set.
    pub largest: Bytes,
    /// Fresh allocations per working set, while time is left.
    pub rounds: u32,
    /// When to stop. One round is always finished.
    pub budget: Duration,
}

impl CurvePlan {
    /// Enough to see the end of an L2 of `declared` size, or, where nothing
    /// credible is declared, of any L2 up to 4 MiB.
    pub fn for_l2(declared: Option<Bytes>) -> Self {
        let largest = match declared {
            Some(size) => Bytes(size.0.saturating_mul(4)).clamp(Bytes::mib(2), Bytes::mib(32)),
            None => Bytes::mib(8),
        };
        CurvePlan { largest, rounds: 9, budget: Duration::from_millis(1500) }
    }
}

/// Why a curve could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The thread cannot be kept on the CPU.
    #[error(transparent)]
    Pin(#[from] PinError),
    /// No memory for the working sets.
    #[error("cannot map memory for the measurement: {0}")]
    Memory(#[from] io::Error),
}

/// Smallest working set: well inside any L1.
const SMALLEST: u64 = 4096;
/// Timed passes over each allocation, of which the quickest counts: an
/// interrupt only ever adds time.
const PASSES: usize = 3;
/// Loads per timed pass, at least: the clock's own cost is 30 ns.
const STEPS: usize = 8192;

impl Curve {
    /// Measures on `cpu`, to which the calling thread is kept meanwhile.
    ///
    /// Every round allocates every working set anew, since the frames that the
    /// kernel happens to give decide how many lines collide near a cache's end.
    ///
    /// # Errors
    /// [`MeasureError`] if the CPU is not available or memory is short.
    pub fn measure(cpu: u32, plan: &CurvePlan, rng: &mut Rng) -> Result<Self, MeasureError> {
        let _pinned = Pinned::to(cpu)?;
        let begin = Instant::now();
        let sizes = sizes(plan.largest);
        let mut samples: Vec<Vec<f64>> = vec![Vec::new(); sizes.len()];
        let mut rounds = 0;
        let mut longest = Duration::ZERO;
        while rounds < plan.rounds.max(1)
            && (rounds == 0 || begin.elapsed() + longest < plan.budget)
        {
            let round = Instant::now();
            for (size, samples) in sizes.iter().zip(&mut samples) {
                let mut chase = Chase::new(*size, 64, rng)?;
                chase.nanoseconds_per_step(chase.lines());
                let steps = chase.lines().max(STEPS);
                let quickest = (0..PASSES)
                    .map(|_| chase.nanoseconds_per_step(steps))
                    .min_by(f64::total_cmp)
                    .expect("at least one pass");
                samples.push(quickest);
            }
            rounds += 1;
            longest = longest.max(round.elapsed());
        }
        let points = sizes
            .into_iter()
            .zip(samples)
            .map(|(bytes, samples)| Point { bytes, nanoseconds: rounded(median(samples)) })
            .collect();
        Ok(Curve { cpu, rounds, points })
    }

    /// Whether a curve read from a file can be one.
    pub(super) fn validate(&self) -> Result<(), String> {
        if !self.points.is_sorted_by(|a, b| a.bytes < b.bytes) {
            return Err("the sizes of the curve do not ascend".to_owned());
        }
        match self.points.iter().find(|p| !(p.nanoseconds.is_finite() && p.nanoseconds > 0.0)) {
            Some(point) => Err(format!("an access of {} ns in the curve", point.nanoseconds)),
            None => Ok(()),
        }
    }
}

/// Four sizes per power of two: 4, 5, 6, 7, 8, 10, … KiB. All that caches of
/// 2^n × 5, 6, 7 ways come in, such as 48 KiB and 1.25 MiB, are among them.
fn sizes(largest: Bytes) -> Vec<Bytes> {
    (0..)
        .flat_map(|octave| (4..8).map(move |quarter| Bytes((SMALLEST / 4 * quarter) << octave)))
        .take_while(|size| *size <= largest.max(Bytes(SMALLEST)))
        .collect()
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

/// To whole picoseconds: more would be noise in the record.
fn rounded(nanoseconds: f64) -> f64 {
    ((nanoseconds * 1000.0).round() / 1000.0).max(0.001)
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

    #[test]
    fn a_curve_has_a_point_per_size_and_leaves_the_affinity_as_it_was() {
        let before = crate::topology::allowed_cpus().unwrap();
        let plan =
            CurvePlan { largest: Bytes::kib(16), rounds: 3, budget: Duration::from_secs(3600) };
        let curve = Curve::measure(before[0], &plan, &mut Rng::with_seed(1)).unwrap();
        assert_eq!((curve.cpu, curve.rounds, curve.points.len()), (before[0], 3, 9));
        assert_eq!(curve.validate(), Ok(()));
        assert_eq!(crate::topology::allowed_cpus().unwrap(), before);
    }

    #[test]
    fn without_time_one_round_is_measured() {
        let plan = CurvePlan { largest: Bytes::kib(8), rounds: 3, budget: Duration::ZERO };
        let cpu = crate::topology::allowed_cpus().unwrap()[0];
        let curve = Curve::measure(cpu, &plan, &mut Rng::with_seed(1)).unwrap();
        assert_eq!(curve.rounds, 1);
    }
}
