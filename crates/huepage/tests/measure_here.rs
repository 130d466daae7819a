// SPDX-License-Identifier: MIT OR Apache-2.0
//! Discovery on the machine that runs the tests. Alone in its binary, since
//! other tests on the same CPU would disturb it.

use huepage::{
    color::{ColorError, ColorOracle, MeasureOptions, MeasuredOracle},
    mapping::{Mapping, PageAddr, PageKind, page_size},
    topology::{LiveMachine, Topology, allowed_cpus},
};

#[test]
fn colors_are_found_and_two_runs_agree() {
    let cpu = *allowed_cpus().unwrap().last().unwrap();
    let machine = LiveMachine::open(cpu).unwrap();
    let Ok(geometry) = Topology::read(&machine).unwrap().cache_to_color(cpu) else {
        return println!("skipped: this machine declares no cache that can be colored");
    };
    let options = MeasureOptions::new(cpu, Some(geometry));
    let mut oracle = match MeasuredOracle::discover(&options) {
        Ok(oracle) => oracle,
        Err(error @ ColorError::NotTrusted(_)) => {
            return println!("skipped: too noisy, or not indexed by page frame: {error}");
        }
        Err(error) => return println!("skipped: {error}"),
    };
    assert_eq!(oracle.count(), geometry.colors(page_size()));

    let pages = 4096;
    let mapping = Mapping::populated(pages, PageKind::Base).unwrap();
    let addresses: Vec<PageAddr> = mapping.iter().collect();
    // SAFETY: the pages belong to `mapping`, which outlives the call.
    let survey = unsafe { oracle.survey(&addresses) }.unwrap();
    let mut sizes = vec![0; oracle.count().get() as usize];
    for color in survey.colors.iter().flatten() {
        sizes[color.index()] += 1;
    }
    println!(
        "{} colors in {:?}, {pages} pages in {:?}, agreement {:.4}, sizes {sizes:?}",
        oracle.count(),
        oracle.discover_time(),
        survey.assign,
        survey.agreement
    );
    assert_eq!(survey.colors.len(), pages);
    assert!(sizes.iter().sum::<usize>() * 50 >= pages * 49, "more than 2 % unassigned");
    assert!(survey.agreement >= 0.97, "{}", survey.agreement);
}
