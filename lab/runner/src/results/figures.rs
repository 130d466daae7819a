// SPDX-License-Identifier: MIT OR Apache-2.0
//! Several values of one metric.

/// To a millionth: counts of lines, and instructions in a million pages, are no finer.
pub fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// Their mean, the least and the most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// The mean.
    pub mean: f64,
    /// The smallest value.
    pub least: f64,
    /// The largest value.
    pub most: f64,
}

impl Figures {
    /// None if there are no values.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().collect();
        (!values.is_empty()).then(|| Figures {
            mean: values.iter().sum::<f64>() / values.len() as f64,
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            most: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }
}
