// SPDX-License-Identifier: MIT OR Apache-2.0
//! An axis, linear or logarithmic, with ticks where we want them.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};

use super::ticks;

/// A stretch of numbers and the ticks on it. The library's own axes choose
/// their ticks, and a logarithmic one of less than a decade gets hardly any.
pub struct Axis {
    range: Range<f64>,
    ticks: Vec<f64>,
    logarithmic: bool,
}

impl Axis {
    /// A linear axis with about `wanted` ticks.
    pub fn linear(range: Range<f64>, wanted: u32) -> Self {
        let ticks = ticks::linear(range.start, range.end, wanted);
        Axis { range, ticks, logarithmic: false }
    }

    /// A linear axis with a tick at every whole number.
    pub fn whole_numbers(range: Range<f64>) -> Self {
        let ticks = (range.start.ceil() as i64..=range.end as i64).map(|tick| tick as f64);
        Axis { ticks: ticks.collect(), range, logarithmic: false }
    }

    /// A logarithmic axis; the range lies above zero.
    pub fn logarithmic(range: Range<f64>) -> Self {
        Axis { ticks: ticks::logarithmic(range.start, range.end), range, logarithmic: true }
    }

    fn scale(&self, value: f64) -> f64 {
        if self.logarithmic { value.ln() } else { value }
    }
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        let [value, start, end] = [*value, self.range.start, self.range.end].map(|v| self.scale(v));
        let share = (value - start) / (end - start);
        (f64::from(first) + share * f64::from(last - first)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_land_between_the_ends_by_their_scale() {
        let linear = Axis::linear(0.0..10.0, 5);
        let logarithmic = Axis::logarithmic(1.0..100.0);
        for (axis, value, pixel) in [
            (&linear, 0.0, 500),
            (&linear, 5.0, 300),
            (&linear, 10.0, 100),
            (&logarithmic, 1.0, 500),
            (&logarithmic, 10.0, 300),
            (&logarithmic, 100.0, 100),
        ] {
            assert_eq!(axis.map(&value, (500, 100)), pixel, "{value}");
        }
    }

    #[test]
    fn whole_numbers_are_the_ticks_of_eighths() {
        assert_eq!(Axis::whole_numbers(0.6..4.4).key_points(0), [1.0, 2.0, 3.0, 4.0]);
    }
}
