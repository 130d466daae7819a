// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which color each page of a region gets. Pure: no system calls here.

use crate::color::{Color, ColorCount};

/// How a region's pages are colored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// The color is the virtual page number modulo the number of colors: any
    /// contiguous range holds every color equally often, give or take one.
    Balanced,
    /// Only these colors, in turn. A color given twice is used twice as often.
    Colors(Vec<Color>),
    /// Each page draws its color independently, as with a kernel that does not consider
    /// colors. The control in experiments; the same seed draws the same colors.
    Random {
        /// What the drawing starts from.
        seed: u64,
    },
    /// Bin hopping: pages get the colors in turn, in the order of their first touch.
    Sequence,
}

/// Why a policy cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// `Colors` of nothing.
    #[error("the list of colors is empty: name at least one")]
    NoColors,
    /// A color that the cache does not have.
    #[error("color {color} does not exist: valid are 0-{}", count.get() - 1)]
    NoSuchColor {
        /// The color given.
        color: Color,
        /// How many there are.
        count: ColorCount,
    },
}

impl Policy {
    /// Checks the policy against the number of colors.
    ///
    /// # Errors
    /// [`PolicyError`] names what does not fit.
    pub fn check(&self, count: ColorCount) -> Result<(), PolicyError> {
        let Policy::Colors(list) = self else { return Ok(()) };
        if list.is_empty() {
            return Err(PolicyError::NoColors);
        }
        match list.iter().find(|color| color.0 >= count.get()) {
            Some(&color) => Err(PolicyError::NoSuchColor { color, count }),
            None => Ok(()),
        }
    }

    /// The color of each of `pages` pages of which the first has virtual page
    /// number `first`. For [`Policy::Sequence`]: in order of touch.
    ///
    /// The policy must have passed [`Policy::check`].
    pub fn colors(&self, first: usize, pages: usize, count: ColorCount) -> Vec<Color> {
        let n = count.get() as usize;
        let from = |start: usize| (0..pages).map(|i| Color(((start % n + i) % n) as u32)).collect();
        match self {
            Policy::Balanced => from(first),
            Policy::Sequence => from(0),
            Policy::Colors(list) => list.iter().copied().cycle().take(pages).collect(),
            Policy::Random { seed } => {
                let mut rng = fastrand::Rng::with_seed(*seed);
                (0..pages).map(|_| Color(rng.u32(0..count.get()))).collect()
            }
        }
    }

    /// How many pages of each color a pool must hold for a region of `pages`
    /// pages whose first page number is a multiple of the number of colors.
    ///
    /// For [`Policy::Random`] enough for other seeds too: the mean plus five
    /// standard deviations, which one color in three million exceeds.
    pub fn quotas(&self, pages: usize, count: ColorCount) -> Vec<usize> {
        let n = count.get() as usize;
        match self {
            Policy::Balanced | Policy::Sequence => {
                (0..n).map(|color| (pages + n - 1 - color) / n).collect()
            }
            Policy::Colors(list) => {
                let mut quotas = vec![0; n];
                for (place, color) in list.iter().enumerate() {
                    quotas[color.index()] += (pages + list.len() - 1 - place) / list.len();
                }
                quotas
            }
            Policy::Random { .. } => {
                let mean = pages as f64 / n as f64;
                let ample = (mean + 5.0 * mean.sqrt()).ceil() as usize;
                let mut quotas = vec![ample.min(pages); n];
                let exact = histogram(&self.colors(0, pages, count), count);
                for (quota, exact) in quotas.iter_mut().zip(exact) {
                    *quota = exact.max(*quota);
                }
                quotas
            }
        }
    }
}

/// How often each color comes up.
pub(super) fn histogram(colors: &[Color], count: ColorCount) -> Vec<usize> {
    let mut histogram = vec![0; count.get() as usize];
    colors.iter().for_each(|color| histogram[color.index()] += 1);
    histogram
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn count(n: u32) -> ColorCount {
        ColorCount::new(n).unwrap()
    }

    fn policy(n: u32) -> impl Strategy<Value = Policy> {
        prop_oneof![
            Just(Policy::Balanced),
            Just(Policy::Sequence),
            any::<u64>().prop_map(|seed| Policy::Random { seed }),
            proptest::collection::vec((0..n).prop_map(Color), 1..20).prop_map(Policy::Colors),
        ]
    }

    #[test]
    fn a_list_that_cannot_be_used_is_named() {
        assert_eq!(Policy::Colors(vec![]).check(count(4)), Err(PolicyError::NoColors));
        assert_eq!(
            Policy::Colors(vec![Color(3), Color(4)]).check(count(4)),
            Err(PolicyError::NoSuchColor { color: Color(4), count: count(4) })
        );
        assert_eq!(Policy::Colors(vec![Color(3)]).check(count(4)), Ok(()));
        assert_eq!(
            PolicyError::NoSuchColor { color: Color(4), count: count(4) }.to_string(),
            "color 4 does not exist: valid are 0-3"
        );
    }

    #[test]
    fn random_draws_every_color_about_equally_and_each_seed_its_own() {
        let draw = |seed| Policy::Random { seed }.colors(0, 32_000, count(32));
        let seen = histogram(&draw(1), count(32));
        // Mean 1000, standard deviation 31.
        assert!(seen.iter().all(|n| (800..1200).contains(n)), "{seen:?}");
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    proptest! {
        /// The closed forms of `quotas` against counting.
        #[test]
        fn quotas_are_what_the_pages_need(
            (n, policy) in (1u32..80).prop_flat_map(|n| (Just(n), policy(n))),
            pages in 0usize..3000,
            block in 0usize..1000,
        ) {
            let count = count(n);
            prop_assert_eq!(policy.check(count), Ok(()));
            let need = histogram(&policy.colors(block * n as usize, pages, count), count);
            let quotas = policy.quotas(pages, count);
            if matches!(policy, Policy::Random { .. }) {
                prop_assert!(quotas.iter().zip(&need).all(|(quota, need)| quota >= need));
            } else {
                prop_assert_eq!(quotas, need);
            }
        }

        #[test]
        fn balanced_spreads_any_contiguous_range_evenly(
            n in 1u32..80, first in 0usize..1 << 40, pages in 1usize..600,
            from in 0usize..600, len in 1usize..600,
        ) {
            let colors = Policy::Balanced.colors(first, pages, count(n));
            for (i, color) in colors.iter().enumerate() {
                prop_assert_eq!(color.index(), (first + i) % n as usize);
            }
            let from = from.min(pages - 1);
            let part = &colors[from..(from + len).min(pages)];
            let seen = histogram(part, count(n));
            let (min, max) = (seen.iter().min().unwrap(), seen.iter().max().unwrap());
            prop_assert!(max - min <= 1, "{:?}", seen);
        }

        #[test]
        fn listed_colors_take_turns(
            list in proptest::collection::vec((0u32..64).prop_map(Color), 1..20),
            pages in 0usize..300,
        ) {
            let colors = Policy::Colors(list.clone()).colors(7, pages, count(64));
            for (i, color) in colors.iter().enumerate() {
                prop_assert_eq!(*color, list[i % list.len()]);
            }
        }
    }
}
