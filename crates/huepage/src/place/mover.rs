// SPDX-License-Identifier: MIT OR Apache-2.0
//! Moving a page to another address of the same process, frame and all.

use rustix::io::Errno;

use super::PlaceError;
pub(super) use super::userfaultfd::Progress;
use crate::mapping::PageAddr;

/// Which system call moves pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mechanism {
    /// `UFFDIO_MOVE`, Linux 6.8: keeps the number of mappings.
    Userfaultfd,
    /// `mremap`, Linux 5.7: one mapping per run of pages.
    Remap,
}

/// Moves pages between two areas of private anonymous memory.
pub(super) trait Mover: Send + Sync + std::fmt::Debug {
    fn mechanism(&self) -> Mechanism;

    /// Prepares an area to receive pages. While it is open, no other thread may touch a
    /// missing page of it.
    ///
    /// # Safety
    /// The area is mapped, and the caller's alone until [`Mover::close`].
    unsafe fn open(&self, start: PageAddr, pages: usize) -> Result<(), PlaceError>;

    /// Ends [`Mover::open`].
    fn close(&self, start: PageAddr, pages: usize);

    /// Fails if `runs` further moves would run into a limit of the kernel.
    fn allow(&self, runs: usize) -> Result<(), PlaceError>;

    /// Moves adjacent pages to adjacent missing pages of an open area.
    ///
    /// # Safety
    /// As [`move_pages`](super::userfaultfd::Userfaultfd::move_pages); the source stays
    /// mapped, but missing.
    unsafe fn move_run(&self, dst: PageAddr, src: PageAddr, pages: usize) -> Progress;
}

/// One run of adjacent pages on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MoveRun {
    pub dst: PageAddr,
    pub src: PageAddr,
    pub pages: usize,
}

impl MoveRun {
    /// What is left of it after its first `done` pages.
    pub fn after(self, done: usize) -> Self {
        MoveRun { dst: self.dst.nth(done), src: self.src.nth(done), pages: self.pages - done }
    }
}

/// Joins single moves, in order, into runs that one system call can do.
pub(super) fn runs(pairs: impl IntoIterator<Item = (PageAddr, PageAddr)>) -> Vec<MoveRun> {
    let mut runs: Vec<MoveRun> = Vec::new();
    for (dst, src) in pairs {
        match runs.last_mut() {
            Some(run) if run.dst.nth(run.pages) == dst && run.src.nth(run.pages) == src => {
                run.pages += 1;
            }
            _ => runs.push(MoveRun { dst, src, pages: 1 }),
        }
    }
    runs
}

/// How often a move that returns `EAGAIN` is repeated without any progress. The kernel
/// returns that while another task holds the page's lock, which it does for no longer
/// than one read from disk.
const TRIES: usize = 10_000;

/// Moves one run, going on after partial moves; how many pages came across
/// and what stopped the rest.
///
/// # Safety
/// As [`Mover::move_run`].
pub(super) unsafe fn carry(mover: &dyn Mover, run: MoveRun) -> Progress {
    let mut done = 0;
    let mut tries = 0;
    while done < run.pages {
        let MoveRun { dst, src, pages } = run.after(done);
        // SAFETY: a part of the run the caller vouches for.
        let progress = unsafe { mover.move_run(dst, src, pages) };
        done += progress.pages;
        match progress.stop {
            None => break,
            Some(Errno::AGAIN | Errno::INTR) if progress.pages > 0 => tries = 0,
            Some(Errno::AGAIN | Errno::INTR) if tries < TRIES => {
                tries += 1;
                std::thread::yield_now();
            }
            stop => return Progress { pages: done, stop },
        }
    }
    Progress { pages: done, stop: None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn runs_are_the_moves_in_order_and_as_long_as_can_be(
            pairs in proptest::collection::vec((0usize..8, 0usize..8), 0..60)
        ) {
            let page = PageAddr::numbered;
            let runs = runs(pairs.iter().map(|&(d, s)| (page(d), page(s))));
            let flat: Vec<_> = runs
                .iter()
                .flat_map(|r| (0..r.pages).map(|i| (r.dst.nth(i), r.src.nth(i))))
                .collect();
            let want: Vec<_> = pairs.iter().map(|&(d, s)| (page(d), page(s))).collect();
            prop_assert_eq!(flat, want);
            for pair in runs.windows(2) {
                prop_assert!(
                    pair[0].dst.nth(pair[0].pages) != pair[1].dst
                        || pair[0].src.nth(pair[0].pages) != pair[1].src
                );
            }
        }
    }
}
