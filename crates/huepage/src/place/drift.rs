// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether placed pages still have their colors, and replacing those that do not.

use super::{
    PlaceError, Pool, Recolored, Region,
    arena::page_states,
    exchange::Outcome,
    recolor::{Others, Task},
    region::Colors,
};
use crate::{color::ColorOracle, mapping::PageAddr};

/// How far a region's colors are from those it was given, in pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Drift {
    /// Looked at and of the color it was given.
    pub same: usize,
    /// Looked at and of another color.
    pub changed: usize,
    /// Looked at, but the color could not be found.
    pub unknown: usize,
}

/// Asks the oracle for the colors of up to `sample` pages of a region, drawn
/// evenly by `seed`. Only pages that are present and were given a color are
/// looked at.
///
/// # Errors
/// [`PlaceError::Color`] from the oracle; [`PlaceError::System`] where
/// `/proc/self/pagemap` cannot be read.
pub fn verify(
    region: &Region,
    oracle: &mut dyn ColorOracle,
    sample: usize,
    seed: u64,
) -> Result<Drift, PlaceError> {
    let mut pages = present(region)?;
    let mut rng = fastrand::Rng::with_seed(seed);
    rng.shuffle(&mut pages);
    pages.truncate(sample);
    let addresses: Vec<PageAddr> = pages.iter().map(|&i| region.page(i)).collect();
    // SAFETY: the pages lie in the region, which is borrowed.
    let told = unsafe { oracle.classify(&addresses) }?;
    let mut drift = Drift::default();
    for (index, told) in pages.into_iter().zip(told) {
        match told {
            None => drift.unknown += 1,
            told if told == region.wanted(index) => drift.same += 1,
            Some(_) => drift.changed += 1,
        }
    }
    Ok(drift)
}

/// The pages of a region that have a frame and were given a color.
fn present(region: &Region) -> Result<Vec<usize>, PlaceError> {
    let states = page_states(region.page(0), region.pages())?;
    let given = |i: &usize| states[*i].present() && region.wanted(*i).is_some();
    Ok((0..region.pages()).filter(given).collect())
}

impl Pool {
    /// Exchanges the pages of a region whose color is no longer the one they were
    /// given. Pages for which that fails keep that color as the wanted one:
    /// [`Region::wanted`].
    ///
    /// If some of the region is locked, it is unlocked meanwhile, and locked as a whole
    /// afterwards. The exclusive borrow prevents access by safe code meanwhile; for
    /// memory that other threads use through pointers there is [`Pool::recolor`].
    ///
    /// # Errors
    /// [`PlaceError::FollowsFirstTouch`] for a region of
    /// [`super::Policy::Sequence`] before [`Pool::settle`];
    /// [`PlaceError::ForeignRegion`]; [`PlaceError::Color`];
    /// [`PlaceError::MappingLimit`]; [`PlaceError::OtherProcess`];
    /// [`PlaceError::Interrupted`] reports what was done before an error.
    pub fn repair(
        &mut self,
        region: &mut Region,
        oracle: &mut dyn ColorOracle,
    ) -> Result<Recolored, PlaceError> {
        self.owner.check()?;
        self.check_owns(region)?;
        if matches!(region.colors, Colors::FirstTouch(_)) {
            return Err(PlaceError::FollowsFirstTouch);
        }
        let pages = present(region)?;
        let mut report =
            Recolored { untouched: region.pages() - pages.len(), ..Recolored::default() };
        let addresses: Vec<PageAddr> = pages.iter().map(|&i| region.page(i)).collect();
        // SAFETY: the pages lie in the region, which is borrowed.
        let told = unsafe { oracle.classify(&addresses) }?;
        let Colors::Fixed(colors) = &mut region.colors else {
            return Err(PlaceError::FollowsFirstTouch);
        };
        let mut tasks = Vec::new();
        for ((index, live), told) in pages.into_iter().zip(addresses).zip(told) {
            let Some(wanted) = colors.wanted(index) else { continue };
            let told = told.filter(|told| told.0 < self.count.get());
            match told {
                None => report.unknown += 1,
                Some(told) if told == wanted => report.already += 1,
                old => tasks.push(Task { live, old, wanted }),
            }
            if told.is_some() {
                colors.found(index, told);
            }
        }
        let locked = !tasks.is_empty() && region.space.is_locked();
        if locked {
            region.space.unlock()?;
        }
        // SAFETY: the region is borrowed exclusively, so no other thread uses it.
        let exchanged = unsafe { self.exchange_all(&tasks, Others::Nobody) };
        if locked {
            region.space.lock()?;
        }
        for task in &tasks {
            let index = task.live.number() - region.space.number();
            match exchanged.outcomes.get(&task.live) {
                Some(Some(Outcome::Placed)) => colors.found(index, Some(task.wanted)),
                // The page has a frame that the kernel chose, or none.
                Some(Some(Outcome::Copied | Outcome::Discarded | Outcome::Absent)) => {
                    colors.found(index, None);
                }
                _ => {}
            }
        }
        exchanged.report(report, tasks.len())
    }
}
