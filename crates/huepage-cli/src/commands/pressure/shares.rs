// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sums up many shares in bounded memory.

/// Resolution of quantiles: a look has fewer lines than that.
const STEPS: usize = 1000;

/// How often each share was seen, to a thousandth.
#[derive(Clone, Debug)]
pub struct Shares {
    seen: Vec<u32>,
    count: u64,
    sum: f64,
}

impl Default for Shares {
    fn default() -> Self {
        Shares { seen: vec![0; STEPS + 1], count: 0, sum: 0.0 }
    }
}

impl Shares {
    /// Counts one more, from 0 to 1.
    pub fn add(&mut self, share: f64) {
        self.seen[(share.clamp(0.0, 1.0) * STEPS as f64).round() as usize] += 1;
        self.count += 1;
        self.sum += share;
    }

    /// `None` if there is none.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// The least share that at least a part of `rank` of all do not exceed;
    /// `None` if there is none.
    pub fn quantile(&self, rank: f64) -> Option<f64> {
        let wanted = (rank * self.count as f64).ceil().max(1.0) as u64;
        let mut below = 0;
        let step = self.seen.iter().position(|&seen| {
            below += u64::from(seen);
            below >= wanted
        })?;
        Some(step as f64 / STEPS as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_median_and_p95_are_those_of_the_shares() {
        let mut shares = Shares::default();
        for percent in (1..=100).rev() {
            shares.add(f64::from(percent) / 100.0);
        }
        assert!((shares.mean().unwrap() - 0.505).abs() < 1e-12);
        assert_eq!(shares.quantile(0.5), Some(0.5));
        assert_eq!(shares.quantile(0.95), Some(0.95));
        assert_eq!((shares.quantile(0.0), shares.quantile(1.0)), (Some(0.01), Some(1.0)));
    }

    #[test]
    fn one_share_is_all_of_these_and_none_is_none() {
        let mut shares = Shares::default();
        assert_eq!((shares.mean(), shares.quantile(0.5)), (None, None));
        shares.add(0.25);
        assert_eq!((shares.mean(), shares.quantile(0.5)), (Some(0.25), Some(0.25)));
        assert_eq!(shares.quantile(0.95), Some(0.25));
    }
}
