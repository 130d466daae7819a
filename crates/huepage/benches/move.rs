// SPDX-License-Identifier: MIT OR Apache-2.0
//! What placing costs compared with plain first touch of as much memory.
//!
//! Both are measured warm: the frames have been touched and freed once before,
//! so that a hypervisor has backed them. Labels are synthetic; classification
//! is not part of the cost. `HUEPAGE_BENCH_SIZE=1GiB cargo bench --bench move`
//! sets the size.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use criterion::{BenchmarkGroup, Criterion, Throughput, measurement::WallTime};
use huepage::{
    color::{Color, ColorCount},
    mapping::{Mapping, PageKind, page_size},
    place::{Mechanism, PlaceError, Policy, Pool},
    units::Bytes,
};

const COLORS: u32 = 32;

/// A pool of `pages` pages in scattered colors, as a kernel gives them.
fn pool(pages: usize, mechanism: Mechanism) -> Result<Pool, PlaceError> {
    let count = ColorCount::new(COLORS).expect("not zero");
    let mapping = Mapping::populated(pages, PageKind::Base)
        .map_err(|source| PlaceError::System { action: "populate memory", source })?;
    let mut labels: Vec<_> = (0..pages).map(|i| Some(Color(i as u32 % COLORS))).collect();
    fastrand::Rng::with_seed(1).shuffle(&mut labels);
    Pool::from_parts(mapping, &labels, count, Some(mechanism))
}

/// First touch of fresh memory; only the touching is timed.
fn touch(pages: usize) -> Duration {
    let mapping = Mapping::reserve(pages, PageKind::Base).expect("address space");
    let start = Instant::now();
    for page in mapping.iter() {
        // SAFETY: the page lies in `mapping`.
        unsafe { page.as_ptr().write_volatile(1) };
    }
    start.elapsed()
}

/// Placing from a pool that was just classified; only the placing is timed.
fn place(pages: usize, mechanism: Mechanism) -> Duration {
    let mut pool = pool(pages, mechanism).expect("a pool");
    let size = Bytes(pages as u64 * page_size().0);
    let start = Instant::now();
    let region = pool.allocate(size, &Policy::Balanced).expect("the pool suffices");
    let spent = start.elapsed();
    black_box(&region);
    spent
}

/// Placing again what was given back; both ways are timed.
fn replace(pool: &mut Pool, pages: usize) -> Duration {
    let size = Bytes(pages as u64 * page_size().0);
    let start = Instant::now();
    let region = pool.allocate(size, &Policy::Balanced).expect("the pool suffices");
    pool.give_back(region).expect("its own region");
    start.elapsed()
}

fn bench(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    mut once: impl FnMut() -> Duration,
) -> Duration {
    let mut samples = Vec::new();
    group.bench_function(name, |bencher| {
        bencher.iter_custom(|n| {
            (0..n)
                .map(|_| {
                    let sample = once();
                    samples.push(sample);
                    sample
                })
                .sum()
        });
    });
    samples.sort_unstable();
    samples[samples.len() / 2]
}

fn main() {
    let size: Bytes = std::env::var("HUEPAGE_BENCH_SIZE")
        .ok()
        .map_or(Ok(Bytes::mib(256)), |text| text.parse())
        .expect("HUEPAGE_BENCH_SIZE is a size");
    let pages = size.pages(page_size());
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group(format!("move {size}"));
    group.throughput(Throughput::Elements(pages as u64)).sample_size(10);
    group.warm_up_time(Duration::from_millis(1)).measurement_time(Duration::from_secs(5));

    touch(pages);
    let plain = bench(&mut group, "first touch", || touch(pages));
    let mut rows = Vec::new();
    match pool(1, Mechanism::Userfaultfd) {
        Err(error) => eprintln!("userfaultfd: skipped: {error}"),
        Ok(_) => {
            let uffd = Mechanism::Userfaultfd;
            rows.push(("place", bench(&mut group, "place", || place(pages, uffd))));
            let mut kept = pool(pages, uffd).expect("a pool");
            replace(&mut kept, pages);
            let spent = bench(&mut group, "place, use, give back", || replace(&mut kept, pages));
            rows.push(("place, give back, wipe", spent));
        }
    }
    // As many pages as the limit of mappings allows.
    let few = pages.min(16_384);
    let remap = bench(&mut group, "place by mremap", || place(few, Mechanism::Remap));
    group.finish();

    let per_page = |spent: Duration, pages: usize| spent.as_nanos() as f64 / pages as f64;
    let plain = per_page(plain, pages);
    println!("\n{size}, medians, ns per page; ratio to first touch");
    println!("{:<26}{plain:>8.0}{:>8}", "first touch", "1.00");
    for (name, spent) in rows {
        let spent = per_page(spent, pages);
        println!("{name:<26}{spent:>8.0}{:>8.2}", spent / plain);
    }
    let remap = per_page(remap, few);
    println!("{:<26}{remap:>8.0}{:>8.2}", "place by mremap", remap / plain);
}
