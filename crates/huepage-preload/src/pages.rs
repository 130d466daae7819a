// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds which pages of the program are present.

use std::{io, ops::Range, ptr};

use huepage::{
    frames::{PageState, Pagemap, Populated},
    run::LeftAlone,
};
use rustix::mm::{self, Advice};

use crate::areas::Areas;

/// Pages whose state is read at once.
pub const LOOK: usize = 8192;

/// Reads the states of the program's pages, through files that are opened once.
pub struct Pages {
    areas: Areas,
    pub pagemap: Pagemap,
    split_huge: bool,
    found: Vec<Populated>,
    states: Vec<PageState>,
}

/// Why they cannot be read, as a sentence.
fn failed(what: &'static str) -> impl Fn(io::Error) -> String {
    move |error| format!("/proc/self/{what}: {error}")
}

impl Pages {
    /// # Errors
    /// What `open` reports.
    pub fn open(heap_only: bool, split_huge: bool) -> Result<Self, String> {
        Ok(Pages {
            areas: Areas::open(heap_only).map_err(failed("maps"))?,
            pagemap: Pagemap::open().map_err(failed("pagemap"))?,
            split_huge,
            found: vec![Populated::default(); 256],
            states: vec![PageState::default(); LOOK],
        })
    }

    /// The memory to be placed now, ascending.
    ///
    /// # Errors
    /// What `read` reports.
    pub fn areas(&mut self) -> Result<Vec<Range<usize>>, String> {
        self.areas.read().map_err(failed("maps"))
    }

    /// How many present pages could be placed, whichever process shares them, and how
    /// many are in huge pages that are left alone.
    ///
    /// # Errors
    /// What `read` reports.
    pub fn count(&mut self) -> Result<(usize, usize), String> {
        let size = rustix::param::page_size();
        let (mut count, mut huge) = (0, 0);
        for area in self.areas()? {
            let range = area.start as u64..area.end as u64;
            each(&self.pagemap, &mut self.found, range, |populated| {
                let range = populated.addresses();
                let pages = (range.end - range.start) as usize / size;
                let left = populated.huge() && !self.split_huge;
                if !populated.zero() {
                    *(if left { &mut huge } else { &mut count }) += pages;
                }
                Ok(())
            })?;
        }
        Ok((count, huge))
    }

    /// The pages of a part of an area that belong to the program alone, by number,
    /// ascending; counts others in `left`. If huge pages are to be split and there is
    /// one, the area gets no more of them: exchanging the first page of a huge page
    /// splits it.
    ///
    /// # Errors
    /// What `read` reports.
    pub fn there(
        &mut self,
        area: &Range<usize>,
        part: Range<usize>,
        left: &mut LeftAlone,
    ) -> Result<Vec<(usize, PageState)>, String> {
        let size = rustix::param::page_size();
        let range = (part.start * size) as u64..(part.end * size) as u64;
        let mut there = Vec::new();
        let mut refused = None;
        each(&self.pagemap, &mut self.found, range, |populated| {
            let range = populated.addresses();
            let first = range.start as usize / size;
            let pages = (range.end - range.start) as usize / size;
            if populated.huge()
                && !(self.split_huge && *refused.get_or_insert_with(|| refuse_huge(area)))
            {
                left.huge += pages as u64;
                return Ok(());
            }
            if populated.zero() {
                left.shared += pages as u64;
                return Ok(());
            }
            let states = &mut self.states[..pages.min(LOOK)];
            let read = self.pagemap.read_numbered(first as u64, states);
            let read = read.map_err(failed("pagemap"))?;
            for (page, &state) in (first..).zip(&self.states[..read]) {
                if state.swapped() {
                    left.swapped += 1;
                } else if state.present() && state.exclusive() && !state.file_or_shared() {
                    there.push((page, state));
                } else if state.present() {
                    left.shared += 1;
                }
            }
            Ok(())
        })?;
        Ok(there)
    }
}

/// Calls a function with each populated range between two addresses, in their order.
fn each(
    pagemap: &Pagemap,
    found: &mut [Populated],
    range: Range<u64>,
    mut with: impl FnMut(&Populated) -> Result<(), String>,
) -> Result<(), String> {
    let mut from = range.start;
    while from < range.end {
        let (count, next) = pagemap.scan(from..range.end, found).map_err(failed("pagemap"))?;
        found[..count].iter().try_for_each(&mut with)?;
        if next <= from {
            break;
        }
        from = next;
    }
    Ok(())
}

/// Keeps the kernel from collapsing pages of an area into huge pages; returns whether
/// that succeeded.
fn refuse_huge(area: &Range<usize>) -> bool {
    let start = ptr::with_exposed_provenance_mut(area.start);
    // SAFETY: changes no memory, even if another mapping has taken the place.
    unsafe { mm::madvise(start, area.len(), Advice::LinuxNoHugepage) }.is_ok()
}

#[cfg(test)]
mod tests {
    use huepage::mapping::{Mapping, PageKind};

    use super::*;

    #[test]
    fn written_pages_are_there_and_pages_of_zeros_are_shared() {
        let mapping = Mapping::reserve(32, PageKind::Base).unwrap();
        for index in [1, 2, 30] {
            // SAFETY: a page of the mapping, which nobody else uses.
            unsafe { mapping.page(index).as_ptr().write_volatile(1) };
        }
        // SAFETY: as above.
        assert_eq!(unsafe { mapping.page(5).as_ptr().read_volatile() }, 0);
        let first = mapping.page(0).get() / rustix::param::page_size();
        let mut left = LeftAlone::default();
        let mut pages = Pages::open(false, false).unwrap();
        let there = pages.there(&(0..0), first..first + 32, &mut left).unwrap();
        let there: Vec<usize> = there.into_iter().map(|(page, _)| page - first).collect();
        assert_eq!(there, [1, 2, 30]);
        assert_eq!(left.shared, 1);
    }
}
