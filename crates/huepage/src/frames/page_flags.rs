// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/kpageflags`: what the kernel says about frames, and how large the
//! huge pages are that they belong to.
//!
//! The bits are in the kernel's `Documentation/admin-guide/mm/pagemap.rst` and
//! `include/uapi/linux/kernel-page-flags.h`.

use std::{fs::File, io, os::unix::fs::FileExt};

use crate::units::Pfn;

/// Frames that one read asks for at most.
const WINDOW: u64 = 16384;

/// Frames between two wanted ones that are read along rather than left out: a
/// call costs about as much as the flags of so many frames.
const GAP: u64 = 16;

/// The largest huge page looked for, in base pages: 1 GiB of 4 KiB pages.
const LARGEST: u64 = 1 << 18;

/// What the kernel says about one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameFlags {
    /// The lower half of the kernel's word; the upper is for its developers.
    bits: u32,
    /// Base pages of the huge page it belongs to; 1 for a base page.
    pages: u32,
}

impl FrameFlags {
    fn has(self, bit: u32) -> bool {
        self.bits >> bit & 1 == 1
    }

    /// Mapped by a page table as an ordinary page.
    pub fn mapped(self) -> bool {
        self.has(11)
    }

    /// Anonymous memory; KSM pages too.
    pub fn anonymous(self) -> bool {
        self.has(12)
    }

    /// Written to swap rather than to a file: anonymous and shared memory.
    pub fn swap_backed(self) -> bool {
        self.has(14)
    }

    /// From the pool of hugetlbfs.
    pub fn hugetlb(self) -> bool {
        self.has(17)
    }

    /// There is no such frame, or it is no ordinary memory.
    pub fn no_page(self) -> bool {
        self.has(20)
    }

    /// Merged by KSM.
    pub fn ksm(self) -> bool {
        self.has(21)
    }

    /// The kernel's page of zeros, small or huge.
    pub fn zero(self) -> bool {
        self.has(24)
    }

    /// How many base pages the huge page has that this frame is part of;
    /// `None` for a base page, and for a kind of compound page that is no huge
    /// page in the sense of users.
    pub fn huge_pages(self) -> Option<u32> {
        ((self.has(22) || self.has(17)) && self.pages > 1).then_some(self.pages)
    }

    fn head(self) -> bool {
        self.has(15)
    }

    fn tail(self) -> bool {
        self.has(16)
    }
}

/// Where flags are read from: a file of one 64-bit word per frame.
pub trait FlagWords {
    /// Reads the words from frame `first` on; returns how many there were.
    ///
    /// # Errors
    /// What `read` reports.
    fn words(&self, first: Pfn, words: &mut [u64]) -> io::Result<usize>;
}

/// Reads `/proc/kpageflags`.
#[derive(Debug)]
pub struct PageFlags {
    file: File,
}

impl PageFlags {
    /// Opens the file.
    ///
    /// # Errors
    /// What `open` reports: `EACCES` or `EPERM` for anyone but root.
    pub fn open() -> io::Result<Self> {
        Ok(PageFlags { file: File::open("/proc/kpageflags")? })
    }
}

impl FlagWords for PageFlags {
    fn words(&self, first: Pfn, words: &mut [u64]) -> io::Result<usize> {
        let mut bytes = [0; 8192];
        let mut done = 0;
        while done < words.len() {
            let bytes = &mut bytes[..8192.min((words.len() - done) * 8)];
            let read = self.file.read_at(bytes, (first.0 + done as u64) * 8)? / 8;
            if read == 0 {
                break;
            }
            for (word, raw) in words[done..].iter_mut().zip(bytes[..read * 8].as_chunks().0) {
                *word = u64::from_ne_bytes(*raw);
            }
            done += read;
        }
        Ok(done)
    }
}

/// Calls `found` with each of `items` and the flags of its frame. The items are in
/// ascending order of their frames (`frame_of`); frames may repeat. Frames that are
/// near each other are read together.
///
/// # Errors
/// What `read` reports.
pub fn for_flags_of<T: Copy>(
    source: &dyn FlagWords,
    items: &[T],
    frame_of: impl Fn(T) -> Pfn,
    mut found: impl FnMut(T, FrameFlags),
) -> io::Result<()> {
    let mut window = Window { source, first: 0, flags: Vec::new() };
    let mut rest = items;
    while let [first, ..] = rest {
        let first = frame_of(*first);
        let near = |pair: &[T]| {
            let (one, next) = (frame_of(pair[0]).0, frame_of(pair[1]).0);
            next - one <= GAP && next - first.0 < WINDOW
        };
        let count = 1 + rest.windows(2).take_while(|pair| near(pair)).count();
        window.read(first, frame_of(rest[count - 1]))?;
        rest[..count].iter().for_each(|&item| found(item, window.get(frame_of(item))));
        rest = &rest[count..];
    }
    Ok(())
}

/// The flags of a range of frames, grown until no huge page is cut.
struct Window<'a> {
    source: &'a dyn FlagWords,
    first: u64,
    flags: Vec<FrameFlags>,
}

