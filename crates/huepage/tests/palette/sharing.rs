// SPDX-License-Identifier: MIT OR Apache-2.0
//! What programs share through a palette, and what opening it takes.

use std::{fs, os::fd::AsRawFd, time::Instant};

use huepage::{
    color::{
        Color, ColorOracle, MeasuredOracle,
        palette::{Audience, Palette, PaletteState},
    },
    mapping::{Mapping, PageKind},
    topology::allowed_cpus,
};

use crate::{
    child::{self, child},
    own, ready, same, tried,
};

/// The first palette is made, the second found, and a program on another CPU, if there
/// is one, gives the very same frames the same color numbers.
#[test]
fn two_programs_call_the_same_pages_the_same_on_any_cpu() {
    let Some((measure, directory)) = ready() else { return };
    let mut palette = Palette::open(&measure, &own(directory.path())).unwrap();
    assert_eq!((palette.state(), palette.notes()), (&PaletteState::Made, &[][..]));

    const PAGES: usize = 2048;
    let (file, pages) = child::shared_pages(PAGES);
    let path = format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd());
    for cpu in allowed_cpus().unwrap() {
        let compare = || {
            // SAFETY: the pages are mapped to the end of the test.
            let here = unsafe { palette.classify(&pages) }.unwrap();
            let told = child(directory.path()).cpu(cpu).tell(&path, PAGES).run();
            assert_eq!((told.name.as_str(), told.state.as_str()), (palette.name(), "found"));
            let there: Vec<_> = told.colors.iter().map(|color| color.map(Color)).collect();
            same(&here, &there)
        };
        let same = tried(compare, |same| *same > 0.99);
        assert!(same > 0.99, "CPU {cpu}: {same}");
        // And in one process that goes from CPU to CPU.
        palette.measure_on(cpu);
        assert!(palette.verify().unwrap(), "CPU {cpu}");
    }
}

/// Color numbers differ from those of another discovery, so the test above does not
/// pass by chance.
#[test]
fn a_palette_made_anew_has_another_name() {
    let Some((measure, directory)) = ready() else { return };
    let options = own(directory.path());
    let mut first = Palette::make(&measure, &options, Audience::User).unwrap();
    let mut second = Palette::make(&measure, &options, Audience::User).unwrap();
    assert_ne!(first.name(), second.name());
    let mapping = Mapping::populated(1024, PageKind::Base).unwrap();
    let pages: Vec<_> = mapping.iter().collect();
    let compare = || {
        // SAFETY: the pages are mapped to the end of the test. The first palette's
        // segment was removed, but not from those who have it.
        let (a, b) = unsafe { (first.classify(&pages).unwrap(), second.classify(&pages).unwrap()) };
        (same(&a, &b), huepage::color::pair_agreement(&a, &b))
    };
    let (same, agreement) = tried(compare, |&(_, agreement)| agreement > 0.99);
    assert!(same < 0.5, "{same}");
    assert!(agreement > 0.99, "{agreement}");
}

#[test]
fn opening_takes_a_small_part_of_a_discovery() {
    let Some((measure, directory)) = ready() else { return };
    let options = own(directory.path());
    Palette::open(&measure, &options).unwrap();
    let seconds = |work: &dyn Fn()| {
        let begin = Instant::now();
        work();
        begin.elapsed().as_secs_f64()
    };
    let mut ratios = Vec::new();
    // A neighbor can be quiet in one and not in the other.
    for _ in 0..8 {
        let discovery = seconds(&|| {
            MeasuredOracle::discover(&measure).unwrap();
        });
        let opening = seconds(&|| {
            let palette = Palette::open(&measure, &options).unwrap();
            assert_eq!(palette.state(), &PaletteState::Found, "{:?}", palette.notes());
        });
        ratios.push(discovery / opening);
        if ratios.iter().any(|&ratio| ratio > 8.0) {
            return;
        }
    }
    panic!("{ratios:?}");
}

#[test]
fn no_palette_is_made_where_none_is_to_be_made() {
    let Some((measure, directory)) = ready() else { return };
    let mut options = own(directory.path());
    options.make = false;
    let error = Palette::open(&measure, &options).unwrap_err().to_string();
    assert!(error.contains("no palette yet"), "{error}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_thread_that_opens_a_palette_may_run_where_it_could_before() {
    let Some((measure, directory)) = ready() else { return };
    let before = allowed_cpus().unwrap();
    let threads = || fs::read_dir("/proc/self/task").unwrap().count();
    let running = threads();
    for _ in 0..2 {
        Palette::open(&measure, &own(directory.path())).unwrap();
        assert_eq!(allowed_cpus().unwrap(), before);
    }
    assert_eq!(threads(), running);
}
