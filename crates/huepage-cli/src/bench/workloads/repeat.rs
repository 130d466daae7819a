// SPDX-License-Identifier: MIT OR Apache-2.0
//! A small program whose running time should be the same every time.

use huepage::{chase::follow, units::Bytes};

use crate::bench::{
    workload::{Slice, Unit, Workload, time},
    workloads::{chase::Cycle, read::read},
};

/// Lookups at random in a working set near the size of the cache, and sweeps over it in
/// order, as in an in-memory index or a graph walk between two results. The work is
/// fixed, the figure is its time.
pub struct Repeat(Cycle);

const SEED: u64 = 0x7061_6765;

/// Passes of random lookups and of sweeps in one run of the program. A sweep
/// costs far less than a pass of lookups, so there are more of them.
const LOOKUP_PASSES: usize = 2;
const SWEEPS: usize = 8;

impl Repeat {
    /// The program over the first `bytes` of an allocation.
    pub fn new(bytes: Bytes, line: usize) -> Self {
        Repeat(Cycle::new(bytes, line, SEED))
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
        let words = self.0.link(memory);
        let program = || {
            // SAFETY: the words were just linked, and are borrowed until the end.
            unsafe { follow(words, LOOKUP_PASSES * self.0.len()) };
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
    use crate::bench::workload::assert_figures;

    #[test]
    fn the_figure_is_a_positive_number() {
        let mut words = vec![0u64; 4096];
        let repeat = Repeat::new(Bytes::kib(32), 64);
        assert_figures(&repeat, bytemuck::cast_slice_mut(&mut words), 2);
    }
}
