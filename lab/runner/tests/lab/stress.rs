// SPDX-License-Identifier: MIT OR Apache-2.0
//! The stress does all that it is meant to, on kernels without further checks.

use huepage_lab::{
    arch::Arch,
    kernel::{Config, Request, Variant},
    progress::Progress,
    stress::{self, Done, Stress},
    workspace::Workspace,
};

fn run(arch: Arch, variant: Variant) -> Done {
    let request = Request { arch, variant, config: Config::Plain };
    let stress = Stress { seconds: 0, rounds: 200, seed: 1, workers: 3, pages: 256 };
    let workspace = Workspace::find().unwrap();
    let done = stress::run(&workspace, &request, &stress, &Progress::silent(), &mut |_| ());
    done.unwrap_or_else(|error| panic!("{error:#}"))
}

fn memory(done: &Done) {
    for count in [
        done.pages_verified,
        done.pages_written,
        done.zeros_read,
        done.areas,
        done.forks,
        done.killed,
        done.compact,
        done.drop,
        done.cpu,
    ] {
        assert!(count > 0, "{done:?}");
    }
}

#[test]
fn memory_is_used_compacted_and_taken_away_on_the_stock_kernel() {
    let done = run(Arch::X86_64, Variant::Stock);
    memory(&done);
    assert!(!done.coloring && done.sets == 0, "{done:?}");
    assert!(done.offline > 0 && done.online == done.offline, "{done:?}");
}

fn switches(arch: Arch) {
    let done = run(arch, Variant::Huepage);
    memory(&done);
    assert!(done.coloring, "{done:?}");
    for count in [done.enabled, done.geometry, done.table, done.sets] {
        assert!(count > 0, "{arch}: {done:?}");
    }
}

#[test]
fn all_switches_of_page_coloring_are_turned_on_x86_64() {
    switches(Arch::X86_64);
}

#[test]
fn all_switches_of_page_coloring_are_turned_on_arm64() {
    switches(Arch::Arm64);
}
