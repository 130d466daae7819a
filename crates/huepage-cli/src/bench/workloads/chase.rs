// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random pointer chase: the latency of dependent accesses.

use std::hint::black_box;

use huepage::units::Bytes;

use crate::bench::workload::{Slice, Unit, Workload, time};

/// Follows pointers through every cache line of the buffer in random order.
///
/// Random over all pages, so that no prefetcher guesses the next line. The
/// price is that first-level TLB misses are part of the figure; they are the
/// same in all placements of base pages, and fewer with huge pages.
pub struct Chase {
    bytes: Bytes,
    line: usize,
    /// The same order in every visit: only the pages differ.
    next: Vec<u32>,
}

const SEED: u64 = 0x6875_6570;

/// Accesses in one slice, rounded up to whole cycles: a quarter of a millisecond
/// where all lines are in the L2, one and a half where none is.
const ACCESSES: usize = 1 << 15;

/// Cycles before the first slice. Replacement is not LRU: it takes a few to
/// settle.
const WARM: usize = 3;

impl Chase {
    /// A chase through the first `bytes` of an allocation.
    pub fn new(bytes: Bytes, line: usize) -> Self {
        let lines = bytes.0 as usize / line;
        Chase { bytes, line, next: single_cycle(lines, SEED) }
    }

    fn words<'a>(&self, memory: &'a mut [u8]) -> &'a mut [usize] {
        bytemuck::cast_slice_mut(&mut memory[..self.bytes.0 as usize])
    }
}

impl Workload for Chase {
    fn name(&self) -> &'static str {
        "chase"
    }

    fn unit(&self) -> Unit {
        Unit::NsPerAccess
    }

    fn visit(&self, memory: &mut [u8], slices: usize, each: &mut dyn FnMut(Slice)) {
        let words = self.words(memory);
        link(words, self.line, &self.next);
        let accesses = ACCESSES.next_multiple_of(self.next.len());
        // SAFETY: the words were just linked, and are borrowed until the end.
        let go = |accesses| unsafe { follow(words, accesses) };
        go(WARM * self.next.len());
        for _ in 0..slices {
            each(&mut || time(|| go(accesses)).as_secs_f64() * 1e9 / accesses as f64);
        }
    }
}

/// For each line the one that comes after it, in an order of one cycle.
pub fn single_cycle(lines: usize, seed: u64) -> Vec<u32> {
    assert!(lines > 0, "a buffer shorter than a cache line");
    let mut next: Vec<u32> = (0..lines as u32).collect();
    sattolo(&mut next, &mut fastrand::Rng::with_seed(seed));
    next
}

/// Writes into the first word of each line the address of the line after it.
///
/// # Panics
/// If there are fewer words than the lines of `next` take.
pub fn link(words: &mut [usize], line: usize, next: &[u32]) {
    let stride = line / size_of::<usize>();
    assert!(next.len() * stride <= words.len(), "more lines than words");
    let base = words.as_mut_ptr();
    for (at, &to) in next.iter().enumerate() {
        words[at * stride] = base.wrapping_add(to as usize * stride).expose_provenance();
    }
}

/// Takes `accesses` steps from the first line, each of which waits for the one
/// before.
///
/// # Safety
/// `words` must be as [`link`] left them: each word visited holds the address of
/// another line of the same words.
pub unsafe fn follow(words: &[usize], accesses: usize) {
    let mut at = words.as_ptr();
    for _ in 0..accesses {
        // SAFETY: `at` is the address of a word of `words`: its first one, or one
        // that `link` wrote (the caller's contract).
        at = std::ptr::with_exposed_provenance(unsafe { at.read() });
    }
    black_box(at);
}

/// Turns the identity into a permutation that is a single cycle
/// (S. Sattolo, "An algorithm to generate a random cyclic permutation", 1986).
fn sattolo(order: &mut [u32], random: &mut fastrand::Rng) {
    for i in (1..order.len()).rev() {
        order.swap(i, random.usize(..i));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::workload::figures;

    #[test]
    fn the_cycle_visits_every_line_once() {
        for lines in [1, 2, 3, 64, 1000] {
            let next = single_cycle(lines, 1);
            let mut seen = vec![false; lines];
            let mut at = 0;
            for _ in 0..lines {
                assert!(!seen[at], "line {at} of {lines} twice");
                seen[at] = true;
                at = next[at] as usize;
            }
            assert_eq!(at, 0);
        }
    }

    #[test]
    fn links_stay_inside_the_buffer_and_one_per_line() {
        let mut words = vec![0usize; 5 * 16 + 3];
        let first = words.as_ptr().addr();
        link(&mut words, 128, &single_cycle(5, 7));
        let mut targets: Vec<usize> = (0..5).map(|i| words[i * 16]).collect();
        targets.sort();
        assert_eq!(targets, (0..5).map(|i| first + i * 128).collect::<Vec<_>>());
    }

    #[test]
    fn the_figure_is_a_positive_number_in_memory_that_others_wrote_to() {
        let chase = Chase::new(Bytes::kib(16), 64);
        let mut words = vec![u64::MAX; 8192];
        for _ in 0..2 {
            let figures = figures(&chase, bytemuck::cast_slice_mut(&mut words), 3);
            assert_eq!(figures.len(), 3);
            assert!(figures.iter().all(|f| *f > 0.0 && f.is_finite()), "{figures:?}");
            words.fill(7);
        }
    }
}
