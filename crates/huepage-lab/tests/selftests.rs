// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's selftests: that of page coloring always, the others when asked for.

use huepage_lab::{
    arch::Arch,
    kernel::{Config, Request, Variant, ktap::Outcome},
    progress::Progress,
    selftests::{self, Boots, List, Run},
    workspace::Workspace,
};

fn run(request: Request, coloring: Option<&str>, filter: Option<&str>) -> Run {
    let workspace = Workspace::find().unwrap();
    let list = List::read(&workspace, request.arch, filter).unwrap();
    let boots = Boots { request, coloring: coloring.map(str::to_owned) };
    let run = selftests::run(&workspace, &boots, &list, &Progress::silent(), &mut |_| ());
    run.unwrap_or_else(|error| panic!("{error:#}"))
}

fn page_color(arch: Arch, variant: Variant, coloring: Option<&str>) -> Run {
    // The kernel that other tests have built.
    let request = Request { arch, variant, config: Config::Plain };
    run(request, coloring, Some("page_color/*"))
}

fn passes(arch: Arch, coloring: Option<&str>) {
    let run = page_color(arch, Variant::Huepage, coloring);
    assert_eq!(run.reports, [""; 0]);
    let [test] = &run.tests[..] else { panic!("{run:?}") };
    assert_eq!(test.outcome, Outcome::Passed, "{test:#?}");
    assert!(test.subtests.len() >= 10, "{test:#?}");
    assert!(test.subtests.iter().all(|part| part.outcome == Outcome::Passed), "{test:#?}");
}

#[test]
fn page_coloring_passes_its_selftest_on_x86_64() {
    passes(Arch::X86_64, None);
}

#[test]
fn page_coloring_passes_its_selftest_on_arm64() {
    passes(Arch::Arm64, None);
}

/// Its state, from the command line, is put back after each part.
#[test]
fn page_coloring_that_is_on_from_boot_passes_too() {
    passes(Arch::X86_64, Some("16M"));
}

#[test]
fn a_kernel_without_page_coloring_skips_its_selftest_and_says_why() {
    let run = page_color(Arch::X86_64, Variant::Stock, None);
    assert_eq!(run.tests[0].outcome, Outcome::Skipped, "{run:?}");
    let said = run.tests[0].said.join("\n");
    assert!(said.contains("needs CONFIG_PAGE_COLOR"), "{said}");
}

/// Builds two kernels and runs all tests on three: `cargo test -p huepage-lab --test
/// selftests -- --ignored`
#[test]
#[ignore = "takes half an hour"]
fn what_passes_on_the_stock_kernel_passes_on_ours() {
    let arch = Arch::X86_64;
    let request = |variant| Request { arch, variant, config: Config::Selftests };
    let stock = run(request(Variant::Stock), None, None);
    let passed = stock.tests.iter().filter(|test| test.outcome == Outcome::Passed).count();
    assert!(passed >= 50, "{stock:#?}");
    for coloring in [None, Some("16M")] {
        let ours = run(request(Variant::Huepage), coloring, None);
        assert_eq!(selftests::compare(&stock, &ours), []);
        assert_eq!(ours.reports, [""; 0]);
    }
}
