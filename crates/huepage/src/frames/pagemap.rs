// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/PID/pagemap`: one 64-bit entry per virtual page of a process.
//!
//! The layout of an entry is in the kernel's
//! `Documentation/admin-guide/mm/pagemap.rst`.

use std::{fs::File, io, os::unix::fs::FileExt};

use crate::{mapping::PageAddr, units::Pfn};

/// How many entries one read asks for: 64 KiB, which the kernel serves from
/// one walk of the page tables.
const ENTRIES: usize = 8192;

/// What the kernel says about one virtual page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageState(u64);

#[cfg(feature = "map")]
impl PageState {
    /// Two bits that the kernel leaves zero.
    const ZERO: u64 = 1 << 59;
    const HUGE: u64 = 1 << 60;

    /// Notes what a scan said of the page.
    pub(crate) fn with_scan(self, zero: bool, huge: bool) -> Self {
        let others = self.0 & !(Self::ZERO | Self::HUGE);
        PageState(others | (Self::ZERO * u64::from(zero)) | (Self::HUGE * u64::from(huge)))
    }

    /// Whether a scan said that this is the kernel's page of zeros.
    pub(crate) fn scanned_zero(self) -> bool {
        self.0 & Self::ZERO != 0
    }

    /// Whether a scan said that one entry maps a whole huge page.
    pub(crate) fn scanned_huge(self) -> bool {
        self.0 & Self::HUGE != 0
    }
}

impl PageState {
    const FRAME: u64 = (1 << 55) - 1;

    /// Whether the page is mapped to a frame.
    pub fn present(self) -> bool {
        self.0 >> 63 & 1 == 1
    }

    /// Whether the page is in swap. A guard page, which looks so too, is not.
    pub fn swapped(self) -> bool {
        self.0 >> 62 & 1 == 1 && !self.guard()
    }

    /// Whether an access to the page faults by `MADV_GUARD_INSTALL` (Linux 6.13;
    /// pagemap shows it since 6.15).
    pub fn guard(self) -> bool {
        self.0 >> 58 & 1 == 1
    }

    /// Whether the page belongs to a file or to shared anonymous memory.
    pub fn file_or_shared(self) -> bool {
        self.0 >> 61 & 1 == 1
    }

    /// Whether no other process maps the frame. False for the shared page of
    /// zeros that a read of untouched memory maps.
    pub fn exclusive(self) -> bool {
        self.0 >> 56 & 1 == 1
    }

    /// The frame; `None` where the page has none or the kernel hides it.
    pub fn pfn(self) -> Option<Pfn> {
        // Hidden numbers read as zero; frame 0 never backs a process's memory.
        let frame = self.0 & Self::FRAME;
        (self.present() && frame != 0).then_some(Pfn(frame))
    }
}

/// Reads `/proc/PID/pagemap`.
#[derive(Debug)]
pub struct Pagemap {
    pub(super) file: File,
}

impl Pagemap {
    /// Opens the pagemap of this process.
    ///
    /// # Errors
    /// What `open` reports; `ENOENT` on a kernel without `CONFIG_PROC_PAGE_MONITOR`.
    pub fn open() -> io::Result<Self> {
        Ok(Pagemap { file: File::open("/proc/thread-self/pagemap")? })
    }

    /// Opens the pagemap of another process. It shows the address space that
    /// the process has now, to the end of that address space: after an `execve`
    /// there is nothing to read.
    ///
    /// # Errors
    /// What `open` reports: `ENOENT` for no such process, `EACCES` without
    /// `PTRACE_MODE_READ` on it, `ESRCH` for a process without memory.
    pub fn of_process(pid: u32) -> io::Result<Self> {
        Ok(Pagemap { file: File::open(format!("/proc/{pid}/pagemap"))? })
    }

