// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory of a palette: shared, or of this process alone.

use std::io;

use super::segment::Segment;
use crate::mapping::{Mapping, PageAddr};

/// Base pages that stay mapped as long as this value lives.
#[derive(Debug)]
pub(super) enum Frames {
    Shared(Segment),
    Private(Mapping),
}

impl Frames {
    /// The page at `index`.
    ///
    /// # Panics
    /// If there is none.
    pub fn page(&self, index: u32) -> PageAddr {
        match self {
            Frames::Shared(segment) => segment.page(index as usize),
            Frames::Private(mapping) => mapping.page(index as usize),
        }
    }

    /// The pages of each color.
    ///
    /// # Panics
    /// If there are not as many.
    pub fn addresses(&self, sets: &[Vec<u32>]) -> Vec<Vec<PageAddr>> {
        sets.iter().map(|set| set.iter().map(|&index| self.page(index)).collect()).collect()
    }

    pub fn segment(&self) -> Option<&Segment> {
        match self {
            Frames::Shared(segment) => Some(segment),
            Frames::Private(_) => None,
        }
    }

    /// Gives the frame of a page back that was not written since, or never will be.
    ///
    /// # Errors
    /// What `madvise(2)` reports.
    pub fn give_back(&self, index: u32) -> io::Result<()> {
        match self {
            Frames::Shared(segment) => segment.give_back(index as usize),
            Frames::Private(mapping) => {
                let page = mapping.page(index as usize);
                // SAFETY: a page of our own mapping, which nobody reads again.
                Ok(unsafe { page.advise(1, rustix::mm::Advice::LinuxDontNeed) }?)
            }
        }
    }

    /// Writes the stamp that [`Frames::is_stamped`] looks for: it shows that the frame
    /// of the page is the one that the maker of this palette put there.
    ///
    /// # Safety
    /// The page must be writable, and no other code may read it.
    pub unsafe fn stamp(&self, index: u32, stamp: u64) {
        // SAFETY: the caller's contract; pages are aligned beyond 8 bytes.
        unsafe { self.page(index).as_ptr().cast::<u64>().write_volatile(mixed(index, stamp)) };
    }

    /// Whether the page holds its stamp. If a process punched a hole there, the kernel
    /// maps another frame, which holds zeros.
    ///
    /// # Safety
    /// The page must be readable.
    pub unsafe fn is_stamped(&self, index: u32, stamp: u64) -> bool {
        // SAFETY: as above.
        unsafe { self.page(index).as_ptr().cast::<u64>().read_volatile() == mixed(index, stamp) }
    }
}

/// What the page with this index is stamped with: a number of its own for each page. It
/// could be zero, as a page that was never written is, for one in 2^64 stamps only.
fn mixed(index: u32, stamp: u64) -> u64 {
    stamp.wrapping_add(u64::from(index).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}
