// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random pointer chase: the latency of dependent accesses.

use std::hint::black_box;

use crate::bench::workload::{Unit, Workload, median_time, time};

/// Follows pointers through every cache line of the buffer in random order.
///
/// Random over all pages, so that no prefetcher guesses the next line. The
/// price is that first-level TLB misses are part of the figure; they are the
/// same in all placements of base pages, and fewer with huge pages.
pub struct Chase {
    /// Length of a cache line.
    pub line: usize,
}

/// The same order in every sample: only the pages differ.
const SEED: u64 = 0x6875_6570;

/// Accesses in one timed run, rounded up to whole cycles.
const ACCESSES: usize = 1 << 16;

impl Workload for Chase {
    fn name(&self) -> &'static str {
        "chase"
    }

    fn unit(&self) -> Unit {
        Unit::NsPerAccess
    }

    fn run(&self, memory: &mut [u8]) -> f64 {
        let cycle = Cycle::link(memory, self.line, SEED);
        let accesses = ACCESSES.next_multiple_of(cycle.lines());
        // Replacement is not LRU: it takes a few passes to settle.
        cycle.follow(3 * cycle.lines());
        let median = median_time(5, || time(|| cycle.follow(accesses)));
        median.as_secs_f64() * 1e9 / accesses as f64
    }
}

/// One cycle of pointers through all lines of a buffer.
pub struct Cycle<'a> {
    words: &'a mut [usize],
    lines: usize,
}

impl<'a> Cycle<'a> {
    /// Links every whole line of `memory` into one random cycle.
    ///
    /// # Panics
    /// If `memory` is not aligned to a word, or shorter than a line.
    pub fn link(memory: &'a mut [u8], line: usize, seed: u64) -> Self {
        let whole = memory.len() / line * line;
        let words: &mut [usize] = bytemuck::cast_slice_mut(&mut memory[..whole]);
        let stride = line / size_of::<usize>();
        let lines = words.len() / stride;
        assert!(lines > 0, "a buffer shorter than a cache line");
        let mut next: Vec<usize> = (0..lines).collect();
        sattolo(&mut next, &mut fastrand::Rng::with_seed(seed));
        let base = words.as_mut_ptr();
        for (at, &to) in next.iter().enumerate() {
            words[at * stride] = base.wrapping_add(to * stride).expose_provenance();
        }
        Cycle { words, lines }
    }

    /// How many lines the cycle goes through.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// The words the cycle runs through, to read them in order.
    pub fn words(&self) -> &[u64] {
        bytemuck::cast_slice(self.words)
    }

    /// Takes `accesses` steps, each of which waits for the one before.
    pub fn follow(&self, accesses: usize) {
        let mut at = self.words.as_ptr();
        for _ in 0..accesses {
            // SAFETY: `at` starts at the first word of the buffer and every
            // word it visits holds the address of another line of the same
            // buffer (see `link`), which `self` borrows.
            at = std::ptr::with_exposed_provenance(unsafe { at.read() });
        }
        black_box(at);
    }
}

/// Turns the identity into a permutation that is a single cycle
/// (S. Sattolo, "An algorithm to generate a random cyclic permutation", 1986).
fn sattolo(order: &mut [usize], random: &mut fastrand::Rng) {
    for i in (1..order.len()).rev() {
        order.swap(i, random.usize(..i));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cycle_visits_every_line_once() {
        for lines in [1, 2, 3, 64, 1000] {
            let mut next: Vec<usize> = (0..lines).collect();
            sattolo(&mut next, &mut fastrand::Rng::with_seed(1));
            let mut seen = vec![false; lines];
            let mut at = 0;
            for _ in 0..lines {
                assert!(!seen[at], "line {at} of {lines} twice");
                seen[at] = true;
                at = next[at];
            }
            assert_eq!(at, 0);
        }
    }

    #[test]
    fn links_stay_inside_the_buffer_and_one_per_line() {
        let mut words = vec![0usize; 5 * 16 + 3];
        let range = words.as_ptr_range();
        let (first, last) = (range.start.addr(), range.end.addr());
        let cycle = Cycle::link(bytemuck::cast_slice_mut(&mut words), 128, 7);
        assert_eq!(cycle.lines(), 5);
        let mut targets: Vec<usize> = (0..5).map(|i| cycle.words[i * 16]).collect();
        targets.sort();
        assert_eq!(targets, (0..5).map(|i| first + i * 128).collect::<Vec<_>>());
        assert!(targets.iter().all(|t| *t < last));
    }

    #[test]
    fn the_figure_is_a_positive_number() {
        let mut words = vec![0u64; 4096];
        let figure = Chase { line: 64 }.run(bytemuck::cast_slice_mut(&mut words));
        assert!(figure > 0.0 && figure.is_finite(), "{figure}");
    }
}
