// SPDX-License-Identifier: MIT OR Apache-2.0
//! Owned anonymous memory, page by page.

pub(crate) mod lost_ranges;

use std::{ffi::c_void, ptr::NonNull};

use rustix::mm::{self, Advice, MapFlags, MprotectFlags, MsyncFlags, ProtFlags};

use crate::{own_mappings, units::Bytes};

/// The size of a base page on this machine.
pub fn page_size() -> Bytes {
    Bytes(rustix::param::page_size() as u64)
}

/// The address of the first byte of a page in this process.
///
/// Plain data: the page need not be mapped. Code that reads or moves the page states
/// that in its own safety contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageAddr(usize);

impl PageAddr {
    /// The page that holds `addr`.
    pub fn containing<T>(addr: *const T) -> Self {
        let mask = rustix::param::page_size() - 1;
        PageAddr(addr.addr() & !mask)
    }

    /// The page that holds an address.
    pub(crate) fn at(address: usize) -> Self {
        Self::containing(std::ptr::without_provenance::<u8>(address))
    }

    /// The page whose address is `number` page sizes.
    #[cfg(test)]
    pub(crate) fn numbered(number: usize) -> Self {
        Self::at(number * rustix::param::page_size())
    }

    /// The address in page sizes: the number of the page in page tables.
    pub(crate) fn number(self) -> usize {
        self.0 / rustix::param::page_size()
    }

    /// The address as a number.
    pub fn get(self) -> usize {
        self.0
    }

    /// The page `n` pages behind this one.
    pub(crate) fn nth(self, n: usize) -> PageAddr {
        PageAddr(self.0.wrapping_add(n * rustix::param::page_size()))
    }

    /// The addresses of `pages` pages from here on.
    pub(crate) fn span(self, pages: usize) -> std::ops::Range<usize> {
        self.0..self.0.saturating_add(pages * rustix::param::page_size())
    }

    /// The address as a pointer to the page's first byte.
    pub fn as_ptr(self) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.0)
    }

    /// Advises the kernel on `pages` pages from here on (`madvise(2)`).
    ///
    /// # Errors
    /// What the call reports.
    ///
    /// # Safety
    /// As the advice needs: pages that it discards are never read again.
    pub(crate) unsafe fn advise(self, pages: usize, advice: Advice) -> rustix::io::Result<()> {
        let len = pages * rustix::param::page_size();
        // SAFETY: the caller's contract.
        unsafe { mm::madvise(self.as_ptr().cast(), len, advice) }
    }
}

/// Which size of pages a mapping asks the kernel for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKind {
    /// Base pages only (`MADV_NOHUGEPAGE`): what coloring places.
    Base,
    /// Transparent huge pages where the kernel grants them (`MADV_HUGEPAGE`).
    Huge,
}

/// A private, anonymous, writable mapping that this value owns; unmapped on drop.
///
/// Not locked at first, even after `mlockall(MCL_FUTURE)`: locked memory is all
/// present, cannot be given back to the kernel page by page, and pages do not move
/// between locked and unlocked memory.
/// between locked memory and other.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    pages: usize,
    born_locked: bool,
}

