// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long it takes to find the colors of this machine's cache, and to classify 4,096
//! pages.
//!
//! The oracle pins its thread to the CPU measured, the last one available. If the
//! machine declares no cache to color, or colors cannot be measured or trusted, nothing
//! is timed and the reason is printed.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use huepage::{
    color::{ColorError, ColorOracle, MeasureOptions, MeasuredOracle},
    mapping::{Mapping, PageAddr, PageKind},
    topology::{LiveMachine, Topology, allowed_cpus},
};

const PAGES: usize = 4096;

fn discover(c: &mut Criterion) {
    let Some(options) = options("discover") else { return };
    let mut group = c.benchmark_group("discover");
    group.sample_size(20).measurement_time(Duration::from_secs(15));
    let mut seed = options.seed;
    let mut rejected = 0;
    let colors = match MeasuredOracle::discover(&options) {
        Ok(oracle) => oracle.count(),
        Err(error) => return println!("discover is left out: {error}"),
    };
    group.bench_function(BenchmarkId::from_parameter(format!("{colors} colors")), |bencher| {
        // By hand, so that dropping the arena of one is not timed with the next.
        bencher.iter_custom(|iterations| {
            let mut total = Duration::ZERO;
            for _ in 0..iterations {
                seed = seed.wrapping_add(1);
                let options = MeasureOptions { seed, ..options.clone() };
                let begin = Instant::now();
                let oracle = MeasuredOracle::discover(&options);
                total += begin.elapsed();
                match black_box(oracle) {
                    Ok(_) => {}
                    // Counted with the time it took: users wait for it too.
                    Err(ColorError::NotTrusted(_)) => rejected += 1,
                    Err(error) => panic!("measuring worked a moment ago: {error}"),
                }
            }
            total
        });
    });
    group.finish();
    if rejected > 0 {
        println!("discover: {rejected} run(s) ended without a map to trust");
    }
}

fn assign(c: &mut Criterion) {
    let Some(options) = options("assign") else { return };
    let mut oracle = match MeasuredOracle::discover(&options) {
        Ok(oracle) => oracle,
        Err(error) => return println!("assign is left out: {error}"),
    };
    let mut group = c.benchmark_group("assign");
    group.sample_size(30).measurement_time(Duration::from_secs(10));
    group.throughput(Throughput::Elements(PAGES as u64));
    group.bench_function(BenchmarkId::from_parameter(format!("{PAGES} pages")), |bencher| {
        // Fresh pages each time, as programs have them.
        let pages = || Mapping::populated(PAGES, PageKind::Base).expect("16 MiB of memory");
        bencher.iter_batched_ref(
            pages,
            |mapping| {
                let addresses: Vec<PageAddr> = mapping.iter().collect();
                // SAFETY: the pages belong to `mapping`, which outlives the call.
                unsafe { oracle.classify(&addresses) }.expect("the CPU is still there")
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

/// How to measure here; `None`, with the reason printed, where there is no
/// cache to color.
fn options(bench: &str) -> Option<MeasureOptions> {
    let cpu = *allowed_cpus().ok()?.last()?;
    let geometry = || -> Result<_, Box<dyn std::error::Error>> {
        Ok(Topology::read(&LiveMachine::open(cpu)?)?.cache_to_color(cpu)?)
    };
    match geometry() {
        Ok(geometry) => Some(MeasureOptions::new(cpu, Some(geometry))),
        Err(why) => {
            println!("{bench} is left out: {why}");
            None
        }
    }
}

criterion_group!(benches, discover, assign);
criterion_main!(benches);
