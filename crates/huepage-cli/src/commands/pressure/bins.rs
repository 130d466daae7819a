// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run of any length as a bounded number of bins: when there are too many, neighbors
//! are joined in pairs.

use std::time::Duration;

use huepage::color::Pressure;

use super::tally::Look;

/// More bins than this cannot be distinguished in a picture.
const MOST: usize = 800;

/// Some looks in a row.
#[derive(Clone, Debug)]
pub struct Bin {
    /// From the end of the look before.
    pub from: Duration,
    /// To the end of the last of them.
    pub to: Duration,
    pub sum: Pressure,
    pub interrupted: u64,
}

/// All looks of a run.
#[derive(Clone, Debug)]
pub struct Bins {
    pub bins: Vec<Bin>,
    each: u64,
}

impl Default for Bins {
    fn default() -> Self {
        Bins { bins: Vec::new(), each: 1 }
    }
}

impl Bins {
    /// Adds a look that ended at `at`.
    pub fn add(&mut self, look: Look, at: Duration) {
        let from = self.bins.last().map_or(Duration::ZERO, |bin| bin.to);
        let interrupted = u64::from(look.is_interrupted());
        let bin = Bin { from, to: at, sum: look.0, interrupted };
        match self.bins.last_mut() {
            Some(last) if last.sum.looks < self.each => last.join(&bin),
            _ => self.bins.push(bin),
        }
        if self.bins.len() > MOST {
            self.halve();
        }
    }

    fn halve(&mut self) {
        let bins = std::mem::take(&mut self.bins);
        self.bins.extend(bins.chunks(2).map(|pair| {
            let mut bin = pair[0].clone();
            pair[1..].iter().for_each(|next| bin.join(next));
            bin
        }));
        self.each *= 2;
    }
}

impl Bin {
    fn join(&mut self, next: &Bin) {
        self.to = next.to;
        self.sum += &next.sum;
        self.interrupted += next.interrupted;
    }
}

#[cfg(test)]
mod tests {
    use super::{super::sample::look, *};

    #[test]
    fn a_long_run_keeps_every_look_in_few_bins_without_gaps() {
        let mut bins = Bins::default();
        for i in 1..=10_000 {
            bins.add(look(&[i % 3, 0], Pressure::WAIT), Duration::from_secs(i));
            assert!(bins.bins.len() <= MOST);
        }
        assert!(bins.bins.len() > MOST / 2 - 1, "{}", bins.bins.len());
        assert_eq!(bins.bins.iter().map(|bin| bin.sum.looks).sum::<u64>(), 10_000);
        assert_eq!(bins.bins[0].from, Duration::ZERO);
        assert_eq!(bins.bins.last().unwrap().to, Duration::from_secs(10_000));
        assert!(bins.bins.windows(2).all(|pair| pair[0].to == pair[1].from));
        // All but the last are full.
        let (last, full) = bins.bins.split_last().unwrap();
        assert!(full.iter().all(|bin| bin.sum.looks == bins.each) && last.sum.looks <= bins.each);
    }

    #[test]
    fn a_short_run_has_a_bin_for_each_look() {
        let mut bins = Bins::default();
        for i in 1..=40 {
            bins.add(look(&[0, 0], Duration::from_millis(i)), Duration::from_millis(100 * i));
        }
        assert_eq!(bins.bins.len(), 40);
        assert_eq!(bins.bins.iter().filter(|bin| bin.interrupted == 1).count(), 40);
    }
}
