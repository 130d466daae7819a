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
        let mut order: Vec<u32> = (0..lines as u32).collect();
        rng.shuffle(&mut order);
        let start = mapping.as_ptr().expose_provenance();
        let address = |index: u32| start + index as usize * line;
        for (i, &from) in order.iter().enumerate() {
            let to = address(order[(i + 1) % lines]);
            let slot = std::ptr::with_exposed_provenance_mut::<usize>(address(from));
            // SAFETY: `from` is below `lines`, so the slot lies in our mapping,
            // which nothing else refers to; a line holds an aligned address.
            unsafe { slot.write(to) };
        }
        let at = address(order[0]);
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
        let mut at = self.at;
        for _ in 0..steps {
            let slot = std::ptr::with_exposed_provenance::<usize>(at);
            // SAFETY: `at` is an address that `new` stored: an aligned slot in
            // our mapping, initialized and never written again.
            at = unsafe { slot.read_volatile() };
        }
        let elapsed = begin.elapsed();
        self.at = black_box(at);
        elapsed.as_nanos() as f64 / steps.max(1) as f64
    }
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
}
