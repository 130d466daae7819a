// SPDX-License-Identifier: MIT OR Apache-2.0
//! An axis of a picture: where a value lies, and which round numbers are marked.

use std::ops::Range;

use crate::number::trimmed;

/// A stretch of numbers, and the ticks on it with their labels.
#[derive(Clone, Debug)]
pub struct Axis {
    range: Range<f64>,
    ticks: Vec<(f64, String)>,
    logarithmic: bool,
}

impl Axis {
    /// A linear axis with about `wanted` ticks.
    pub fn linear(range: Range<f64>, wanted: u32) -> Self {
        let ticks = linear_ticks(range.start, range.end, wanted);
        Axis { range, ticks: labeled(ticks), logarithmic: false }
    }

    /// A logarithmic axis; the range lies above zero.
    pub fn logarithmic(range: Range<f64>) -> Self {
        let ticks = logarithmic_ticks(range.start, range.end);
        Axis { range, ticks: labeled(ticks), logarithmic: true }
    }

    /// A linear axis with a tick at every whole number, labeled by `label`.
    pub fn whole_numbers(range: Range<f64>, label: impl Fn(i64) -> String) -> Self {
        let ticks = range.start.ceil() as i64..=range.end as i64;
        Axis::with_ticks(range, ticks.map(|tick| (tick as f64, label(tick))).collect())
    }

    /// A linear axis with these ticks.
    pub fn with_ticks(range: Range<f64>, ticks: Vec<(f64, String)>) -> Self {
        Axis { range, ticks, logarithmic: false }
    }

    /// Where a value lies between two ends in pixels.
    pub fn at(&self, value: f64, ends: (f64, f64)) -> f64 {
        let [value, start, end] =
            [value, self.range.start, self.range.end].map(|value| self.scaled(value));
        ends.0 + (value - start) / (end - start) * (ends.1 - ends.0)
    }

    /// The values that are marked, ascending, with their labels.
    pub fn ticks(&self) -> &[(f64, String)] {
        &self.ticks
    }

    /// From the first to the last value.
    pub fn range(&self) -> Range<f64> {
        self.range.clone()
    }

    fn scaled(&self, value: f64) -> f64 {
        if self.logarithmic { value.ln() } else { value }
    }
}

fn labeled(ticks: Vec<f64>) -> Vec<(f64, String)> {
    ticks.into_iter().map(|tick| (tick, trimmed(tick, 4))).collect()
}

/// Round numbers in `lo..=hi` for a logarithmic axis: 1, 2, 5 of every decade, or more
/// of them if these are too few to read a scale from.
fn logarithmic_ticks(lo: f64, hi: f64) -> Vec<f64> {
    let coarse = steps(lo, hi, &[1.0, 2.0, 5.0]);
    if coarse.len() >= 5 {
        coarse
    } else {
        steps(lo, hi, &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0])
    }
}

fn steps(lo: f64, hi: f64, digits: &[f64]) -> Vec<f64> {
    let decades = lo.log10().floor() as i32..=hi.log10().ceil() as i32;
    let all = decades.flat_map(|decade| digits.iter().map(move |d| d * 10f64.powi(decade)));
    all.filter(|tick| (lo..=hi).contains(tick)).collect()
}

/// About `wanted` multiples of 1, 2, 2.5 or 5 times a power of ten in `lo..=hi`.
fn linear_ticks(lo: f64, hi: f64, wanted: u32) -> Vec<f64> {
    let raw = (hi - lo) / f64::from(wanted);
    let decade = 10f64.powf(raw.log10().floor());
    let factor = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|f| f * decade >= raw);
    let step = factor.unwrap_or(10.0) * decade;
    let first = (lo / step).ceil() as i64;
    (first..).map(|i| i as f64 * step).take_while(|tick| *tick <= hi).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_land_between_the_ends_by_their_scale() {
        let linear = Axis::linear(0.0..10.0, 5);
        let logarithmic = Axis::logarithmic(1.0..100.0);
        for (axis, value, pixel) in [
            (&linear, 0.0, 500.0),
            (&linear, 5.0, 300.0),
            (&linear, 10.0, 100.0),
            (&logarithmic, 1.0, 500.0),
            (&logarithmic, 10.0, 300.0),
            (&logarithmic, 100.0, 100.0),
        ] {
            assert!((axis.at(value, (500.0, 100.0)) - pixel).abs() < 1e-9, "{value}");
        }
    }

    #[test]
    fn whole_numbers_are_the_ticks_of_eighths() {
        let axis = Axis::whole_numbers(0.6..4.4, |eighths| format!("{eighths}/8"));
        let labels: Vec<&str> = axis.ticks().iter().map(|(_, label)| &label[..]).collect();
        assert_eq!(labels, ["1/8", "2/8", "3/8", "4/8"]);
    }

    #[test]
    fn logarithmic_ticks_are_round_and_never_too_few() {
        assert_eq!(logarithmic_ticks(1.0, 100.0), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(
            logarithmic_ticks(3.5, 40.0),
            [4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 40.0]
        );
    }

    #[test]
    fn linear_ticks_are_round() {
        assert_eq!(linear_ticks(0.0, 105.0, 5), [0.0, 25.0, 50.0, 75.0, 100.0]);
        let axis = Axis::linear(11.93..12.31, 4);
        let labels: Vec<&str> = axis.ticks().iter().map(|(_, label)| &label[..]).collect();
        assert_eq!(labels, ["12", "12.1", "12.2", "12.3"]);
    }
}
