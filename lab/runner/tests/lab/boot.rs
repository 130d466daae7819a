// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real kernels are booted, and broken ones recognized.

use std::time::Duration;

use huepage::units::Bytes;
use huepage_lab::{
    arch::Arch,
    boot::{BootError, Case, Machine, Report, boot},
    kernel::{self, Request},
    model::{Level, Model, Replacement},
    progress::Progress,
    workspace::Workspace,
};

fn hello(arch: Arch, fail: &str, limit: Duration) -> Result<Report, BootError> {
    let workspace = Workspace::find().unwrap();
    let request = Request::stock(arch);
    let kernel = kernel::ensure(&request, &Progress::silent()).unwrap().path;
    let case = Case {
        arguments: vec![("fail".into(), fail.into())],
        model: Some(model()),
        regions: vec![1],
        limit,
        ..Case::of("hello", Machine::plain(2, Bytes(256 << 20))).on(&request)
    };
    boot(&workspace, &case, &kernel, &mut |line| print!("{line}"))
}

/// One small cache: enough to see regions.
fn model() -> Model {
    Model {
        levels: vec![Level::private("L1", Bytes::kib(32), 8, Replacement::Lru, 4)],
        ..Model::uncached(80)
    }
}

const LONG: Duration = Duration::from_secs(300);

fn boots(arch: Arch, machine: &str) {
    let report = hello(arch, "no", LONG).unwrap();
    let said = &report.results[0];
    assert_eq!(said["machine"], machine);
    assert_eq!(said["cpus"], 2);
    assert!(said["release"].as_str().unwrap().starts_with("6.12."), "{said}");
    let [record] = &report.records[..] else { panic!("{:?}", report.records) };
    assert_eq!((record.region, record.sequence), (1, 0));
    // A read to compare, a read and a write to count; a tick may fall into it.
    assert!((3001..40_000).contains(&record.accesses), "{record:?}");
    assert!(record.instructions > record.accesses);
}

#[test]
fn a_kernel_boots_on_x86_64() {
    boots(Arch::X86_64, "x86_64");
}

#[test]
fn a_kernel_boots_on_arm64() {
    boots(Arch::Arm64, "aarch64");
}

#[test]
fn a_panic_is_shown_with_the_last_lines() {
    let error = hello(Arch::X86_64, "panic", LONG).unwrap_err();
    assert!(error.to_string().contains("sysrq"), "{error}");
}

#[test]
fn a_guest_that_gives_up_says_why() {
    let error = hello(Arch::X86_64, "guest", LONG).unwrap_err();
    assert!(
        matches!(&error, BootError::Guest { reason, .. } if reason == "as asked for"),
        "{error}"
    );
}

#[test]
fn a_first_process_that_ends_is_a_panic() {
    let error = hello(Arch::X86_64, "exit", LONG).unwrap_err();
    assert!(
        matches!(&error, BootError::Panic { reason, .. } if reason.contains("kill init")),
        "{error}"
    );
}

#[test]
fn a_guest_that_hangs_is_stopped() {
    let error = hello(Arch::X86_64, "hang", Duration::from_secs(20)).unwrap_err();
    assert!(matches!(&error, BootError::Hung { .. }), "{error}");
    assert!(error.to_string().contains("LAB {"), "{error}");
}

#[test]
fn a_region_that_was_not_marked_is_missed() {
    let error = hello(Arch::X86_64, "region", LONG).unwrap_err();
    assert!(matches!(&error, BootError::NoRegion { regions, .. } if *regions == [1]), "{error}");
}
