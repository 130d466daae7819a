// SPDX-License-Identifier: MIT OR Apache-2.0
//! A small program whose running time should be the same every time.

use crate::bench::{
    workload::{Unit, Workload, median_time, time},
    workloads::{chase::Cycle, read::read},
};

/// A working set near the size of the cache, looked up at random and swept in
/// order: what an in-memory index or a graph walk does between two results. The
/// work is fixed, the figure is its time.
pub struct Repeat {
    /// Length of a cache line.
    pub line: usize,
}

const SEED: u64 = 0x7061_6765;

/// Passes of random lookups and of sweeps in one run of the program. A sweep
/// costs far less than a pass of lookups, so there are more of them.
const LOOKUP_PASSES: usize = 64;
const SWEEPS: usize = 256;
/// Runs over one allocation, of which the median counts: a neighbor's burst of
/// a few milliseconds says nothing about placement.
const RUNS: usize = 5;

impl Workload for Repeat {
    fn name(&self) -> &'static str {
        "repeat"
    }

    fn unit(&self) -> Unit {
        Unit::Milliseconds
    }

    fn run(&self, memory: &mut [u8]) -> f64 {
        let cycle = Cycle::link(memory, self.line, SEED);
        let program = || {
            cycle.follow(LOOKUP_PASSES * cycle.lines());
            read(cycle.words(), SWEEPS);
        };
        program();
        median_time(RUNS, || time(program)).as_secs_f64() * 1e3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figure_is_a_positive_number() {
        let mut words = vec![0u64; 4096];
        let figure = Repeat { line: 64 }.run(bytemuck::cast_slice_mut(&mut words));
        assert!(figure > 0.0 && figure.is_finite(), "{figure}");
    }
}
