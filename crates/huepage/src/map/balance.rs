// SPDX-License-Identifier: MIT OR Apache-2.0
//! How evenly frames spread over the colors of a cache, as one number.
//!
//! A cache of `C` colors and `W` ways holds `W` pages of each color. Of frames
//! whose colors are taken `n₁ … n_C` times (`N` in all), it holds at most
//! `Σ min(n_c, W)` together; a perfect placement would let it hold
//! `min(N, C·W)`. The imbalance is the difference:
//!
//! ```text
//! imbalance = min(N, C·W) − Σ_c min(n_c, W)
//!           = Σ_c max(0, n_c − W) − max(0, N − C·W)
//! ```
//!
//! that is, the pages that cannot be in the cache together although it has
//! room, without those that no placement could hold. It is 0 exactly where no
//! color has room left while another has too many.

use serde::{Deserialize, Serialize};

use super::random::expected_imbalance;
use crate::{color::ColorCount, units::Bytes};

/// Whether colors by frame number are those of the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trust {
    /// The cache is plainly indexed, and no hypervisor was detected.
    Plain,
    /// The last-level cache is cut into slices by a hash: frames with one
    /// number modulo the colors need not meet in one set.
    Hashed,
    /// In a virtual machine frame numbers are the guest's own; the host's
    /// frames, and so the colors, are others. The figures are those of the
    /// guest's numbers.
    VirtualMachine,
}

/// A cache that the map computes colors for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappedCache {
    /// `L2`, `L3`, `node 0 memory-side cache 1`, ….
    pub name: String,
    /// Capacity.
    pub size: Bytes,
    /// Pages of one color that it holds.
    pub ways: u32,
    /// Page colors, at least two.
    pub colors: ColorCount,
    /// For a memory-side cache: whose memory it caches. Other frames do not count.
    pub node: Option<u32>,
    /// Whether colors by frame number are those of this cache.
    pub trust: Trust,
}

/// How the frames of an area spread over the colors of one cache.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Balance {
    /// Distinct frames counted.
    pub frames: u64,
    /// How many the cache holds together, as they lie: `Σ min(n_c, W)`.
    pub held: u64,
    /// Pages that it does not hold although it has room.
    pub imbalance: u64,
    /// What to expect of `imbalance` where each frame's color is drawn at
    /// random, each color equally likely.
    pub imbalance_if_random: f64,
    /// Frames of the color that has the fewest.
    pub fewest: u64,
    /// Frames of the color that has the most.
    pub most: u64,
    /// Frames of every color, in order. Empty where no frame was counted, where
    /// the cache has more than [`Balance::LISTED`] colors, and for an area of
    /// fewer frames than the cache has colors if these are more than 64.
    pub histogram: Vec<u64>,
}

impl Balance {
    /// The most colors of which a histogram is kept: those of a memory-side
    /// cache would be millions.
    pub const LISTED: u32 = 4096;

    /// What follows from the frames of every color.
    pub fn of(histogram: Vec<u64>, ways: u32) -> Self {
        let (colors, ways) = (histogram.len() as u64, u64::from(ways));
        let frames: u64 = histogram.iter().sum();
        let held = histogram.iter().map(|&count| count.min(ways)).sum();
        Balance {
            frames,
            held,
            imbalance: frames.min(colors * ways) - held,
            imbalance_if_random: expected_imbalance(frames, colors as u32, ways as u32),
            fewest: histogram.iter().copied().min().unwrap_or(0),
            most: histogram.iter().copied().max().unwrap_or(0),
            histogram: if frames > 0 { histogram } else { Vec::new() },
        }
    }

    /// The spread of several areas together in one cache. A frame that is in more than
    /// one of them counts in each. `None` if it cannot be computed, since an area with
    /// frames keeps no histogram, or since the cache has more than [`Balance::LISTED`]
    /// colors.
    pub fn sum<'a>(
        cache: &MappedCache,
        parts: impl IntoIterator<Item = &'a Balance>,
    ) -> Option<Self> {
        if cache.colors.get() > Self::LISTED {
            return None;
        }
        let mut sum = vec![0; cache.colors.get() as usize];
        for part in parts {
            if part.frames > 0 && part.histogram.len() != sum.len() {
                return None;
            }
            sum.iter_mut().zip(&part.histogram).for_each(|(all, more)| *all += more);
        }
        Some(Balance::of(sum, cache.ways))
    }

    /// `imbalance` as a share of what a perfect placement would let the cache
    /// hold: 0 to 1; 0 for no frames.
    pub fn share(&self) -> f64 {
        share(self.imbalance as f64, self.held + self.imbalance)
    }
}

fn share(part: f64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_that_are_uneven_each_can_be_even_together() {
        let cache = MappedCache {
            name: "L2".into(),
            size: Bytes::kib(64),
            ways: 4,
            colors: ColorCount::new(4).unwrap(),
            node: None,
            trust: Trust::Plain,
        };
        let low = Balance::of(vec![8, 8, 0, 0], 4);
        let high = Balance::of(vec![0, 0, 8, 8], 4);
        assert_eq!((low.imbalance, low.held, low.fewest, low.most), (8, 8, 0, 8));
        let both = Balance::sum(&cache, [&low, &high, &Balance::default()]).unwrap();
        assert_eq!((both.imbalance, both.held, both.histogram), (0, 16, vec![8; 4]));
        let unlisted = Balance { histogram: Vec::new(), ..low };
        assert_eq!(Balance::sum(&cache, [&unlisted]), None);
    }
}
