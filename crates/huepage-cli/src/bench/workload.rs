// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a workload is, and the units its figures come in.

use std::{
    fmt,
    time::{Duration, Instant},
};

use serde::Serialize;

/// The unit of a figure; it also says which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
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

    /// A figure as a cost, so that less is better in every unit; applied again, it
    /// gives the figure back.
    pub fn cost(self, figure: f64) -> f64 {
        if self.lower_is_better() { figure } else { 1.0 / figure }
    }
}

/// As in JSON.
impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// A piece of work to be timed: call it once.
pub type Slice<'a> = &'a mut dyn FnMut() -> f64;

/// A program whose speed depends on the placement of its memory, cut into slices.
///
/// The memory may be longer than the workload needs, and other workloads may
/// write to it between two visits.
pub trait Workload {
    /// The name of its rows in a report.
    fn name(&self) -> &'static str;

    /// The unit of its figure.
    fn unit(&self) -> Unit;

    /// Writes the data that all visits to one allocation need, once.
    fn prepare(&self, _memory: &mut [u8]) {}

    /// One visit: writes what its slices read, works untimed until the caches are as in
    /// the middle of work, and then passes `slices` slices to `each`, one after
    /// another. Each slice does half a millisecond to one of the work, or the least
    /// piece that it can be cut into, and returns its figure.
    fn visit(&self, memory: &mut [u8], slices: usize, each: &mut dyn FnMut(Slice));

    /// The speed of the same arithmetic on data in the first-level cache, which no
    /// placement can exceed. `None` for workloads with hardly any arithmetic.
    fn ceiling(&self) -> Option<f64> {
        None
    }
}

/// Asserts that each slice of one visit has a figure.
#[cfg(test)]
pub fn assert_figures(workload: &impl Workload, memory: &mut [u8], slices: usize) {
    let mut figures: Vec<f64> = Vec::new();
    workload.visit(memory, slices, &mut |slice| figures.push(slice()));
    assert_eq!(figures.len(), slices);
    assert!(figures.iter().all(|f| *f > 0.0 && f.is_finite()), "{figures:?}");
}

/// The time that a call takes.
pub fn time(call: impl FnOnce()) -> Duration {
    let start = Instant::now();
    call();
    start.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_is_lower_for_the_faster_figure_and_turns_back() {
        assert!(Unit::NsPerAccess.cost(5.0) < Unit::NsPerAccess.cost(10.0));
        assert!(Unit::GbPerSecond.cost(20.0) < Unit::GbPerSecond.cost(10.0));
        for unit in [Unit::NsPerAccess, Unit::GbPerSecond, Unit::GflopPerSecond] {
            assert!((unit.cost(unit.cost(7.0)) - 7.0).abs() < 1e-12);
        }
    }
}
