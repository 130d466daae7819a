// SPDX-License-Identifier: MIT OR Apache-2.0
//! How reliable a figure is: it is computed again and again from allocations and blocks
//! of visits drawn with replacement from the measured ones (B. Efron and R. Tibshirani,
//! "An Introduction to the Bootstrap", 1993).

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use super::stats::quantile;

/// Draws: with so many the ends of an interval vary by less than a tenth of its width.
pub const DRAWS: usize = 1000;

/// A figure with its interval of 95 %; tests on simulated machines check how often it
/// contains the true figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Estimate {
    /// The interval that follows from the draws of a figure, each of `n` allocations.
    ///
    /// Plain percentiles are too narrow for few allocations, since draws from a sample
    /// vary less than samples do. They are moved outward as would be right for a mean
    /// (T. Hesterberg, "What Teachers Should Know About the Bootstrap", 2015, section
    /// 4: expanded percentiles).
    pub fn new(value: f64, mut draws: Vec<f64>, n: usize) -> Self {
        if draws.is_empty() {
            return Estimate { value, low: value, high: value };
        }
        draws.sort_by(f64::total_cmp);
        let tail = tail(n);
        // Draws have few distinct values; the figure itself is always inside.
        let low = quantile(&draws, tail).min(value);
        Estimate { value, low, high: quantile(&draws, 1.0 - tail).max(value) }
    }
}

#[cfg(test)]
impl Estimate {
    /// Made up, with the figure in the middle.
    pub fn within(low: f64, high: f64) -> Self {
        Estimate { value: (low + high) / 2.0, low, high }
    }
}

/// The share of draws that is left out on each side.
fn tail(n: usize) -> f64 {
    let normal = Normal::standard();
    if n < 2 {
        return 0.0;
    }
    let freedom = (n - 1) as f64;
    let t = StudentsT::new(0.0, 1.0, freedom).map_or(1.96, |t| t.inverse_cdf(0.975));
    normal.cdf(-t * (n as f64 / freedom).sqrt())
}

/// How often each of `n` things is drawn when `n` are drawn with replacement.
pub fn weights(n: usize, rng: &mut fastrand::Rng) -> Vec<u32> {
    let mut weights = vec![0; n];
    (0..n).for_each(|_| weights[rng.usize(..n)] += 1);
    weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::stats::normal;

    #[test]
    fn few_allocations_leave_out_less() {
        // Hesterberg's table: n = 10 leaves out 0.9 %, n = 20 1.6 %.
        assert!((tail(10) - 0.0086).abs() < 0.0003, "{}", tail(10));
        assert!((tail(20) - 0.0159).abs() < 0.0003, "{}", tail(20));
        assert!((tail(100_000) - 0.025).abs() < 1e-4);
        assert_eq!(tail(1), 0.0);
    }

    /// The mean of draws from a normal distribution, whose true interval is known.
    #[test]
    fn the_true_mean_is_inside_in_19_of_20_runs() {
        let mut rng = fastrand::Rng::with_seed(3);
        let mut inside = 0;
        for _ in 0..400 {
            let sample: Vec<f64> = (0..12).map(|_| normal(&mut rng)).collect();
            let mean = |weights: &[u32]| {
                sample.iter().zip(weights).map(|(x, &w)| x * f64::from(w)).sum::<f64>() / 12.0
            };
            let draws = (0..400).map(|_| mean(&weights(12, &mut rng))).collect();
            let estimate = Estimate::new(mean(&[1; 12]), draws, 12);
            inside += u32::from(estimate.low <= 0.0 && 0.0 <= estimate.high);
        }
        // A few less than 380 are expected, since the tails of so few draws are coarse.
        // Four standard deviations are 19.
        assert!((357..=397).contains(&inside), "{inside} of 400");
    }
}
