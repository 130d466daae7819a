// SPDX-License-Identifier: MIT OR Apache-2.0
//! Moving pages by `mremap`, for kernels without `UFFDIO_MOVE`.

use std::os::unix::fs::FileExt;

use rustix::{
    io::Errno,
    mm::{self, Advice, MapFlags, MprotectFlags, MremapFlags, ProtFlags},
};

use super::{Mechanism, PlaceError, arena::release, mover::Mover, userfaultfd::Progress};
use crate::mapping::{PageAddr, lost_ranges};

/// Moves by `mremap(MREMAP_DONTUNMAP)` (Linux 5.7), which leaves the source
/// mapped: an unmapped hole could be taken by any other `mmap` of the process.
///
/// Every run of pages becomes a mapping of its own, since the kernel joins
/// neighbours only where their pages were neighbours before.
#[derive(Debug)]
pub(super) struct Remap;

/// `mremap` refuses if fewer than this many mappings are left, since it may split both
/// areas (mm/mremap.c, `check_prep_vma`); as many again are reserved for other threads
/// that map memory meanwhile.
const RESERVE: usize = 8;

/// How many mappings this process has.
pub(super) fn mappings() -> Result<usize, PlaceError> {
    let maps = std::fs::read("/proc/self/maps")
        .map_err(PlaceError::system("count mappings in /proc/self/maps"))?;
    Ok(maps.iter().filter(|&&byte| byte == b'\n').count())
}

fn limit() -> Result<usize, PlaceError> {
    const PATH: &str = "/proc/sys/vm/max_map_count";
    let read = || {
        let text = std::fs::read_to_string(PATH)?;
        text.trim().parse().map_err(|_| std::io::Error::from(std::io::ErrorKind::InvalidData))
    };
    read().map_err(PlaceError::system("read vm.max_map_count"))
}

impl Mover for Remap {
    fn mechanism(&self) -> Mechanism {
        Mechanism::Remap
    }

    unsafe fn open(&self, _: PageAddr, _: usize) -> Result<(), PlaceError> {
        Ok(())
    }

    fn close(&self, _: PageAddr, _: usize) {}

    fn allow(&self, runs: usize) -> Result<(), PlaceError> {
        let (present, limit) = (mappings()?, limit()?);
        // A run in the middle of an area splits it in two and adds itself.
        let needed = 2 * runs;
        if present + needed + RESERVE > limit {
            return Err(PlaceError::MappingLimit { present, needed, limit });
        }
        Ok(())
    }

    unsafe fn move_run(&self, dst: PageAddr, src: PageAddr, pages: usize) -> Progress {
        let len = pages * rustix::param::page_size();
        if lost_ranges::is_lost(dst.span(pages)) {
            return Progress { pages: 0, stop: Some(Errno::EXIST) };
        }
        // SAFETY: the destination is the caller's and holds no page.
        let token = unsafe { Token::leave(dst) };
        // SAFETY: as above, whatever is mapped there is replaced; the source stays
        // mapped.
        let moved = unsafe {
            mm::mremap_fixed(
                src.as_ptr().cast(),
                len,
                len,
                MremapFlags::MAYMOVE | MremapFlags::DONTUNMAP,
                dst.as_ptr().cast(),
            )
        };
        let stop = match moved {
            Ok(_) => None,
            Err(errno) if regain(dst, pages, &token) => {
                Some(if errno == Errno::INTR { Errno::AGAIN } else { errno })
            }
            Err(_) => {
                lost_ranges::lose(dst.span(pages));
                Some(Errno::EXIST)
            }
        };
        Progress { pages: if stop.is_none() { pages } else { 0 }, stop }
    }
}

/// Random bytes in the first page of a destination, which distinguish it from memory
/// that another thread may map there meanwhile.
struct Token(u128);

impl Token {
    /// # Safety
    /// The page is mapped writable and the caller's, and its contents do not matter.
    unsafe fn leave(page: PageAddr) -> Self {
        let token = u128::from(crate::seed()) << 64 | u128::from(crate::seed());
        // SAFETY: the caller's contract; pages are aligned.
        unsafe { page.as_ptr().cast::<u128>().write_volatile(token) };
        Token(token)
    }

    /// Read through the kernel: the page may be unmapped or not readable.
    fn is_at(&self, page: PageAddr) -> bool {
        let mut found = [0; 16];
        std::fs::File::open("/proc/self/mem")
            .and_then(|memory| memory.read_exact_at(&mut found, page.get() as u64))
            .is_ok_and(|()| u128::from_ne_bytes(found) == self.0)
    }
}

