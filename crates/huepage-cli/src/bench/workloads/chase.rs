// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random pointer chase: the latency of dependent accesses.

use fastrand::Rng;
use huepage::{
    chase::{follow, link, single_cycle},
    units::Bytes,
};

use crate::bench::workload::{Slice, Unit, Workload, time};

/// Pointers through every cache line of the first bytes of an allocation, in random
/// order.
pub struct Cycle {
    bytes: usize,
    line: usize,
    /// The same order in every visit: only the pages differ.
    next: Vec<u32>,
}

impl Cycle {
    /// Through the first `bytes`.
    pub fn new(bytes: Bytes, line: usize, seed: u64) -> Self {
        let bytes = bytes.0 as usize;
        Cycle { bytes, line, next: single_cycle(bytes / line, &mut Rng::with_seed(seed)) }
    }

    /// How many pointers there are.
    pub fn len(&self) -> usize {
        self.next.len()
    }

    /// Writes them to memory.
    pub fn link<'a>(&self, memory: &'a mut [u8]) -> &'a [usize] {
        let words = bytemuck::cast_slice_mut(&mut memory[..self.bytes]);
        link(words, self.line, &self.next);
        words
    }
}

/// Follows pointers through every cache line of the buffer in random order.
///
/// Random over all pages, so that no prefetcher guesses the next line. The figure
/// therefore includes first-level TLB misses; they are the same in all placements of
/// base pages, and fewer with huge pages.
pub struct PointerChase(Cycle);

const SEED: u64 = 0x6875_6570;

/// Accesses in one slice, rounded up to whole cycles: a quarter of a millisecond
/// where all lines are in the L2, one and a half where none is.
const ACCESSES: usize = 1 << 15;

/// Cycles before the first slice: since replacement is not LRU, the cache needs a few
/// to settle.
const WARM: usize = 3;

impl PointerChase {
    /// A chase through the first `bytes` of an allocation.
    pub fn new(bytes: Bytes, line: usize) -> Self {
        PointerChase(Cycle::new(bytes, line, SEED))
    }
}

impl Workload for PointerChase {
    fn name(&self) -> &'static str {
        "chase"
    }

    fn unit(&self) -> Unit {
        Unit::NsPerAccess
    }

    fn visit(&self, memory: &mut [u8], slices: usize, each: &mut dyn FnMut(Slice)) {
        let words = self.0.link(memory);
        let accesses = ACCESSES.next_multiple_of(self.0.len());
        // SAFETY: the words were just linked, and are borrowed until the end.
        let go = |accesses| unsafe { follow(words, accesses) };
        go(WARM * self.0.len());
        for _ in 0..slices {
            each(&mut || time(|| go(accesses)).as_secs_f64() * 1e9 / accesses as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::workload::assert_figures;

    #[test]
    fn the_figure_is_a_positive_number_in_memory_that_others_wrote_to() {
        let chase = PointerChase::new(Bytes::kib(16), 64);
        let mut words = vec![u64::MAX; 8192];
        for _ in 0..2 {
            assert_figures(&chase, bytemuck::cast_slice_mut(&mut words), 3);
            words.fill(7);
        }
    }
}
