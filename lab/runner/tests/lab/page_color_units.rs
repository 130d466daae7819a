// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's unit tests of page coloring, in a kernel that runs as a program.
#![cfg(target_arch = "x86_64")]

use std::time::Duration;

use huepage_lab::{
    arch::Arch,
    kernel::{
        self, Config, Request, Variant,
        ktap::{self, Outcome},
    },
    progress::Progress,
};

#[test]
fn all_suites_pass() {
    let request = Request { arch: Arch::X86_64, variant: Variant::Huepage, config: Config::Kunit };
    let image = kernel::ensure(&request, &Progress::silent()).unwrap();
    let limit = Duration::from_secs(300);
    let suites = kernel::run_kunit(&image.path, Some("page_color*"), limit).unwrap();
    let names: Vec<&str> = suites.iter().map(|suite| suite.name.as_str()).collect();
    for part in ["choose", "geometry", "set"] {
        assert!(names.contains(&format!("page_color_{part}").as_str()), "{part} in {names:?}");
    }
    let not_passed: Vec<_> =
        suites.iter().filter(|suite| suite.outcome != Outcome::Passed).collect();
    assert!(not_passed.is_empty(), "{not_passed:#?}");
    assert_eq!(ktap::totals(&suites).skipped, 0);
}
