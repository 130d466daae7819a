// SPDX-License-Identifier: MIT OR Apache-2.0
//! A small program whose running time should be the same every time.

use huepage::units::Bytes;

use crate::bench::{
    workload::{Unit, Workload, time},
    workloads::{
        chase::{follow, link, single_cycle},
        read::read,
    },
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
        Repeat { bytes, line, next: single_cycle(bytes.0 as usize / line, SEED) }
    }

    fn words<'a>(&self, memory: &'a mut [u8]) -> &'a mut [usize] {
        bytemuck::cast_slice_mut(&mut memory[..self.bytes.0 as usize])
    }

    /// # Safety
    /// `words` must be linked.
    unsafe fn program(&self, words: &[usize]) {
        // SAFETY: the caller's contract.
        unsafe { follow(words, LOOKUP_PASSES * self.next.len()) };
        read(bytemuck::cast_slice(words), SWEEPS);
    }
}

impl Workload for Repeat {
    fn name(&self) -> &'static str {
        "repeat"
    }

    fn unit(&self) -> Unit {
        Unit::Milliseconds
    }

    fn warm(&self, memory: &mut [u8]) {
        let words = self.words(memory);
        link(words, self.line, &self.next);
        // SAFETY: just linked.
        unsafe { self.program(words) };
    }

    fn slice(&self, memory: &mut [u8]) -> f64 {
        let words = self.words(memory);
        // SAFETY: a slice comes after `warm`, which linked the words.
        time(|| unsafe { self.program(words) }).as_secs_f64() * 1e3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figure_is_a_positive_number() {
        let mut words = vec![0u64; 4096];
        let repeat = Repeat::new(Bytes::kib(32), 64);
        let memory: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        repeat.warm(memory);
        let figure = repeat.slice(memory);
        assert!(figure > 0.0 && figure.is_finite(), "{figure}");
    }
}
