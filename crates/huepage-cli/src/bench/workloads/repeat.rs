// SPDX-License-Identifier: MIT OR Apache-2.0
//! A small program whose running time should be the same every time.

use fastrand::Rng;
use huepage::{
    chase::{follow, link, single_cycle},
    units::Bytes,
};

use crate::bench::{
    workload::{Slice, Unit, Workload, time},
    workloads::read::read,
};

/// A working set near the size of the cache, looked up at random and swept in
/// order: what an in-memory index or a graph walk does between two results. The
/// work is fixed, the figure is its time.
pub struct Repeat {
    bytes: Bytes,
    line: usize,
    next: Vec<u32>,
}

const SEED: u64 = 0x7061_6765;

/// Passes of random lookups and of sweeps in one run of the program. A sweep
/// costs far less than a pass of lookups, so there are more of them.
const LOOKUP_PASSES: usize = 2;
const SWEEPS: usize = 8;

impl Repeat {
    /// The program over the first `bytes` of an allocation.
    pub fn new(bytes: Bytes, line: usize) -> Self {
        Repeat {
            bytes,
            line,
            next: single_cycle(bytes.0 as usize / line, &mut Rng::with_seed(SEED)),
        }
    }

    fn words<'a>(&self, memory: &'a mut [u8]) -> &'a mut [usize] {
        bytemuck::cast_slice_mut(&mut memory[..self.bytes.0 as usize])
    }
}

impl Workload for Repeat {
    fn name(&self) -> &'static str {
        "repeat"
    }

    fn unit(&self) -> Unit {
        Unit::Milliseconds
    }

    fn visit(&self, memory: &mut [u8], slices: usize, each: &mut dyn FnMut(Slice)) {
        let words = self.words(memory);
        link(words, self.line, &self.next);
        let program = || {
            // SAFETY: the words were just linked, and are borrowed until the end.
            unsafe { follow(words, LOOKUP_PASSES * self.next.len()) };
            read(bytemuck::cast_slice(words), SWEEPS);
        };
        program();
        for _ in 0..slices {
            each(&mut || time(program).as_secs_f64() * 1e3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::workload::figures;

    #[test]
    fn the_figure_is_a_positive_number() {
        let mut words = vec![0u64; 4096];
        let repeat = Repeat::new(Bytes::kib(32), 64);
        let figures = figures(&repeat, bytemuck::cast_slice_mut(&mut words), 2);
        assert!(figures.iter().all(|f| *f > 0.0 && f.is_finite()), "{figures:?}");
    }
}
