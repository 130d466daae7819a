// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's selftests: ours always, the others when asked for.

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

/// The names of the parts that were skipped; no part failed.
fn skipped(request: Request, coloring: Option<&str>) -> Vec<String> {
    let run = run(request, coloring, Some("page_color/*"));
    assert_eq!(run.reports, [""; 0]);
    let [test] = &run.tests[..] else { panic!("{run:?}") };
    assert_eq!(test.outcome, Outcome::Passed, "{test:#?}");
    assert!(test.subtests.len() >= 10, "{test:#?}");
    let (skipped, run): (Vec<_>, Vec<_>) =
        test.subtests.iter().partition(|part| part.outcome == Outcome::Skipped);
    assert!(run.iter().all(|part| part.outcome == Outcome::Passed), "{test:#?}");
    skipped.into_iter().map(|part| part.name.clone()).collect()
}

/// On a kernel that other tests have built, which has no tracepoints.
fn passes_without_tracepoints(arch: Arch, coloring: Option<&str>) {
    let request = Request { arch, variant: Variant::Huepage, config: Config::Plain };
    assert_eq!(skipped(request, coloring), ["page_color.choices_can_be_traced"]);
}

/// On the kernel of `exec`, which has tracepoints.
#[test]
fn page_coloring_passes_its_selftest_on_x86_64() {
    let request =
        Request { arch: Arch::X86_64, variant: Variant::Huepage, config: Config::Programs };
    assert_eq!(skipped(request, None), [""; 0]);
}

#[test]
fn page_coloring_passes_its_selftest_on_arm64() {
    passes_without_tracepoints(Arch::Arm64, None);
}

/// Its state, from the command line, is put back after each part.
#[test]
fn page_coloring_that_is_on_from_boot_passes_too() {
    passes_without_tracepoints(Arch::X86_64, Some("16M"));
}

#[test]
fn a_kernel_without_page_coloring_skips_its_selftest_and_says_why() {
    let request = Request { arch: Arch::X86_64, variant: Variant::Stock, config: Config::Plain };
    let run = run(request, None, Some("page_color/*"));
    assert_eq!(run.tests[0].outcome, Outcome::Skipped, "{run:?}");
    let said = run.tests[0].said.join("\n");
    assert!(said.contains("needs CONFIG_PAGE_COLOR"), "{said}");
}

/// In a boot with eight zero pages; within color sets as far as coloring is on, and with
/// memory tags where the kernel is made for them.
fn zero_pages(arch: Arch, config: Config, coloring: Option<&str>) {
    let request = Request { arch, variant: Variant::Huepage, config };
    let run = run(request, coloring, Some("zero_pages/*"));
    assert_eq!(run.reports, [""; 0]);
    let [test] = &run.tests[..] else { panic!("{run:?}") };
    assert_eq!(test.outcome, Outcome::Passed, "{test:#?}");
    let part = |name: &str| {
        let found = test.subtests.iter().find(|part| part.name == name);
        found.unwrap_or_else(|| panic!("no {name}: {test:#?}")).outcome
    };
    assert_eq!(part("zero.addresses_choose_the_page"), Outcome::Passed);
    assert_eq!(part("zero.forced_writes_go_elsewhere"), Outcome::Passed);
    assert_eq!(part("zero.many_processes_at_once_leave_no_trace"), Outcome::Passed);
    let within = if coloring.is_some() { Outcome::Passed } else { Outcome::Skipped };
    assert_eq!(part("zero.sets_choose_among_their_own"), within);
    assert_eq!(part("zero.merged_zeros_choose_alike_and_part_again"), Outcome::Passed);
    if config == Config::Mte {
        assert_eq!(part("zero.tags_are_zero"), Outcome::Passed);
    }
}

#[test]
fn zero_pages_pass_their_selftest_on_x86_64() {
    zero_pages(Arch::X86_64, Config::Plain, None);
}

#[test]
fn zero_pages_pass_their_selftest_on_arm64_within_color_sets() {
    zero_pages(Arch::Arm64, Config::Plain, Some("16M"));
}

/// KSM and the split of a huge page find pages of zeros there, too.
#[test]
#[ignore = "builds a kernel of its own"]
fn zero_pages_have_no_memory_tags_on_arm64() {
    zero_pages(Arch::Arm64, Config::Mte, None);
}

/// Builds two kernels and runs all tests on three: `cargo test -p huepage-lab --test lab
/// what_passes -- --ignored`
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
