// SPDX-License-Identifier: MIT OR Apache-2.0
//! The basic experiment of discovery: does reading these pages evict that page?

use std::time::Duration;

/// Cache lines in a page; measurement is for 4 KiB pages of 64-byte lines.
pub(super) const LINES_PER_PAGE: u8 = 64;

/// A page known to a [`Prober`], by its place in the prober's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct PageId(pub u32);

impl PageId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One to eight lines of a page, in the order in which to read them, packed
/// into a register so that a timed chain of reads needs no table in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chain {
    packed: u64,
    len: u32,
}

impl Chain {
    /// The longest chain.
    pub const MAX: usize = 8;

    /// # Panics
    /// Unless there are one to eight lines, all below 64.
    pub fn new(lines: &[u8]) -> Self {
        assert!((1..=Self::MAX).contains(&lines.len()), "one to eight lines: {lines:?}");
        assert!(lines.iter().all(|&l| l < LINES_PER_PAGE), "a page has 64 lines: {lines:?}");
        let packed = lines.iter().rev().fold(0, |packed, &l| packed << 8 | u64::from(l));
        Chain { packed, len: lines.len() as u32 }
    }

    /// The lines, eight bits each, the first in the lowest byte.
    pub fn packed(self) -> u64 {
        self.packed
    }

    pub fn len(self) -> u32 {
        self.len
    }

    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..self.len).map(move |i| (self.packed >> (8 * i)) as u8)
    }
}

/// Which lines of target and set an experiment reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    /// Lines of the target: cached at first, timed at the end.
    pub target: Chain,
    /// Lines of each page of the set: those that can share a cache set with
    /// the target's.
    pub set: Vec<u8>,
    /// Lines of the target that share no cache set with the others: one of them
    /// is read just before timing so that the target's TLB entry is there.
    /// Without it, a TLB miss looks like an eviction.
    pub warm: Warm,
}

/// Lines of which any one may be read to fetch a page's TLB entry, a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Warm(u64);

impl Warm {
    /// # Panics
    /// If there are none, or not all are below 64.
    pub fn new(lines: impl IntoIterator<Item = u8>) -> Self {
        let bits = lines.into_iter().fold(0, |bits, line| {
            assert!(line < LINES_PER_PAGE, "a page has 64 lines: {line}");
            bits | 1 << line
        });
        assert_ne!(bits, 0, "no line to read");
        Warm(bits)
    }

    /// The line that the draw of a number below 64 chooses.
    ///
    /// A prefetcher learns at which distance a second line of a page is read after a
    /// first one, and would fetch the line to be timed as soon as its page is warmed
    /// (seen on an Intel server with 2 MiB of L2: up to half of all misses looked like
    /// hits). It cannot learn a distance that is drawn at random.
    #[inline(always)]
    pub fn draw(self, draw: u32) -> u8 {
        let ahead = self.0.rotate_right(draw).trailing_zeros();
        ((ahead + draw) % u64::BITS) as u8
    }

    #[cfg(test)]
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..LINES_PER_PAGE).filter(move |line| self.0 >> line & 1 == 1)
    }
}

/// Ticks for reading a target's lines, or `None` if the sample was disturbed (another
/// CPU, an interrupt) and is not used.
pub(super) type Sample = Option<u32>;

/// Times that [`Prober::hold`] reads each line before it leaves them alone: more often
/// than where a target stands alone, since the sets are nearly full.
pub(super) const HELD_READS: u32 = 4;

/// Measures how long a page's lines take to read after other pages were read: on the
/// machine, or on a model of one.
pub(super) trait Prober {
    /// Reads the target lines of every target (so that they are cached), then
    /// `passes` times the set lines of every page of `set`, then times each
    /// target. Puts one sample per target into `out`, in order.
    fn probe(
        &mut self,
        targets: &[PageId],
        set: &[PageId],
        pattern: &Pattern,
        passes: u32,
        out: &mut Vec<Sample>,
    );

    /// Reads the target lines of every target [`HELD_READS`] times, does nothing with
    /// memory for `wait`, then times each target: lines that others have evicted take
    /// as long as a miss. The target read last is timed first: a line brought back in
    /// by being timed takes the place of the oldest one, which must not be the next to
    /// be timed. Puts one sample per target into `out`, in order, and returns how long
    /// the lines were left alone: longer if the thread had to wait for its CPU.
    fn hold(
        &mut self,
        targets: &[PageId],
        pattern: &Pattern,
        wait: Duration,
        out: &mut Vec<Sample>,
    ) -> Duration;
}