    /// Reads the states of pages into `states`, from the page whose address is
    /// `number` page sizes. Returns how many were read: fewer at the end of the
    /// address space, none where it is gone.
    ///
    /// # Errors
    /// What `read` reports.
    pub fn read_numbered(&self, number: u64, states: &mut [PageState]) -> io::Result<usize> {
        let mut bytes = [0; ENTRIES * 8];
        let mut done = 0;
        while done < states.len() {
            let bytes = &mut bytes[..(states.len() - done).min(ENTRIES) * 8];
            let read = match self.file.read_at(bytes, (number + done as u64) * 8) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read? / 8,
            };
            if read == 0 {
                break;
            }
            for (state, entry) in states[done..].iter_mut().zip(bytes[..read * 8].as_chunks().0) {
                *state = PageState(u64::from_ne_bytes(*entry));
            }
            done += read;
        }
        Ok(done)
    }

    /// Whether this process may see frame numbers (`CAP_SYS_ADMIN` in the
    /// initial user namespace; without it they read as zero since Linux 4.2).
    ///
    /// # Errors
    /// What `read` reports.
    pub fn frame_numbers_visible(&self) -> io::Result<bool> {
        // A local that was just written certainly has a frame.
        let mut witness = 0u8;
        let page = PageAddr::containing(std::hint::black_box(&raw mut witness));
        Ok(self.read(page, 1)?[0].pfn().is_some())
    }

    /// The state of one page, without allocating and by the system call alone.
    ///
    /// # Errors
    /// As [`Pagemap::read`].
    pub fn state(&self, page: PageAddr) -> io::Result<PageState> {
        let mut entry = [0; 8];
        match rustix::io::pread(&self.file, &mut entry, page.number() as u64 * 8)? {
            8 => Ok(PageState(u64::from_ne_bytes(entry))),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// The state of `pages` pages from `first`, ascending. Addresses that are
    /// not mapped read as neither present nor swapped.
    ///
    /// # Errors
    /// What `read` reports; `UnexpectedEof` beyond the end of the address space.
    pub fn read(&self, first: PageAddr, pages: usize) -> io::Result<Vec<PageState>> {
        let mut bytes = vec![0u8; ENTRIES.min(pages) * 8];
        let mut states = Vec::with_capacity(pages);
        while states.len() < pages {
            let bytes = &mut bytes[..(pages - states.len()).min(ENTRIES) * 8];
            self.file.read_exact_at(bytes, (first.number() + states.len()) as u64 * 8)?;
            states.extend(
                bytes.as_chunks::<8>().0.iter().map(|entry| PageState(u64::from_ne_bytes(*entry))),
            );
        }
        Ok(states)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{Mapping, PageKind};

    #[test]
    fn touched_pages_are_present_and_ours_alone_and_untouched_ones_are_not() {
        let mapping = Mapping::reserve(ENTRIES + 3, PageKind::Base).unwrap();
        for index in [0, 5, ENTRIES, ENTRIES + 2] {
            // SAFETY: the page lies in `mapping`, which nothing else uses.
            unsafe { mapping.page(index).as_ptr().write_volatile(1) };
        }
        let states = Pagemap::open().unwrap().read(mapping.page(0), mapping.pages()).unwrap();
        let present: Vec<usize> = (0..states.len()).filter(|&i| states[i].present()).collect();
        assert_eq!(present, [0, 5, ENTRIES, ENTRIES + 2]);
        for index in present {
            assert!(states[index].exclusive());
            assert!(!states[index].swapped() && !states[index].file_or_shared());
            assert_eq!(Pagemap::open().unwrap().state(mapping.page(index)).unwrap(), states[index]);
        }
    }

    #[test]
    fn a_page_that_was_only_read_is_not_exclusive() {
        let mapping = Mapping::reserve(1, PageKind::Base).unwrap();
        // SAFETY: the page lies in `mapping`.
        assert_eq!(unsafe { mapping.page(0).as_ptr().read_volatile() }, 0);
        let state = Pagemap::open().unwrap().read(mapping.page(0), 1).unwrap()[0];
        assert!(state.present() && !state.exclusive());
    }

    #[test]
    fn frames_are_distinct_where_they_are_visible_and_none_where_hidden() {
        let pagemap = Pagemap::open().unwrap();
        let mapping = Mapping::populated(64, PageKind::Base).unwrap();
        let frames: std::collections::BTreeSet<_> =
            pagemap.read(mapping.page(0), 64).unwrap().iter().map(|s| s.pfn()).collect();
        if pagemap.frame_numbers_visible().unwrap() {
            assert_eq!(frames.len(), 64);
            assert!(!frames.contains(&None));
        } else {
            assert_eq!(frames, [None].into());
        }
    }
}
