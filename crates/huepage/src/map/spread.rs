// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts frames by color, for few colors and for millions.

use std::collections::BTreeMap;

use super::{Balance, random::expected_imbalance};
use crate::color::{Color, ColorCount};

/// Colors per leaf of the sparse form.
const LEAF: usize = 4096;

/// The most colors of which an area keeps a histogram in any case.
const SMALL: u32 = 64;

/// How many frames have each color.
#[derive(Debug)]
pub(super) struct Spread {
    colors: ColorCount,
    frames: u64,
    counts: Counts,
}

#[derive(Debug)]
enum Counts {
    /// One counter each.
    Dense(Vec<u64>),
    /// Memory-side caches: one byte each, in leaves that exist once a frame
    /// falls there. Counts that outgrow the byte are kept beside it.
    Sparse { leaves: Vec<Option<Box<[u8; LEAF]>>>, large: BTreeMap<u32, u64> },
}

impl Spread {
    /// No frames yet.
    pub fn new(colors: ColorCount) -> Self {
        let counts = if colors.get() <= Balance::LISTED {
            Counts::Dense(vec![0; colors.get() as usize])
        } else {
            let leaves = (colors.get() as usize).div_ceil(LEAF);
            Counts::Sparse { leaves: vec![None; leaves], large: BTreeMap::new() }
        };
        Spread { colors, frames: 0, counts }
    }

    /// Counts one more frame.
    pub fn add(&mut self, color: Color) {
        self.frames += 1;
        match &mut self.counts {
            Counts::Dense(counts) => counts[color.index()] += 1,
            Counts::Sparse { leaves, large } => {
                let leaf = &mut leaves[color.index() / LEAF];
                let leaf = leaf.get_or_insert_with(|| Box::new([0; LEAF]));
                let count = &mut leaf[color.index() % LEAF];
                match count.checked_add(1) {
                    Some(more) => *count = more,
                    None => *large.entry(color.0).or_insert(u64::from(u8::MAX)) += 1,
                }
            }
        }
    }

    /// What follows for a cache of so many ways. `whole` asks for the histogram
    /// even where it is longer than the frames are many.
    pub fn balance(&self, ways: u32, whole: bool) -> Balance {
        let colors = self.colors.get();
        match &self.counts {
            Counts::Dense(counts) => {
                let mut balance = Balance::of(counts.clone(), ways);
                if !(whole || colors <= SMALL || self.frames >= u64::from(colors)) {
                    balance.histogram = Vec::new();
                }
                balance
            }
            Counts::Sparse { leaves, large } => {
                let seen = || seen(leaves, large);
                let all_seen = seen().count() as u64 == u64::from(colors);
                let held = seen().map(|count| count.min(u64::from(ways))).sum();
                let room = u64::from(colors) * u64::from(ways);
                Balance {
                    frames: self.frames,
                    held,
                    imbalance: self.frames.min(room) - held,
                    imbalance_if_random: expected_imbalance(self.frames, colors, ways),
                    fewest: if all_seen { seen().min().unwrap_or(0) } else { 0 },
                    most: seen().max().unwrap_or(0),
                    histogram: Vec::new(),
                }
            }
        }
    }
}

/// The counts of all colors that have a frame.
fn seen<'a>(
    leaves: &'a [Option<Box<[u8; LEAF]>>],
    large: &'a BTreeMap<u32, u64>,
) -> impl Iterator<Item = u64> + 'a {
    leaves.iter().enumerate().flat_map(move |(leaf, counts)| {
        let counts = counts.iter().flat_map(|counts| counts.iter().enumerate());
        counts.filter(|(_, count)| **count > 0).map(move |(index, &count)| {
            let color = (leaf * LEAF + index) as u32;
            let beyond = (count == u8::MAX).then(|| large.get(&color)).flatten();
            beyond.copied().unwrap_or(u64::from(count))
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spread(colors: u32, frames: &[u32]) -> Spread {
        let mut spread = Spread::new(ColorCount::new(colors).unwrap());
        frames.iter().for_each(|&color| spread.add(Color(color)));
        spread
    }

    #[test]
    fn a_perfect_placement_has_no_imbalance_and_the_worst_has_all() {
        let even: Vec<u32> = (0..512).map(|i| i % 32).collect();
        let balance = spread(32, &even).balance(16, false);
        assert_eq!((balance.imbalance, balance.held, balance.share()), (0, 512, 0.0));
        assert_eq!(balance.histogram, vec![16; 32]);
        let worst = spread(32, &[7; 512]).balance(16, false);
        assert_eq!((worst.imbalance, worst.held), (496, 16));
        assert_eq!((worst.fewest, worst.most), (0, 512));
        assert_eq!(worst.share(), 496.0 / 512.0);
    }

    #[test]
    fn what_no_placement_could_hold_is_not_imbalance() {
        let twice: Vec<u32> = (0..64).map(|i| i % 4).collect();
        assert_eq!(spread(4, &twice).balance(8, false).imbalance, 0);
        assert_eq!(spread(4, &[]).balance(8, false), Balance::default());
    }

    #[test]
    fn a_long_histogram_of_few_frames_is_left_out_of_areas_only() {
        let few = spread(1000, &[1, 2, 3]);
        assert!(few.balance(8, false).histogram.is_empty());
        assert_eq!(few.balance(8, true).histogram.len(), 1000);
    }

    proptest! {
        #[test]
        fn the_balance_is_that_of_its_definition(
            colors in prop_oneof![1u32..40, 4097u32..9000],
            ways in 1u32..20,
            draws in proptest::collection::vec((any::<u32>(), 1usize..400), 0..30),
        ) {
            let frames: Vec<u32> =
                draws.iter().flat_map(|&(c, n)| std::iter::repeat_n(c % colors, n)).collect();
            let balance = spread(colors, &frames).balance(ways, true);
            // The naive twin: the other form of the formula, on plain counters.
            let mut counts = vec![0u64; colors as usize];
            frames.iter().for_each(|&c| counts[c as usize] += 1);
            let over: u64 = counts.iter().map(|n| n.saturating_sub(u64::from(ways))).sum();
            let room = u64::from(colors) * u64::from(ways);
            let never = (frames.len() as u64).saturating_sub(room);
            prop_assert_eq!(balance.imbalance, over - never);
            prop_assert_eq!(balance.held, frames.len() as u64 - over);
            prop_assert_eq!(balance.most, *counts.iter().max().unwrap());
            prop_assert_eq!(balance.fewest, *counts.iter().min().unwrap());
            if !frames.is_empty() && colors < 4097 {
                prop_assert_eq!(balance.histogram, counts);
            }
        }
    }
}
