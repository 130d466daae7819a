// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a workload is, and the units its figures come in.

use std::{
    fmt,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use super::stats;

/// The unit of a figure; it also says which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Unit {
    /// Nanoseconds for one dependent access.
    #[serde(rename = "ns/access")]
    NsPerAccess,
    /// 10^9 bytes a second.
    #[serde(rename = "GB/s")]
    GbPerSecond,
    /// 10^9 floating-point operations a second.
    #[serde(rename = "GFLOP/s")]
    GflopPerSecond,
    /// Milliseconds for the whole program.
    #[serde(rename = "ms")]
    Milliseconds,
}

impl Unit {
    /// Whether a smaller figure is a faster one.
    pub fn lower_is_better(self) -> bool {
        matches!(self, Unit::NsPerAccess | Unit::Milliseconds)
    }

    /// How many times as fast as `baseline` a figure is.
    pub fn speedup(self, figure: f64, baseline: f64) -> f64 {
        if self.lower_is_better() { baseline / figure } else { figure / baseline }
    }

    /// As it stands in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Unit::NsPerAccess => "ns/access",
            Unit::GbPerSecond => "GB/s",
            Unit::GflopPerSecond => "GFLOP/s",
            Unit::Milliseconds => "ms",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A program whose speed depends on where its memory lies.
pub trait Workload {
    /// The name of its rows in a report.
    fn name(&self) -> &'static str;

    /// The unit of its figure.
    fn unit(&self) -> Unit;

    /// Runs over `memory`, which is at least as large as the job that the
    /// workload belongs to says, and returns one figure.
    fn run(&self, memory: &mut [u8]) -> f64;
}

/// The median time of `times` calls: an interrupt in one of them does not
/// count, while the placement, the same in all of them, does.
pub fn median_time(times: usize, mut call: impl FnMut() -> Duration) -> Duration {
    let seconds: Vec<f64> = (0..times).map(|_| call().as_secs_f64()).collect();
    Duration::from_secs_f64(stats::Summary::of(&seconds).median)
}

/// How long a call takes.
pub fn time(call: impl FnOnce()) -> Duration {
    let start = Instant::now();
    call();
    start.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speedup_is_above_one_for_the_faster_figure() {
        assert_eq!(Unit::NsPerAccess.speedup(5.0, 10.0), 2.0);
        assert_eq!(Unit::Milliseconds.speedup(20.0, 10.0), 0.5);
        assert_eq!(Unit::GbPerSecond.speedup(20.0, 10.0), 2.0);
        assert_eq!(Unit::GflopPerSecond.speedup(5.0, 10.0), 0.5);
    }

    #[test]
    fn one_name_in_json_and_in_text() {
        for unit in [Unit::NsPerAccess, Unit::GbPerSecond, Unit::GflopPerSecond, Unit::Milliseconds]
        {
            assert_eq!(serde_json::to_value(unit).unwrap(), unit.to_string());
        }
    }

    #[test]
    fn one_slow_call_does_not_move_the_median() {
        let mut times = [3, 900, 1, 2, 3].map(Duration::from_millis).into_iter();
        assert_eq!(median_time(5, || times.next().unwrap()), Duration::from_millis(3));
    }
}
