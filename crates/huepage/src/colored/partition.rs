// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts of a cache, as colors: memory in one part does not evict memory in another.

use crate::{
    color::{Color, ColorCount},
    place::Policy,
};

/// Some of the cache's colors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    colors: Vec<Color>,
}

/// Why a partition cannot be split so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PartitionError {
    /// No parts, or one of no size.
    #[error("each part needs a share of at least 1: name at least one")]
    NoShare,
    /// More parts than colors.
    #[error("{colors} colors do not make {parts} parts: split into fewer")]
    TooFewColors {
        /// Colors there are.
        colors: usize,
        /// Parts asked for.
        parts: usize,
    },
}

impl Partition {
    /// All colors.
    pub fn whole(count: ColorCount) -> Self {
        Partition { colors: count.iter().collect() }
    }

    /// Disjoint parts in proportion to `shares`, which together are all of this
    /// one: `[1, 3]` is a quarter and the rest. Shares of a color are given to
    /// the parts that lack most; each part has at least one color.
    ///
    /// ```
    /// use huepage::{color::ColorCount, colored::Partition};
    ///
    /// let cache = Partition::whole(ColorCount::new(32).unwrap());
    /// let [small, rest] = &cache.split(&[1, 3])?[..] else { unreachable!() };
    /// assert_eq!((small.colors().len(), rest.colors().len()), (8, 24));
    /// # Ok::<(), huepage::colored::PartitionError>(())
    /// ```
    ///
    /// # Errors
    /// [`PartitionError`]
    pub fn split(&self, shares: &[u32]) -> Result<Vec<Partition>, PartitionError> {
        let (colors, parts) = (self.colors.len(), shares.len());
        if shares.is_empty() || shares.contains(&0) {
            return Err(PartitionError::NoShare);
        }
        if parts > colors {
            return Err(PartitionError::TooFewColors { colors, parts });
        }
        let mut sizes = vec![1usize; parts];
        for _ in parts..colors {
            // The part that has the least for its share; the first of equals.
            let has_least = |a: &usize, b: &usize| {
                let (a, b) = (*a, *b);
                let left = sizes[a] as u128 * u128::from(shares[b]);
                let right = sizes[b] as u128 * u128::from(shares[a]);
                left.cmp(&right)
            };
            let next = (0..parts).min_by(has_least).expect("there is a part");
            sizes[next] += 1;
        }
        let mut rest = &self.colors[..];
        let mut part = |size: usize| {
            let (colors, others) = rest.split_at(size);
            rest = others;
            Partition { colors: colors.to_vec() }
        };
        Ok(sizes.into_iter().map(&mut part).collect())
    }

    /// Its colors, ascending.
    pub fn colors(&self) -> &[Color] {
        &self.colors
    }

    /// Places memory in it.
    pub fn policy(&self) -> Policy {
        Policy::Colors(self.colors.clone())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parts_are_disjoint_whole_and_as_near_to_their_shares_as_colors_allow(
            colors in 1u32..200,
            shares in proptest::collection::vec(1u32..50, 1..12),
        ) {
            let whole = Partition::whole(ColorCount::new(colors).unwrap());
            let parts = match whole.split(&shares) {
                Ok(parts) => parts,
                Err(error) => {
                    let parts = shares.len();
                    let colors = colors as usize;
                    prop_assert_eq!(error, PartitionError::TooFewColors { colors, parts });
                    prop_assert!(parts > colors);
                    return Ok(());
                }
            };
            let all: Vec<Color> = parts.iter().flat_map(|p| p.colors().to_vec()).collect();
            prop_assert_eq!(&all[..], whole.colors());
            let total: u32 = shares.iter().sum();
            for (part, &share) in parts.iter().zip(&shares) {
                let exact = f64::from(colors) * f64::from(share) / f64::from(total);
                let size = part.colors().len() as f64;
                prop_assert!(size >= 1.0);
                // Rounding up small parts takes at most one color for each of them from
                // the large parts.
                prop_assert!((size - exact).abs() <= shares.len() as f64, "{size} for {exact}");
                if exact >= 1.0 && shares.len() == 2 {
                    prop_assert!((size - exact).abs() <= 1.0, "{size} for {exact}");
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_split_is_said() {
        let whole = Partition::whole(ColorCount::new(4).unwrap());
        assert_eq!(whole.split(&[]), Err(PartitionError::NoShare));
        assert_eq!(whole.split(&[1, 0]), Err(PartitionError::NoShare));
        let error = whole.split(&[1; 5]).unwrap_err();
        assert_eq!(error.to_string(), "4 colors do not make 5 parts: split into fewer");
        let halves = whole.split(&[1, 1]).unwrap();
        assert_eq!(halves[1].colors(), [Color(2), Color(3)]);
        assert_eq!(halves[1].split(&[1]).unwrap(), [halves[1].clone()]);
    }
}
