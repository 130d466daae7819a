// SPDX-License-Identifier: MIT OR Apache-2.0
//! Address space that pools and regions own.

use rustix::{
    io::Errno,
    mm::{self, Advice, MlockFlags},
    process::{Pid, getpid},
};

use super::PlaceError;
use crate::{
    color::ColorCount,
    frames::{PageState, Pagemap},
    mapping::{Mapping, PageAddr, PageKind, lost_ranges},
};

/// A pool's slots. After a fork they are empty in the child (`MADV_WIPEONFORK`):
/// otherwise the pages would be shared with the child, could not be moved, and the
/// first write to one would exchange its frame.
#[derive(Debug)]
pub(super) struct Arena(Mapping);

impl Arena {
    pub fn new(mapping: Mapping) -> Result<Self, PlaceError> {
        keep_from_children(mapping.page(0), mapping.pages())?;
        Ok(Arena(mapping))
    }

    pub fn mapping(&self) -> &Mapping {
        &self.0
    }
}

/// Applies `MADV_WIPEONFORK` to pages of a pool.
pub(super) fn keep_from_children(start: PageAddr, pages: usize) -> Result<(), PlaceError> {
    advise(start, pages, Advice::LinuxWipeOnFork)
        .map_err(PlaceError::errno("keep the pool from forked children"))
}

/// Gives pages back to the kernel. Only for pages that a pool owns and that are never
/// read again.
pub(super) fn release(start: PageAddr, pages: usize) -> Result<(), PlaceError> {
    advise(start, pages, Advice::LinuxDontNeed)
        .map_err(PlaceError::errno("give pages back to the kernel"))
}

fn advise(start: PageAddr, pages: usize, advice: Advice) -> rustix::io::Result<()> {
    if lost_ranges::is_lost(start.span(pages)) {
        return Err(Errno::EXIST);
    }
    // SAFETY: callers pass pages of arenas and spaces, to whose contents no code
    // outside this module refers.
    unsafe { start.advise(pages, advice) }
}

/// The states of pages of this process, from its pagemap.
pub(super) fn page_states(start: PageAddr, pages: usize) -> Result<Vec<PageState>, PlaceError> {
    Pagemap::open()
        .and_then(|pagemap| pagemap.read(start, pages))
        .map_err(PlaceError::system("read /proc/self/pagemap"))
}

/// The address space of one region. Its first page number is a multiple of the number
/// of colors, so that the colors a policy needs do not depend on where the kernel puts
/// it.
#[derive(Debug)]
pub(super) struct Space {
    mapping: Mapping,
    lead: usize,
    pages: usize,
}

impl Space {
    pub fn reserve(pages: usize, count: ColorCount) -> Result<Self, PlaceError> {
        let count = count.get() as usize;
        let mapping = Mapping::reserve(pages.saturating_add(count - 1), PageKind::Base)
            .map_err(PlaceError::system("reserve address space"))?;
        let number = mapping.page(0).number();
        Ok(Space { lead: number.next_multiple_of(count) - number, mapping, pages })
    }

    pub fn page(&self, index: usize) -> PageAddr {
        assert!(index < self.pages, "page {index} of a region of {} pages", self.pages);
        self.mapping.page(self.lead + index)
    }

    pub fn pages(&self) -> usize {
        self.pages
    }

    /// The virtual page number of the first page.
    pub fn number(&self) -> usize {
        self.page(0).number()
    }

    pub fn iter(&self) -> impl Iterator<Item = PageAddr> + '_ {
        let first = self.page(0);
        (0..self.pages).map(move |i| first.nth(i))
    }

    /// Whether some of it is locked.
    pub fn is_locked(&self) -> bool {
        self.mapping.is_locked()
    }

    /// Locks it if the program has asked for all future memory to be locked
    /// (`mlockall`). Not while pages follow first touch, since they could not be moved
    /// in.
    pub fn lock_if_asked_for(&self) -> Result<(), PlaceError> {
        if self.mapping.born_locked() { self.lock() } else { Ok(()) }
    }

    pub fn lock(&self) -> Result<(), PlaceError> {
        // SAFETY: changes no contents of memory that is ours.
        unsafe { mm::mlock_with(self.page(0).as_ptr().cast(), self.len(), MlockFlags::ONFAULT) }
            .map_err(PlaceError::errno("lock the region, as it was"))
    }

    /// Pages of locked memory cannot be moved to memory that is not.
    pub fn unlock(&self) -> Result<(), PlaceError> {
        // SAFETY: as above.
        unsafe { mm::munlock(self.page(0).as_ptr().cast(), self.len()) }
            .map_err(PlaceError::errno("unlock the region"))
    }

    fn len(&self) -> usize {
        self.pages * rustix::param::page_size()
    }

    /// A region is memory of the program: its children inherit it like any other.
    /// Undoes the `MADV_WIPEONFORK` that pages moved by `mremap` bring along from their
    /// arena.
    pub fn let_children_inherit(&self) -> Result<(), PlaceError> {
        advise(self.page(0), self.pages, Advice::LinuxKeepOnFork)
            .map_err(PlaceError::errno("let children inherit the region"))
    }
}

/// The process that may use a pool: a descriptor that a forked child inherits still
/// acts on the parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner(Pid);

impl Owner {
    pub fn new() -> Self {
        Owner(getpid())
    }

    pub fn is_here(self) -> bool {
        self.0 == getpid()
    }

    pub fn check(self) -> Result<(), PlaceError> {
        if self.is_here() { Ok(()) } else { Err(PlaceError::OtherProcess) }
    }
}
