// SPDX-License-Identifier: MIT OR Apache-2.0
//! Drawing pages from the kernel until the colors needed are there.

use super::{Mechanism, PlaceError, Policy, Pool};
use crate::{
    available_memory,
    color::{Color, ColorOracle},
    mapping::{Mapping, PageAddr, PageKind, page_size},
    units::Bytes,
};

/// How many times as many pages as in the first draw are classified before giving up:
/// far beyond chance if all colors are equally likely.
const DRAWS: usize = 4;

/// At least so many pages are classified in any case: the free lists of a machine in
/// use can give hundreds of frames in a row that leave a color out.
const LEAST: usize = 2048;

/// One page in this many is kept beyond the need, to repair drift from.
const SPARE: usize = 20;

impl Pool {
    /// Draws pages from the kernel, has the oracle classify them, and keeps
    /// what a region of `size` placed by `policy` needs and one page in twenty
    /// to spare. The others go back to the kernel and are never taken again.
    ///
    /// # Errors
    /// [`PlaceError::ColorsNotDrawn`] if some colors stay short;
    /// [`PlaceError::NotEnoughMemory`] before a draw that would exhaust the
    /// machine; [`PlaceError::Color`] from the oracle; [`PlaceError::NoBytes`];
    /// [`PlaceError::Policy`].
    pub fn build(
        oracle: &mut dyn ColorOracle,
        size: Bytes,
        policy: &Policy,
    ) -> Result<Self, PlaceError> {
        Self::build_with(oracle, size, policy, None)
    }

    /// As [`Pool::build`], with the mechanism that moves pages forced.
    ///
    /// # Errors
    /// As [`Pool::build`]; [`PlaceError::NeedsMove`] if the mechanism is missing.
    pub fn build_with(
        oracle: &mut dyn ColorOracle,
        size: Bytes,
        policy: &Policy,
        mechanism: Option<Mechanism>,
    ) -> Result<Self, PlaceError> {
        let count = oracle.count();
        policy.check(count)?;
        if size.0 == 0 {
            return Err(PlaceError::NoBytes);
        }
        let pages = size.pages(page_size());
        // Before anything that takes memory or time for each page.
        check_memory(pages)?;
        let mut pool = Pool::new(count, mechanism)?;
        let quotas = policy.quotas(pages, count);
        let mut found: Vec<Vec<PageAddr>> = vec![Vec::new(); quotas.len()];
        let mut surplus = Vec::new();
        let mut drawn = 0;
        let bound = LEAST.max(DRAWS * next_draw(&quotas, &vec![0; quotas.len()]));
        loop {
            let held: Vec<usize> = found.iter().map(Vec::len).collect();
            let pages = next_draw(&quotas, &held);
            if pages == 0 {
                break;
            }
            if drawn >= bound {
                let is_short = |color: &Color| held[color.index()] < quotas[color.index()];
                let missing = count.iter().filter(is_short).collect();
                return Err(PlaceError::ColorsNotDrawn { missing, drawn });
            }
            let pages = pages.min(bound - drawn);
            check_memory(pages)?;
            let mapping = Mapping::populated(pages, PageKind::Base)
                .map_err(PlaceError::system("draw pages from the kernel"))?;
            let arena = pool.adopt(mapping)?;
            let batch: Vec<PageAddr> = arena.mapping().iter().collect();
            // SAFETY: the pages were just mapped, and no other code has their
            // addresses.
            let told = unsafe { oracle.classify(&batch) }?;
            drawn += pages;
            for (page, color) in batch.into_iter().zip(told) {
                match color.and_then(|color| found.get_mut(color.index())) {
                    Some(found) => found.push(page),
                    None => surplus.push(page),
                }
            }
        }
        let keep = with_spare(&quotas);
        for ((color, mut pages), keep) in count.iter().zip(found).zip(keep) {
            surplus.extend(pages.split_off(keep.min(pages.len())));
            for page in pages {
                pool.slots.put(page, color, false);
            }
        }
        // Kept until now, since otherwise the kernel would have given the same frames
        // again.
        surplus.sort_unstable();
        pool.release(surplus)?;
        Ok(pool)
    }
}

/// How many pages to draw so that most likely no color stays short: each color comes up
/// once in as many pages as there are colors, with a standard deviation of the root of
/// its number.
fn next_draw(quotas: &[usize], held: &[usize]) -> usize {
    let short = quotas.iter().zip(held).map(|(q, h)| q.saturating_sub(*h)).max().unwrap_or(0);
    if short == 0 {
        return 0;
    }
    let ample = short as f64 + 3.0 * (short as f64).sqrt() + 1.0;
    ample.ceil() as usize * quotas.len()
}

/// The quotas and a share to spare, spread over the colors that are used.
fn with_spare(quotas: &[usize]) -> Vec<usize> {
    let used = quotas.iter().filter(|q| **q > 0).count();
    let spare = quotas.iter().sum::<usize>() / SPARE;
    let mut left = if used > 0 { spare % used } else { 0 };
    let each = |quota: &usize| {
        if *quota == 0 {
            return 0;
        }
        let one_more = usize::from(left > 0);
        left -= one_more;
        quota + spare / used + one_more
    };
    quotas.iter().map(each).collect()
}

/// Refuses to draw more than is available without swapping.
fn check_memory(pages: usize) -> Result<(), PlaceError> {
    let wanted = Bytes((pages as u64).saturating_mul(page_size().0));
    match available_memory() {
        Some(available) if available < wanted => {
            Err(PlaceError::NotEnoughMemory { wanted, available })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_kept_is_the_need_and_at_most_a_twentieth_more(
            quotas in proptest::collection::vec(0usize..500, 1..80)
        ) {
            let keep = with_spare(&quotas);
            let (need, kept): (usize, usize) = (quotas.iter().sum(), keep.iter().sum());
            prop_assert_eq!(kept, need + need / SPARE);
            for (keep, quota) in keep.iter().zip(&quotas) {
                prop_assert!(keep >= quota);
                prop_assert_eq!(*keep == 0, *quota == 0);
            }
        }

        #[test]
        fn a_draw_brings_the_expected_need_and_none_when_nothing_is_short(
            pairs in proptest::collection::vec((0usize..500, 0usize..500), 1..80)
        ) {
            let (quotas, held): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
            let draw = next_draw(&quotas, &held);
            let worst = pairs.iter().map(|(q, h)| q.saturating_sub(*h)).max().unwrap();
            prop_assert_eq!(draw == 0, worst == 0);
            prop_assert_eq!(draw % quotas.len(), 0);
            prop_assert!(worst == 0 || draw / quotas.len() > worst);
        }
    }
}