// SAFETY: a Mapping is an address range with no thread affinity; access to its
// bytes goes through raw pointers whose users state their own contract.
unsafe impl Send for Mapping {}
// SAFETY: as above; shared references give out addresses only.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Reserves `pages` pages without touching any. Huge mappings start at a
    /// multiple of 2 MiB, so that the kernel can use huge pages at all.
    ///
    /// # Errors
    /// What `mmap` or `madvise` reports; `ENOMEM` where the address space or
    /// overcommit limit is exhausted; `EINVAL` for zero pages.
    pub fn reserve(pages: usize, kind: PageKind) -> std::io::Result<Self> {
        const HUGE: usize = 2 << 20;
        let page = rustix::param::page_size();
        let len = pages.checked_mul(page).ok_or(std::io::ErrorKind::OutOfMemory)?;
        let slack = if kind == PageKind::Huge { HUGE } else { 0 };
        // Without access at first, so that mlockall does not fill it with pages.
        // SAFETY: a new private anonymous mapping at an address of the
        // kernel's choice touches no existing memory.
        let raw = unsafe {
            mm::mmap_anonymous(
                std::ptr::null_mut(),
                len.checked_add(slack).ok_or(std::io::ErrorKind::OutOfMemory)?,
                ProtFlags::empty(),
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )?
        };
        let lead = raw.addr().next_multiple_of(slack.max(1)) - raw.addr();
        let start = raw.wrapping_byte_add(lead);
        if slack > 0 {
            // SAFETY: both ranges are the unused ends of the mapping just made.
            unsafe {
                if lead > 0 {
                    mm::munmap(raw, lead)?;
                }
                if slack > lead {
                    mm::munmap(start.wrapping_byte_add(len), slack - lead)?;
                }
            }
        }
        let start = NonNull::new(start.cast::<u8>()).expect("mmap never returns null");
        let mut mapping = Mapping { start, pages, born_locked: false };
        own_mappings::add(start.addr().get(), len);
        mapping.born_locked = mapping.is_locked();
        // SAFETY: the range is ours, and no other code has its address yet.
        unsafe {
            if mapping.born_locked {
                mm::munlock(mapping.as_ptr().cast::<c_void>(), len)?;
            }
            let access = MprotectFlags::READ | MprotectFlags::WRITE;
            mm::mprotect(mapping.as_ptr().cast::<c_void>(), len, access)?;
        }
        let advice = match kind {
            PageKind::Base => Advice::LinuxNoHugepage,
            PageKind::Huge => Advice::LinuxHugepage,
        };
        // SAFETY: the range is ours; neither advice changes contents.
        match unsafe { mm::madvise(mapping.as_ptr().cast::<c_void>(), len, advice) } {
            // A kernel without transparent huge pages answers EINVAL: then all
            // pages are base pages already.
            Ok(()) | Err(rustix::io::Errno::INVAL) => Ok(mapping),
            Err(e) => Err(e.into()),
        }
    }

    /// Reserves `pages` pages and gives every one a frame of its own, zeroed.
    ///
    /// # Errors
    /// As [`Mapping::reserve`].
    pub fn populated(pages: usize, kind: PageKind) -> std::io::Result<Self> {
        let mapping = Self::reserve(pages, kind)?;
        for page in mapping.iter() {
            // SAFETY: the page lies in our own mapping, which nothing else
            // refers to yet. A write, since a read would map the shared zero page.
            unsafe { page.as_ptr().write_volatile(0) };
        }
        Ok(mapping)
    }

    /// First byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Number of base pages.
    pub fn pages(&self) -> usize {
        self.pages
    }

    /// Whether some of the memory is locked: `msync` is the only call that shows it
    /// (mm/msync.c).
    pub(crate) fn is_locked(&self) -> bool {
        // SAFETY: there is no file to invalidate what is cached of it.
        let told = unsafe {
            mm::msync(self.as_ptr().cast::<c_void>(), self.len(), MsyncFlags::INVALIDATE)
        };
        told == Err(rustix::io::Errno::BUSY)
    }

    /// Whether the program has asked for all its memory to be locked.
    pub(crate) fn born_locked(&self) -> bool {
        self.born_locked
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.pages * rustix::param::page_size()
    }

    /// Whether the mapping has no pages. It never has: `mmap` refuses length 0.
    pub fn is_empty(&self) -> bool {
        self.pages == 0
    }

    /// The page at `index`.
    ///
    /// # Panics
    /// If `index` is not below [`Mapping::pages`].
    pub fn page(&self, index: usize) -> PageAddr {
        assert!(index < self.pages, "page {index} of a mapping of {} pages", self.pages);
        // Exposed, so that a PageAddr alone can be turned back into a pointer.
        PageAddr(self.start.as_ptr().expose_provenance() + index * rustix::param::page_size())
    }

    /// All pages, ascending.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = PageAddr> + '_ {
        (0..self.pages).map(|i| self.page(i))
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let start = self.as_ptr().addr();
        own_mappings::remove(start);
        for left in lost_ranges::left_of(start..start + self.len()) {
            let part = self.as_ptr().with_addr(left.start).cast::<c_void>();
            // SAFETY: the range was mapped by `reserve` and is owned by this value,
            // except for ranges that were lost; borrowers of its addresses hold a
            // reference to it by contract.
            let _ = unsafe { mm::munmap(part, left.len()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_zeroed_writable_and_of_the_length_asked_for() {
        let mapping = Mapping::populated(3, PageKind::Base).unwrap();
        assert_eq!((mapping.pages(), mapping.len()), (3, 3 * page_size().0 as usize));
        for page in mapping.iter() {
            // SAFETY: the page lies in `mapping`, which lives to the end of the test.
            unsafe {
                assert_eq!(page.as_ptr().add(17).read(), 0);
                page.as_ptr().add(17).write(1);
            }
            assert_eq!(PageAddr::containing(page.as_ptr().wrapping_add(17)), page);
        }
    }

    #[test]
    fn a_huge_mapping_starts_where_a_huge_page_can() {
        let mapping = Mapping::reserve(1024, PageKind::Huge).unwrap();
        assert_eq!(mapping.as_ptr().addr() % (2 << 20), 0);
    }

    #[test]
    fn no_pages_are_refused() {
        assert!(Mapping::reserve(0, PageKind::Base).is_err());
        assert!(Mapping::reserve(usize::MAX, PageKind::Base).is_err());
    }
}
