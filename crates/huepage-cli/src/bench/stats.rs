// SPDX-License-Identifier: MIT OR Apache-2.0
//! Medians, spreads and paired ratios.

/// What a set of samples comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Arithmetic mean.
    pub mean: f64,
    /// Half of the samples lie below.
    pub median: f64,
    /// One sample in twenty lies below.
    pub p5: f64,
    /// One sample in twenty lies above.
    pub p95: f64,
}

impl Summary {
    /// Summarizes samples in any order.
    ///
    /// # Panics
    /// If there are none, or one is no number: a workload returned no figure.
    pub fn of(samples: &[f64]) -> Self {
        assert!(!samples.is_empty(), "no samples to summarize");
        let mut sorted = samples.to_vec();
        sorted.sort_by(|a, b| a.partial_cmp(b).expect("a sample is no number"));
        Summary {
            mean: sorted.iter().sum::<f64>() / sorted.len() as f64,
            median: quantile(&sorted, 0.5),
            p5: quantile(&sorted, 0.05),
            p95: quantile(&sorted, 0.95),
        }
    }

    /// How far a bad run lies from a good one: p95 / p5 - 1.
    pub fn spread(&self) -> f64 {
        self.p95 / self.p5 - 1.0
    }
}

/// The quantile `q` of ascending samples, interpolated between neighbors
/// (type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages", 1996).
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let below = at.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (at - below as f64)
}

/// The median of `ratio(sample, baseline)` over samples of the same round.
/// Pairing takes out what slowed a whole round down. `None` without a pair.
pub fn paired(samples: &[f64], baseline: &[f64], ratio: impl Fn(f64, f64) -> f64) -> Option<f64> {
    let ratios: Vec<f64> = samples.iter().zip(baseline).map(|(&s, &b)| ratio(s, b)).collect();
    (!ratios.is_empty()).then(|| Summary::of(&ratios).median)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate_as_numpy_and_r_do() {
        let summary = Summary::of(&[4.0, 1.0, 3.0, 2.0]);
        assert_eq!((summary.mean, summary.median), (2.5, 2.5));
        assert!((summary.p5 - 1.15).abs() < 1e-12, "{summary:?}");
        assert!((summary.p95 - 3.85).abs() < 1e-12, "{summary:?}");
        assert!((summary.spread() - (3.85 / 1.15 - 1.0)).abs() < 1e-12);
    }

    #[test]
    fn one_sample_is_its_own_summary() {
        let summary = Summary::of(&[7.0]);
        assert_eq!(summary, Summary { mean: 7.0, median: 7.0, p5: 7.0, p95: 7.0 });
        assert_eq!(summary.spread(), 0.0);
    }

    #[test]
    fn pairs_take_out_what_slowed_a_whole_round() {
        // The second round ran on a machine ten times slower: unpaired, the
        // ratio of medians would be 2.0 only by luck; paired, it is exact.
        let baseline = [10.0, 100.0, 12.0];
        let samples = [5.0, 50.0, 6.0];
        assert_eq!(paired(&samples, &baseline, |s, b| b / s), Some(2.0));
        assert_eq!(paired(&samples, &[], |s, b| b / s), None);
    }

    proptest::proptest! {
        #[test]
        fn order_does_not_matter_and_quantiles_are_ordered(
            mut samples in proptest::collection::vec(0.1f64..1e6, 1..60),
            seed: u64,
        ) {
            let summary = Summary::of(&samples);
            fastrand::Rng::with_seed(seed).shuffle(&mut samples);
            let shuffled = Summary::of(&samples);
            proptest::prop_assert_eq!(summary.median, shuffled.median);
            proptest::prop_assert!(summary.p5 <= summary.median && summary.median <= summary.p95);
            proptest::prop_assert!(summary.spread() >= 0.0);
        }
    }
}