impl Window<'_> {
    fn get(&self, frame: Pfn) -> FrameFlags {
        self.flags[(frame.0 - self.first) as usize]
    }

    fn fetch(&self, first: u64, count: u64) -> io::Result<Vec<FrameFlags>> {
        // Frames beyond the end of memory read as no page.
        let mut words = vec![1 << 20; count as usize];
        self.source.words(Pfn(first), &mut words)?;
        Ok(words.into_iter().map(|bits| FrameFlags { bits: bits as u32, pages: 1 }).collect())
    }

    fn read(&mut self, first: Pfn, last: Pfn) -> io::Result<()> {
        // One frame more, which shows whether the last huge page ends there.
        self.first = first.0;
        self.flags = self.fetch(first.0, last.0 - first.0 + 2)?;
        let mut step = 1;
        while self.flags[0].tail() && self.first > 0 && step <= LARGEST {
            let more = step.min(self.first);
            let mut before = self.fetch(self.first - more, more)?;
            // Whatever lies before the head belongs to another page.
            let head = before.iter().rposition(|flags| !flags.tail()).unwrap_or(0);
            before.drain(..head);
            self.first -= before.len() as u64;
            before.append(&mut self.flags);
            self.flags = before;
            step *= 2;
        }
        step = 1;
        while self.flags.last().is_some_and(|last| last.tail()) && step <= LARGEST {
            let after = self.fetch(self.first + self.flags.len() as u64, step)?;
            let end = after.iter().position(|flags| !flags.tail()).map_or(after.len(), |at| at + 1);
            self.flags.extend_from_slice(&after[..end]);
            step *= 2;
        }
        self.measure();
        Ok(())
    }

    /// Counts the frames of every huge page: a head and the tails behind it.
    fn measure(&mut self) {
        let mut at = 0;
        while at < self.flags.len() {
            let tails = self.flags[at + 1..].iter().take_while(|flags| flags.tail()).count();
            if self.flags[at].head() {
                let pages = tails as u32 + 1;
                self.flags[at..=at + tails].iter_mut().for_each(|flags| flags.pages = pages);
            }
            at += tails + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;

    const HEAD: u64 = 1 << 15 | 1 << 22;
    const TAIL: u64 = 1 << 16 | 1 << 22;

    fn flags_of(source: &dyn FlagWords, frames: &[Pfn]) -> io::Result<Vec<FrameFlags>> {
        let mut flags = Vec::new();
        for_flags_of(source, frames, |frame| frame, |_, found| flags.push(found))?;
        Ok(flags)
    }

    struct Memory {
        words: Vec<u64>,
        read: Cell<usize>,
    }

    impl Memory {
        /// Pages of 2^order frames, one after another.
        fn of(orders: &[u32]) -> Self {
            let mut words = Vec::new();
            for &order in orders {
                words.push(if order > 0 { HEAD } else { 1 << 11 });
                words.extend(std::iter::repeat_n(TAIL, (1 << order) - 1));
            }
            Memory { words, read: Cell::new(0) }
        }
    }

    impl FlagWords for Memory {
        fn words(&self, first: Pfn, words: &mut [u64]) -> io::Result<usize> {
            let from = self.words.get(first.0 as usize..).unwrap_or_default();
            let count = from.len().min(words.len());
            words[..count].copy_from_slice(&from[..count]);
            self.read.set(self.read.get() + count);
            Ok(count)
        }
    }

    #[test]
    fn a_part_of_a_huge_page_tells_the_size_of_the_whole() {
        let memory = Memory::of(&[0, 9, 4, 0]);
        for (frame, pages) in [(0, None), (1, Some(512)), (300, Some(512)), (512, Some(512))] {
            let flags = flags_of(&memory, &[Pfn(frame)]).unwrap();
            assert_eq!(flags[0].huge_pages(), pages, "{frame}");
        }
        let flags = flags_of(&memory, &[Pfn(513), Pfn(528), Pfn(529)]).unwrap();
        let pages: Vec<_> = flags.iter().map(|flags| flags.huge_pages()).collect();
        assert_eq!(pages, [Some(16), Some(16), None]);
    }

    #[test]
    fn a_frame_beyond_memory_is_no_page() {
        let memory = Memory::of(&[0]);
        let flags = flags_of(&memory, &[Pfn(0), Pfn(1), Pfn(1 << 40)]).unwrap();
        let no_page: Vec<_> = flags.iter().map(|flags| flags.no_page()).collect();
        assert_eq!(no_page, [false, true, true]);
    }

    #[test]
    fn frames_far_apart_do_not_read_what_is_between() {
        let memory = Memory::of(&[0; 100_000]);
        flags_of(&memory, &[Pfn(5), Pfn(50_000), Pfn(99_000)]).unwrap();
        assert!(memory.read.get() < 10, "{}", memory.read.get());
    }

    proptest! {
        #[test]
        fn every_frame_has_its_own_flags_and_size(
            orders in proptest::collection::vec(
                prop_oneof![5 => Just(0u32), 1 => 1u32..5, 1 => Just(9)], 1..60),
            picks in proptest::collection::vec(any::<proptest::sample::Index>(), 1..80),
        ) {
            let memory = Memory::of(&orders);
            let sizes: Vec<u32> =
                orders.iter().flat_map(|&o| std::iter::repeat_n(1 << o, 1 << o)).collect();
            let mut frames: Vec<Pfn> =
                picks.iter().map(|pick| Pfn(pick.index(sizes.len()) as u64)).collect();
            frames.sort_unstable();
            let flags = flags_of(&memory, &frames).unwrap();
            for (frame, flags) in frames.iter().zip(&flags) {
                let size = sizes[frame.0 as usize];
                prop_assert_eq!(flags.huge_pages(), (size > 1).then_some(size));
                prop_assert_eq!(u64::from(flags.bits), memory.words[frame.0 as usize]);
            }
        }
    }
}
