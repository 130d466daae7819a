// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two ordinary programs that take turns on a CPU, for `huepage run --share`; they know
//! nothing of pages and colors.
//!
//! ```text
//! cargo build --release --example turns
//! target/release/examples/turns serve 512 2000 &
//! target/release/examples/turns stream 64
//! ```
//!
//! `serve KIB REQUESTS` waits a millisecond, then follows pointers once through every line
//! of so much memory, over and over; at the end it prints how long that took, in
//! microseconds of its own CPU time: the median and the 99th percentile. `stream MIB` adds
//! one to all of so much memory, until it is killed.

use std::{env, hint::black_box, process::ExitCode, thread, time::Duration};

use rustix::time::{ClockId, clock_gettime};

/// The words of a cache line.
const LINE: usize = 64 / size_of::<usize>();
/// Requests whose times are not kept: placing begins meanwhile.
const WARM: usize = 3000;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let number = |word: &str| word.parse::<usize>().ok().filter(|&number| number > 0);
    match words[..] {
        ["serve", kib, requests] => match (number(kib), number(requests)) {
            (Some(kib), Some(requests)) => serve(kib << 10, requests),
            _ => return usage(),
        },
        ["stream", mib] => match number(mib) {
            Some(mib) => stream(mib << 20),
            None => return usage(),
        },
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: turns serve KIB REQUESTS | turns stream MIB");
    ExitCode::from(2)
}

fn serve(bytes: usize, requests: usize) {
    let lines = bytes / 64;
    let memory = linked(lines);
    let mut times = Vec::with_capacity(requests);
    for request in 0..WARM + requests {
        thread::sleep(Duration::from_millis(1));
        let begin = cpu_time();
        let mut at = 0;
        for _ in 0..lines {
            at = memory[at];
        }
        black_box(at);
        if request >= WARM {
            times.push((cpu_time() - begin).as_secs_f64() * 1e6);
        }
    }
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!("{:.1} {:.1}", at(0.5), at(0.99));
}

/// The first word of each line holds the index of the line after it, in one cycle
/// through all. So many lines as a power of two has.
fn linked(lines: usize) -> Vec<usize> {
    let lines = lines.next_power_of_two();
    let mut memory = vec![0; lines * LINE];
    for line in 0..lines {
        // G. Marsaglia and others: a linear congruential generator with full period.
        memory[line * LINE] = (line * 5 + 12345) % lines * LINE;
    }
    memory
}

fn stream(bytes: usize) {
    let mut memory = vec![0u64; bytes / size_of::<u64>()];
    loop {
        memory.iter_mut().for_each(|word| *word += 1);
        black_box(&mut memory);
    }
}

fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
