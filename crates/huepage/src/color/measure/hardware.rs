// SPDX-License-Identifier: MIT OR Apache-2.0
//! The experiment on the machine itself.

use std::time::{Duration, Instant};

use super::{
    prober::{PageId, Pattern, Prober, Sample},
    timing::{fence, timed_chain, touch},
};
use crate::mapping::PageAddr;

/// Ticks above which a chain of reads was interrupted: five microseconds or
/// more on any machine with a time stamp counter, while a chain of eight reads
/// from memory takes about one.
const INTERRUPTED: u64 = 20_000;

/// Probes pages of this process on the CPU it runs on.
#[derive(Clone, Debug)]
pub(super) struct Hardware {
    pages: Vec<PageAddr>,
}

impl Hardware {
    /// # Safety
    /// Every page given here, or added later, must be mapped and readable for
    /// as long as it is in the table.
    pub unsafe fn new(pages: Vec<PageAddr>) -> Self {
        Hardware { pages }
    }

    /// Forgets all pages from `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.pages.truncate(len);
    }

    /// Adds pages to the table.
    ///
    /// # Safety
    /// As [`Hardware::new`].
    pub unsafe fn extend(&mut self, pages: &[PageAddr]) {
        self.pages.extend_from_slice(pages);
    }
}

impl Hardware {
    fn start(&self, page: PageId) -> *const u8 {
        self.pages[page.index()].as_ptr().cast_const()
    }

    #[inline(always)]
    fn read(&self, page: PageId, line: u8) {
        // SAFETY: pages in the table are mapped and readable (contract of `new`
        // and `extend`); a line number below 64 stays in the page.
        unsafe { touch(self.start(page).wrapping_add(usize::from(line) * 64)) };
    }

    /// Times the target lines of each target.
    #[inline(always)]
    fn time<'a>(
        &self,
        targets: impl IntoIterator<Item = &'a PageId>,
        pattern: &Pattern,
        out: &mut Vec<Sample>,
    ) {
        for &target in targets {
            self.read(target, pattern.warm);
            // SAFETY: as in `read`.
            let timed = unsafe { timed_chain(self.start(target), pattern.target) };
            let disturbed = timed.cpu.0 != timed.cpu.1 || timed.ticks > INTERRUPTED;
            out.push((!disturbed).then_some(timed.ticks as u32));
        }
    }
}

impl Prober for Hardware {
    fn probe(
        &mut self,
        targets: &[PageId],
        set: &[PageId],
        pattern: &Pattern,
        passes: u32,
        out: &mut Vec<Sample>,
    ) {
        out.clear();
        // Twice, so that the lines are no newcomers to the replacement policy.
        for _ in 0..2 {
            for &target in targets {
                pattern.target.iter().for_each(|line| self.read(target, line));
            }
        }
        fence();
        // All pages at one line before the next line: a page's lines read in a
        // row wake prefetchers, which then evict on their own account.
        for _ in 0..passes {
            for &line in &pattern.set {
                set.iter().for_each(|&page| self.read(page, line));
            }
        }
        fence();
        self.time(targets, pattern, out);
    }

    fn hold(
        &mut self,
        targets: &[PageId],
        pattern: &Pattern,
        wait: Duration,
        out: &mut Vec<Sample>,
    ) -> Duration {
        out.clear();
        // More often than a target that stands alone: the sets are nearly full.
        for _ in 0..4 {
            for &target in targets {
                pattern.target.iter().for_each(|line| self.read(target, line));
            }
        }
        fence();
        let begin = Instant::now();
        let waited = loop {
            let elapsed = begin.elapsed();
            if elapsed >= wait {
                break elapsed;
            }
            std::hint::spin_loop();
        };
        self.time(targets.iter().rev(), pattern, out);
        out.reverse();
        waited
    }
}
