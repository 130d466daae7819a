// SPDX-License-Identifier: MIT OR Apache-2.0
//! Theory of pages at random, and means.

/// The share of lines that miss when pages with random colors are read again and
/// again in the same order, with LRU: those of colors with more pages than ways.
/// A page is one of them if at least `ways` of the others have its color.
pub fn random_miss_share(pages: u64, colors: u64, ways: u64) -> f64 {
    let others = pages.saturating_sub(1) as f64;
    let p = 1.0 / colors as f64;
    // The binomial distribution, term by term from none on.
    let mut term = (1.0 - p).powf(others);
    let mut fewer = 0.0;
    for k in 0..ways {
        if k as f64 > others {
            break;
        }
        fewer += term;
        term *= (others - k as f64) / (k as f64 + 1.0) * p / (1.0 - p);
    }
    (1.0 - fewer).clamp(0.0, 1.0)
}

/// The bandwidth at a share of misses, as a share of the peak.
pub(super) fn peak_share(miss_share: f64, miss_cost: f64) -> f64 {
    1.0 / (1.0 + miss_share * (miss_cost - 1.0))
}

/// The mean, and the standard deviation of a sample: 0 for a single value.
pub(super) fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    if values.len() < 2 {
        return (mean, 0.0);
    }
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direct_mapped_cache_filled_once_at_random_misses_1_minus_1_over_e() {
        let share = random_miss_share(512, 512, 1);
        assert!((share - (1.0 - (-1.0f64).exp())).abs() < 0.001, "{share}");
        assert_eq!(random_miss_share(1, 512, 1), 0.0);
        assert_eq!(random_miss_share(10, 32, 16), 0.0);
    }

    #[test]
    fn theory_is_what_throwing_pages_gives() {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 33
        };
        for (pages, colors, ways) in [(256, 512, 1), (512, 32, 16), (640, 32, 16), (1925, 1024, 2)]
        {
            let (mut missed, throws) = (0, 400);
            for _ in 0..throws {
                let mut of_color = vec![0u64; colors as usize];
                (0..pages).for_each(|_| of_color[(next() % colors) as usize] += 1);
                missed += of_color.iter().filter(|count| **count > ways).sum::<u64>();
            }
            let found = missed as f64 / (throws * pages) as f64;
            let theory = random_miss_share(pages, colors, ways);
            assert!((found - theory).abs() < 0.015, "{pages} {colors} {ways}: {found} {theory}");
        }
    }

    #[test]
    fn a_miss_of_3_1_hits_gives_the_80_percent_at_an_eighth() {
        let share = peak_share(random_miss_share(64, 512, 1), 3.1);
        assert!((share - 0.8).abs() < 0.005, "{share}");
        assert_eq!(peak_share(0.0, 3.1), 1.0);
    }

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        assert_eq!(mean_and_deviation(&[2.0, 4.0]), (3.0, 2f64.sqrt()));
        assert_eq!(mean_and_deviation(&[5.0]), (5.0, 0.0));
    }
}