/// Maps a destination again, empty, after a move that failed: the kernel unmaps it
/// before the move can fail, mostly for lack of memory. False if another thread may
/// have mapped memory there.
fn regain(dst: PageAddr, pages: usize, token: &Token) -> bool {
    let len = pages * rustix::param::page_size();
    let at = dst.as_ptr().cast();
    // SAFETY: a new mapping where nothing is mapped; without access until it is
    // unlocked, as in `Mapping::reserve`.
    let filled = unsafe {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED_NOREPLACE;
        mm::mmap_anonymous(at, len, ProtFlags::empty(), flags)
    };
    match filled {
        Ok(_) => {
            // SAFETY: the mapping just made.
            unsafe {
                let _ = mm::munlock(at, len);
                let _ = mm::madvise(at, len, Advice::LinuxNoHugepage);
                mm::mprotect(at, len, MprotectFlags::READ | MprotectFlags::WRITE).is_ok()
            }
        }
        Err(Errno::EXIST) if token.is_at(dst) => release(dst, 1).is_ok(),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        frames::Pagemap,
        mapping::{Mapping, PageKind},
    };

    /// Runs a test of this file again, in a process of its own, since limits are for a
    /// whole process. Not by fork: pages that a child shares could not be moved in
    /// other tests.
    fn alone(test: &str, run: fn()) {
        const ALONE: &str = "HUEPAGE_TEST_ALONE";
        if std::env::var_os(ALONE).is_some() {
            return run();
        }
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &format!("place::remap::tests::{test}"), "--nocapture"])
            .env(ALONE, "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{output:?}");
    }

    fn limit_address_space(to: Option<u64>) {
        // SAFETY: reads and sets the soft limit of this process.
        unsafe {
            let mut limit = std::mem::zeroed::<libc::rlimit>();
            libc::getrlimit(libc::RLIMIT_AS, &mut limit);
            limit.rlim_cur = to.unwrap_or(limit.rlim_max);
            libc::setrlimit(libc::RLIMIT_AS, &limit);
        }
    }

    #[test]
    fn what_another_thread_maps_into_the_gap_of_a_failed_move_is_left_alone() {
        alone("what_another_thread_maps_into_the_gap_of_a_failed_move_is_left_alone", || {
            let src = Mapping::populated(1, PageKind::Base).unwrap();
            let dst = Mapping::reserve(3, PageKind::Base).unwrap();
            let (from, to) = (src.page(0), dst.page(1));
            // SAFETY: both are this test's own.
            unsafe {
                from.as_ptr().write_volatile(5);
                // More than there may be: the destination is unmapped, then the
                // move fails.
                limit_address_space(Some(4096));
                let failed = Remap.move_run(to, from, 1);
                limit_address_space(None);
                assert!(failed.pages == 0 && failed.stop.is_some(), "{failed:?}");
                let others = libc::mmap(
                    to.as_ptr().cast(),
                    rustix::param::page_size(),
                    libc::PROT_READ | libc::PROT_WRITE,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE,
                    -1,
                    0,
                );
                if others != to.as_ptr().cast() {
                    eprintln!("skipped: this kernel fails before it unmaps");
                    return;
                }
                others.cast::<u8>().write_volatile(7);
                assert_eq!(Remap.move_run(to, from, 1).stop, Some(Errno::EXIST));
                assert!(release(to, 1).is_err());
                drop(dst);
                assert_eq!(others.cast::<u8>().read_volatile(), 7);
                assert_eq!(from.as_ptr().read_volatile(), 5);
                libc::munmap(others, rustix::param::page_size());
            }
        });
    }

    #[test]
    fn a_destination_is_known_again_or_given_up() {
        let mapping = Mapping::reserve(2, PageKind::Base).unwrap();
        let page = mapping.page(0);
        // A move onto itself is refused before anything is unmapped.
        // SAFETY: this test's own memory.
        let refused = unsafe { Remap.move_run(page, page, 1) };
        assert_eq!((refused.pages, refused.stop), (0, Some(Errno::INVAL)));
        assert!(!Pagemap::open().unwrap().state(page).unwrap().present());
        // SAFETY: as above.
        let token = unsafe { Token::leave(page) };
        assert!(regain(page, 1, &token));
        // SAFETY: as above; other bytes are there now.
        unsafe { Token::leave(page) };
        assert!(!regain(page, 1, &token));
    }
}
