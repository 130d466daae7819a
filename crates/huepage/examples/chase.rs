// SPDX-License-Identifier: MIT OR Apache-2.0
//! An ordinary program for `huepage bench exec`: it allocates memory as other programs
//! do, and follows pointers through every line of it in random order. It does not use
//! pages or colors.
//!
//! ```text
//! cargo build --release --example chase
//! huepage bench exec -- target/release/examples/chase 1792 200
//! ```
//!
//! follows 200 million pointers in 1792 KiB, seven eighths of an L2 of 2 MiB.

use std::{env, hint::black_box, process::ExitCode};

/// The words of a cache line.
const LINE: usize = 64 / size_of::<usize>();

fn main() -> ExitCode {
    let numbers: Vec<usize> = env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let &[kib, millions] = &numbers[..] else {
        eprintln!("usage: chase KIB MILLIONS");
        return ExitCode::from(2);
    };
    let memory = linked((kib.max(1) << 10) / 64);
    let mut at = 0;
    for _ in 0..millions * 1_000_000 {
        at = memory[at];
    }
    black_box(at);
    ExitCode::SUCCESS
}

/// The first word of each line holds the index of the line after it, in one cycle
/// through all (S. Sattolo, 1986).
fn linked(lines: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..lines).collect();
    let mut random = 88_172_645_463_325_252u64;
    for last in (1..lines).rev() {
        // G. Marsaglia, "Xorshift RNGs", 2003.
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        order.swap(last, random as usize % last);
    }
    let mut memory = vec![0; lines * LINE];
    for (line, &next) in order.iter().enumerate() {
        memory[line * LINE] = next * LINE;
    }
    memory
}
