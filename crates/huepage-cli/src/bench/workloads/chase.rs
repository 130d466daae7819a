// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random pointer chase: the latency of dependent accesses.

use fastrand::Rng;
use huepage::{
    chase::{follow, link, single_cycle},
    units::Bytes,
};

use crate::bench::workload::{Slice, Unit, Workload, time};

/// Follows pointers through every cache line of the buffer in random order.
///
/// Random over all pages, so that no prefetcher guesses the next line. The
/// price is that first-level TLB misses are part of the figure; they are the
/// same in all placements of base pages, and fewer with huge pages.
pub struct PointerChase {
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

impl PointerChase {
    /// A chase through the first `bytes` of an allocation.
    pub fn new(bytes: Bytes, line: usize) -> Self {
        let lines = bytes.0 as usize / line;
        PointerChase { bytes, line, next: single_cycle(lines, &mut Rng::with_seed(SEED)) }
    }

    fn words<'a>(&self, memory: &'a mut [u8]) -> &'a mut [usize] {
        bytemuck::cast_slice_mut(&mut memory[..self.bytes.0 as usize])
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::workload::figures;

    #[test]
    fn the_figure_is_a_positive_number_in_memory_that_others_wrote_to() {
        let chase = PointerChase::new(Bytes::kib(16), 64);
        let mut words = vec![u64::MAX; 8192];
        for _ in 0..2 {
            let figures = figures(&chase, bytemuck::cast_slice_mut(&mut words), 3);
            assert_eq!(figures.len(), 3);
            assert!(figures.iter().all(|f| *f > 0.0 && f.is_finite()), "{figures:?}");
            words.fill(7);
        }
    }
}
