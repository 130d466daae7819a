// SPDX-License-Identifier: MIT OR Apache-2.0
//! Quantiles, plain and weighted.

/// The quantile `q` of ascending values, interpolated between neighbors
/// (type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages", 1996).
///
/// # Panics
/// If there are none.
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let below = at.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (at - below as f64)
}

/// The same of values in any order.
pub fn quantile_of(values: impl IntoIterator<Item = f64>, q: f64) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    quantile(&values, q)
}

/// How far the worst of twenty lies from the best of twenty: p95 / p5 - 1.
pub fn spread(sorted: &[f64]) -> f64 {
    quantile(sorted, 0.95) / quantile(sorted, 0.05) - 1.0
}

/// The least value below or at which the share `q` of all weight is (the inverse of the
/// distribution, type 1 of Hyndman and Fan). Values ascending, each with its weight;
/// `None` if all weights are zero.
pub fn weighted_quantile(sorted: impl Iterator<Item = (f64, u32)> + Clone, q: f64) -> Option<f64> {
    let total: u32 = sorted.clone().map(|(_, weight)| weight).sum();
    let wanted = ((q * f64::from(total)).ceil() as u32).max(1);
    let mut sum = 0;
    sorted.into_iter().find_map(|(value, weight)| {
        sum += weight;
        (sum >= wanted).then_some(value)
    })
}

/// Drawn from a distribution that is nearly the standard normal one, for tests.
#[cfg(test)]
pub fn normal(rng: &mut fastrand::Rng) -> f64 {
    (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate_as_numpy_and_r_do() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(quantile_of(values, 0.5), 2.5);
        assert!((quantile_of(values, 0.05) - 1.15).abs() < 1e-12);
        assert!((spread(&[1.0, 2.0, 3.0, 4.0]) - (3.85 / 1.15 - 1.0)).abs() < 1e-12);
        assert_eq!(spread(&[7.0]), 0.0);
    }

    proptest::proptest! {
        /// The simple twin repeats each value as often as its weight says.
        #[test]
        fn weights_are_repetitions(
            mut values in proptest::collection::vec((0.1f64..1e6, 0u32..4), 1..40),
            q in 0.0f64..=1.0,
        ) {
            values.sort_by(|a, b| a.0.total_cmp(&b.0));
            let repeated: Vec<f64> = values
                .iter()
                .flat_map(|&(value, weight)| std::iter::repeat_n(value, weight as usize))
                .collect();
            let naive = (!repeated.is_empty()).then(|| {
                let rank = ((q * repeated.len() as f64).ceil() as usize).max(1);
                repeated[rank - 1]
            });
            proptest::prop_assert_eq!(weighted_quantile(values.iter().copied(), q), naive);
        }

        #[test]
        fn order_does_not_matter_and_quantiles_are_ordered(
            mut values in proptest::collection::vec(0.1f64..1e6, 1..60),
            seed: u64,
        ) {
            let median = quantile_of(values.clone(), 0.5);
            fastrand::Rng::with_seed(seed).shuffle(&mut values);
            proptest::prop_assert_eq!(median, quantile_of(values.clone(), 0.5));
            proptest::prop_assert!(quantile_of(values.clone(), 0.05) <= median);
            proptest::prop_assert!(median <= quantile_of(values, 0.95));
        }
    }
}
