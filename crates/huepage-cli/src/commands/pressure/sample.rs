// SPDX-License-Identifier: MIT OR Apache-2.0
//! Made-up looks and runs, for tests.

use std::time::Duration;

use huepage::{
    color::{Held, Pressure},
    topology::CacheGeometry,
    units::Bytes,
};

use super::{
    bins::Bins,
    clocks::Spent,
    report::{Covers, PressureReport, Subject},
    tally::{Look, Tally},
};

/// A look at ten lines of each color, of which so many were gone; quiet if none
/// was.
pub fn look(evicted: &[u64], waited: Duration) -> Look {
    let quiet = evicted.iter().all(|&gone| gone == 0);
    let colors = evicted.iter().map(|&evicted| Held { lines: 10, evicted }).collect();
    let mut pressure = Pressure::none(huepage::color::ColorCount::new(1).unwrap());
    pressure.waited = waited;
    pressure.looks = 1;
    pressure.quiet_looks = u64::from(quiet);
    pressure.colors = colors;
    Look(pressure)
}

/// A machine whose name is markup.
pub fn subject(colors: u32) -> Subject {
    let size = Bytes(u64::from(colors) * 16 * 4096);
    let cache = CacheGeometry::from_size(2, size, 16, 64).unwrap();
    Subject {
        model: Some("A & B <CPU>".to_owned()),
        kernel: "6.1.0".to_owned(),
        cpu: 1,
        cache: Some(cache),
        page_size: Bytes::kib(4),
        colors,
    }
}

/// A minute with a neighbor from second 20 to 40 that evicts most of the first quarter
/// of the colors; every hundredth look lost its CPU.
pub fn run(colors: u32) -> PressureReport {
    let subject = subject(colors);
    let mut tally = Tally::none(subject.color_count());
    let mut bins = Bins::default();
    for i in 1..=600u64 {
        let neighbor = (200..400).contains(&i);
        let gone = |color| match (neighbor, color < u64::from(colors / 4)) {
            (true, true) => 8,
            (true, false) => (i + color) % 3,
            (false, _) => 0,
        };
        let evicted: Vec<u64> = (0..u64::from(colors)).map(gone).collect();
        let waited = if i % 100 == 0 { Pressure::WAIT * 10 } else { Pressure::WAIT };
        let look = look(&evicted, waited);
        tally.add(&look);
        bins.add(look, Duration::from_millis(i * 100));
    }
    let spent = Spent { elapsed: Duration::from_secs(60), own: 0.008, stolen: Some(0.031) };
    PressureReport::new(&subject, Covers::Run, 1_700_000_000, Duration::ZERO, spent, &tally, &bins)
}
