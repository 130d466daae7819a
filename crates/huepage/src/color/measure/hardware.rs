// SPDX-License-Identifier: MIT OR Apache-2.0
//! The eviction experiment on the machine itself.

use std::time::{Duration, Instant};

use super::{
    prober::{HELD_READS, PageId, Pattern, Prober, Sample},
    timing::{fence, timed_chain, touch},
};
use crate::mapping::PageAddr;

/// Ticks above which a chain of reads was interrupted: five microseconds or
/// more on any machine with a time stamp counter, while a chain of eight reads
/// from memory takes about one.
const INTERRUPTED: u64 = 20_000;

/// Targets whose TLB entries are fetched together: their waits overlap, and
/// each is still there when its turn comes.
const WARMED: usize = 8;

/// Probes pages of this process on the CPU it runs on.
#[derive(Clone, Debug)]
pub(super) struct Hardware {
    pages: Vec<PageAddr>,
    /// The set read last, and where its pages are. Looked up once for many
    /// batches, and not while it is read: the table is as large as a cache.
    set: (Vec<PageId>, Vec<PageAddr>),
    /// Where the targets of a batch are.
    targets: Vec<PageAddr>,
    /// Draws the lines that warm the TLB.
    rng: fastrand::Rng,
}

impl Hardware {
    /// # Safety
    /// Every page given here, or added later, must be mapped and readable for
    /// as long as it is in the table.
    pub unsafe fn new(pages: Vec<PageAddr>) -> Self {
        let rng = fastrand::Rng::with_seed(crate::seed());
        Hardware { pages, set: Default::default(), targets: Vec::new(), rng }
    }

    /// Forgets all pages from `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.pages.truncate(len);
        self.set = Default::default();
    }

    /// Adds pages to the table.
    ///
    /// # Safety
    /// As [`Hardware::new`].
    pub unsafe fn extend(&mut self, pages: &[PageAddr]) {
        self.pages.extend_from_slice(pages);
    }

    /// Looks up where the pages of an experiment are.
    fn find(&mut self, targets: &[PageId], set: &[PageId]) {
        let (known, found) = &mut self.set;
        if known != set {
            known.clear();
            known.extend_from_slice(set);
            found.clear();
            found.extend(set.iter().map(|page| self.pages[page.index()]));
        }
        self.targets.clear();
        self.targets.extend(targets.iter().map(|page| self.pages[page.index()]));
    }

    /// Reads the target lines of each target `times` times.
    #[inline(always)]
    fn cache_targets(&self, pattern: &Pattern, times: u32) {
        for _ in 0..times {
            for &target in &self.targets {
                pattern.target.iter().for_each(|line| read(target, line));
            }
        }
    }

    /// Times the target lines of each target.
    #[inline(always)]
    fn time(&mut self, pattern: &Pattern, out: &mut Vec<Sample>) {
        for group in self.targets.chunks(WARMED) {
            for &target in group {
                read(target, pattern.warm.draw(self.rng.u32(0..u64::BITS)));
            }
            fence();
            for &target in group {
                // SAFETY: as in `read`.
                let timed = unsafe { timed_chain(target.as_ptr().cast_const(), pattern.target) };
                let disturbed = timed.cpu.0 != timed.cpu.1 || timed.ticks > INTERRUPTED;
                out.push((!disturbed).then_some(timed.ticks as u32));
            }
        }
    }
}

/// Reads a line of a page that is in the table of a [`Hardware`].
#[inline(always)]
fn read(page: PageAddr, line: u8) {
    // SAFETY: pages in the table are mapped and readable (contract of `new`
    // and `extend`), and only such are looked up; a line number below 64 stays
    // in the page.
    unsafe { touch(page.as_ptr().cast_const().wrapping_add(usize::from(line) * 64)) };
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
        self.find(targets, set);
        // Twice, so that the replacement policy does not treat the lines as new ones.
        self.cache_targets(pattern, 2);
        fence();
        // All pages at one line before the next line: several lines of a page read in a
        // row start prefetchers, whose reads evict lines too.
        for _ in 0..passes {
            for &line in &pattern.set {
                self.set.1.iter().for_each(|&page| read(page, line));
            }
        }
        fence();
        self.time(pattern, out);
    }

    fn hold(
        &mut self,
        targets: &[PageId],
        pattern: &Pattern,
        wait: Duration,
        out: &mut Vec<Sample>,
    ) -> Duration {
        out.clear();
        self.find(targets, &[]);
        self.cache_targets(pattern, HELD_READS);
        fence();
        let begin = Instant::now();
        let waited = loop {
            let elapsed = begin.elapsed();
            if elapsed >= wait {
                break elapsed;
            }
            std::hint::spin_loop();
        };
        self.targets.reverse();
        self.time(pattern, out);
        out.reverse();
        waited
    }
}
