// SPDX-License-Identifier: MIT OR Apache-2.0
//! The expected imbalance of random placement, exactly.
//!
//! Where each of `N` frames takes one of `C` colors at random, the frames of
//! one color are binomial: `X ~ B(N, 1/C)`. Colors are not independent of each
//! other, but expectations add up all the same, so that a cache of `W` ways
//! holds `C · E[min(X, W)]` frames, and
//!
//! ```text
//! E[imbalance] = C · E[max(0, X − W)]   where the frames fit:  N ≤ C·W
//!              = C · E[max(0, W − X)]   where they do not
//! ```
//!
//! The two differ by `C·E[X] − C·W = N − C·W`, the frames that no placement can hold.

/// The expected imbalance of `frames` frames of random color in a cache of so
/// many colors and ways.
pub(super) fn expected_imbalance(frames: u64, colors: u32, ways: u32) -> f64 {
    let (n, c, w) = (frames as f64, f64::from(colors), u64::from(ways));
    if frames == 0 || colors == 1 {
        return 0.0;
    }
    let fits = frames <= u64::from(colors) * w;
    let last = if fits { frames } else { frames.min(w) };
    // In logarithms, since (1 − 1/C)^N leaves the range of floating point for a
    // few frames per color times hundreds.
    let mut log_probability = n * (-1.0 / c).ln_1p();
    let log_odds = (c - 1.0).ln();
    let mut sum = 0.0;
    for k in 0..=last {
        // One side of W only, where all terms are positive: nothing cancels.
        if (k > w) == fits {
            let term = k.abs_diff(w) as f64 * log_probability.exp();
            sum += term;
            // Beyond the mean, which is at most W, terms only get smaller.
            if fits && term < sum * 1e-17 {
                break;
            }
        }
        // P(k + 1) from P(k).
        log_probability += ((frames - k) as f64).ln() - ((k + 1) as f64).ln() - log_odds;
    }
    c * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All placements, each as likely as any other, counted one by one.
    fn by_enumeration(frames: u32, colors: u32, ways: u32) -> f64 {
        let placements = colors.pow(frames);
        let mut sum = 0u64;
        for mut placement in 0..placements {
            let mut counts = vec![0; colors as usize];
            for _ in 0..frames {
                counts[(placement % colors) as usize] += 1;
                placement /= colors;
            }
            let over: u32 = counts.iter().map(|&n: &u32| n.saturating_sub(ways)).sum();
            sum += u64::from(over - frames.saturating_sub(colors * ways));
        }
        sum as f64 / f64::from(placements)
    }

    #[test]
    fn the_formula_is_the_mean_over_all_placements() {
        for (frames, colors, ways) in
            [(0, 3, 2), (1, 4, 1), (2, 2, 1), (4, 2, 2), (6, 3, 2), (8, 4, 2), (9, 3, 2), (7, 4, 3)]
        {
            let (exact, formula) = (
                by_enumeration(frames, colors, ways),
                expected_imbalance(u64::from(frames), colors, ways),
            );
            assert!((exact - formula).abs() < 1e-9, "{frames} {colors} {ways}: {exact} {formula}");
        }
    }

    #[test]
    fn the_formula_is_what_simulation_finds() {
        let mut rng = fastrand::Rng::with_seed(7);
        for (frames, colors, ways) in
            [(512, 32, 16), (300, 32, 16), (900, 32, 16), (1000, 1000, 1), (16384, 1024, 16)]
        {
            const ROUNDS: u32 = 400;
            let (mut sum, mut squares) = (0.0, 0.0);
            for _ in 0..ROUNDS {
                let mut counts = vec![0u64; colors as usize];
                for _ in 0..frames {
                    counts[rng.usize(..colors as usize)] += 1;
                }
                let held: u64 = counts.iter().map(|&n| n.min(u64::from(ways))).sum();
                let imbalance = (frames.min(u64::from(colors * ways)) - held) as f64;
                sum += imbalance;
                squares += imbalance * imbalance;
            }
            let mean = sum / f64::from(ROUNDS);
            let deviation = (squares / f64::from(ROUNDS) - mean * mean).max(0.0).sqrt();
            let error = deviation / f64::from(ROUNDS).sqrt();
            let formula = expected_imbalance(frames, colors, ways);
            // Five standard errors; the seed is fixed, so the answer is too.
            assert!((mean - formula).abs() <= 5.0 * error + 1e-9, "{mean} ± {error}, {formula}");
        }
    }

    #[test]
    fn large_numbers_stay_finite_and_plausible() {
        // A direct-mapped cache just filled: a share 1/e of it stays empty.
        let half = expected_imbalance(1 << 22, 1 << 22, 1) / f64::from(1 << 22);
        assert!((half - (-1.0f64).exp()).abs() < 1e-6, "{half}");
        // Far too many frames: every color is full.
        assert_eq!(expected_imbalance(1 << 40, 64, 16), 0.0);
        // Few frames in a large cache: nearly zero, but more than zero.
        let few = expected_imbalance(434, 512, 16);
        assert!(few > 0.0 && few < 1e-12, "{few}");
        assert_eq!(expected_imbalance(1000, 1, 16), 0.0);
    }
}
