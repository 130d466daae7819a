// SPDX-License-Identifier: MIT OR Apache-2.0
//! A load to measure beside, for as many seconds as asked:
//!
//! ```console
//! $ taskset -c 1 neighbor compute 60    # arithmetic only
//! $ taskset -c 1 neighbor turns 60      # a millisecond of the cache, three of rest
//! $ taskset -c 0 neighbor thrash 60     # the cache, without rest
//! ```

use std::{
    hint::black_box,
    process::ExitCode,
    time::{Duration, Instant},
};

use huepage::{
    mapping::{Mapping, PageKind, page_size},
    units::Bytes,
};

/// Larger than any L2.
const MEMORY: Bytes = Bytes::mib(16);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, seconds] = arguments.as_slice() else { return usage() };
    let Ok(seconds) = seconds.parse::<u64>() else { return usage() };
    let end = Instant::now() + Duration::from_secs(seconds);
    match kind.as_str() {
        "compute" => compute_until(end),
        "thrash" => thrash(end, Duration::MAX, Duration::ZERO),
        "turns" => thrash(end, Duration::from_millis(1), Duration::from_millis(3)),
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("neighbor: usage: neighbor compute|thrash|turns SECONDS");
    ExitCode::from(2)
}

fn compute_until(end: Instant) {
    let mut value = 1u64;
    while Instant::now() < end {
        for _ in 0..10_000 {
            value = black_box(value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
    }
}

/// Reads a line of each 64 bytes for `busy`, then rests, again and again.
fn thrash(end: Instant, busy: Duration, rest: Duration) {
    let memory =
        Mapping::populated(MEMORY.pages(page_size()), PageKind::Base).expect("16 MiB for a load");
    // SAFETY: the mapping is populated, readable, and ours alone.
    let bytes = unsafe { std::slice::from_raw_parts(memory.as_ptr(), memory.len()) };
    let mut lines = bytes.iter().step_by(64).cycle();
    while Instant::now() < end {
        let begin = Instant::now();
        while begin.elapsed() < busy && Instant::now() < end {
            black_box(lines.by_ref().take(4096).map(|&byte| u64::from(byte)).sum::<u64>());
        }
        std::thread::sleep(rest);
    }
}
