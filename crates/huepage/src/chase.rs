// SPDX-License-Identifier: MIT OR Apache-2.0
//! A random cycle through memory: each load's address comes from the load
//! before it, so the time per step is the latency of wherever the lines are.

use std::{hint::black_box, io, time::Instant};

use fastrand::Rng;

use crate::{
    mapping::{Mapping, PageKind},
    units::Bytes,
};

/// One cycle over every line of a private buffer in fresh base pages.
///
/// The order is random over the whole buffer: no prefetcher finds a stride in
/// it, and no line is visited twice before all others are visited once.
#[derive(Debug)]
pub struct Chase {
    /// Owns the memory that `at` and every stored address point into.
    mapping: Mapping,
    lines: usize,
    at: usize,
}

impl Chase {
    /// A cycle over `size` bytes (rounded up to whole lines, at least two) with
    /// one step per `line` bytes, in an order drawn from `rng`.
    ///
    /// # Errors
    /// As [`Mapping::populated`].
    ///
    /// # Panics
    /// If `line` cannot hold an address or is no multiple of its alignment.
    pub fn new(size: Bytes, line: u32, rng: &mut Rng) -> io::Result<Self> {
        let line = line as usize;
        assert!(
            line >= size_of::<usize>() && line.is_multiple_of(align_of::<usize>()),
            "a line of {line} bytes cannot hold an address"
        );
        let lines = (size.0 as usize).div_ceil(line).max(2);
        let pages = Bytes((lines * line) as u64).pages(crate::mapping::page_size());
        let mapping = Mapping::populated(pages, PageKind::Base)?;
        let next = single_cycle(lines, rng);
        // SAFETY: memory of this function alone, filled with zeros, that holds so many
        // words; a page is aligned for them.
        let words = unsafe {
            std::slice::from_raw_parts_mut(
                mapping.as_ptr().cast::<usize>(),
                lines * line / size_of::<usize>(),
            )
        };
        link(words, line, &next);
        let at = mapping.as_ptr().expose_provenance();
        Ok(Chase { mapping, lines, at })
    }

    /// Number of lines in the cycle: this many steps visit each once.
    pub fn lines(&self) -> usize {
        self.lines
    }

    /// The memory walked.
    pub fn mapping(&self) -> &Mapping {
        &self.mapping
    }

    /// Takes `steps` dependent loads, going on where the last call stopped, and
    /// returns the nanoseconds one took on average.
    pub fn nanoseconds_per_step(&mut self, steps: usize) -> f64 {
        let begin = Instant::now();
        let at = std::ptr::with_exposed_provenance(self.at);
        // SAFETY: `at` is the first word of a line that `new` linked, and the mapping
        // lives as long as this.
        let at = unsafe { follow_from(at, steps) };
        let elapsed = begin.elapsed();
        self.at = at.addr();
        elapsed.as_nanos() as f64 / steps.max(1) as f64
    }
}

/// For each line the one that comes after it, in an order of one cycle.
pub fn single_cycle(lines: usize, rng: &mut Rng) -> Vec<u32> {
    assert!(lines > 0, "a buffer shorter than a cache line");
    let mut next: Vec<u32> = (0..lines as u32).collect();
    // Turns the identity into a permutation that is a single cycle (S. Sattolo, "An
    // algorithm to generate a random cyclic permutation", 1986).
    for i in (1..lines).rev() {
        next.swap(i, rng.usize(..i));
    }
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
    // SAFETY: the caller's contract.
    unsafe { follow_from(words.as_ptr(), accesses) };
}

/// The same from any line; returns the line that it ends at.
///
/// # Safety
/// As [`follow`]; `at` must be the first word of a line.
unsafe fn follow_from(mut at: *const usize, accesses: usize) -> *const usize {
    for _ in 0..accesses {
        // SAFETY: `at` is the address of a word that `link` wrote, or that the caller
        // named (the caller's contract).
        at = std::ptr::with_exposed_provenance(unsafe { at.read() });
    }
    black_box(at)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn walk(chase: &mut Chase, steps: usize) -> Vec<usize> {
        (0..steps)
            .map(|_| {
                chase.nanoseconds_per_step(1);
                chase.at
            })
            .collect()
    }

    #[test]
    fn one_cycle_visits_every_line_once() {
        for (size, line, lines) in [(4096, 64, 64), (10_000, 128, 79), (1, 64, 2)] {
            let mut chase = Chase::new(Bytes(size), line, &mut Rng::with_seed(1)).unwrap();
            assert_eq!(chase.lines(), lines);
            let start = chase.mapping().as_ptr().addr();
            let first: Vec<usize> = walk(&mut chase, lines);
            let expected: BTreeSet<usize> = (0..lines).map(|i| start + i * line as usize).collect();
            assert_eq!(first.iter().copied().collect::<BTreeSet<_>>(), expected);
            assert_eq!(walk(&mut chase, lines), first, "the second round repeats the first");
        }
    }

    #[test]
    fn the_order_follows_the_seed() {
        let order = |seed| {
            let mut chase = Chase::new(Bytes(8192), 64, &mut Rng::with_seed(seed)).unwrap();
            let start = chase.mapping().as_ptr().addr();
            walk(&mut chase, 128).into_iter().map(|at| at - start).collect::<Vec<_>>()
        };
        assert_eq!(order(7), order(7));
        assert_ne!(order(7), order(8));
    }

    #[test]
    fn the_cycle_visits_every_line_once() {
        for lines in [1, 2, 3, 64, 1000] {
            let next = single_cycle(lines, &mut Rng::with_seed(1));
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
        link(&mut words, 128, &single_cycle(5, &mut Rng::with_seed(7)));
        let mut targets: Vec<usize> = (0..5).map(|i| words[i * 16]).collect();
        targets.sort();
        assert_eq!(targets, (0..5).map(|i| first + i * 128).collect::<Vec<_>>());
    }
}
