// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long it takes to map a process: this one, with much memory present, and
//! with much address space that is empty.
//!
//! `cargo bench --bench map`; with `HUEPAGE_BENCH_SIZE=8GiB` 8 GiB are present instead
//! of 1 GiB, which takes as much free memory.

use std::{hint::black_box, time::Duration};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use huepage::{
    map::{MapOptions, ProcessMap},
    mapping::{Mapping, PageKind, page_size},
    topology::{LiveMachine, Topology, allowed_cpus},
    units::Bytes,
};

fn map(c: &mut Criterion) {
    let machine = LiveMachine::open(allowed_cpus().unwrap()[0]).unwrap();
    let topology = Topology::read(&machine).unwrap();
    let read = |page_scan| {
        let options = MapOptions { page_scan, ..MapOptions::default() };
        ProcessMap::read(std::process::id(), &machine, &topology, &options).unwrap()
    };
    let size = std::env::var("HUEPAGE_BENCH_SIZE");
    let size: Bytes = size.map_or(Bytes(1 << 30), |size| size.parse().unwrap());
    let mut group = c.benchmark_group("map");
    group.sample_size(10).measurement_time(Duration::from_secs(10));

    let empty = Mapping::reserve(Bytes(1 << 40).pages(page_size()), PageKind::Base).unwrap();
    for scan in [true, false] {
        let how = if scan { "PAGEMAP_SCAN" } else { "without" };
        group.bench_function(format!("1 TiB empty, {how}"), |b| b.iter(|| black_box(read(scan))));
    }
    drop(empty);

    for (name, kind) in [("base", PageKind::Base), ("huge", PageKind::Huge)] {
        let present = Mapping::populated(size.pages(page_size()), kind).unwrap();
        group.throughput(Throughput::Bytes(size.0));
        group.bench_function(format!("{size} present, {name}"), |b| {
            b.iter(|| black_box(read(true)));
        });
        drop(present);
    }
    group.finish();
}

criterion_group!(benches, map);
criterion_main!(benches);
