// SPDX-License-Identifier: MIT OR Apache-2.0
//! The quick form of `ksm-nodes` on real kernels, against what must hold.

mod support;

use huepage_lab::{
    experiment::Experiment,
    experiments,
    results::{Results, Row},
};
use support::{number, quick};

/// Of the quick form.
const CONTENTS: f64 = 64.0;
const PAGES_OF_WORKER: f64 = 256.0;
const LINES_OF_PAGE: f64 = 64.0;

fn experiment() -> &'static dyn Experiment {
    experiments::find("ksm-nodes").unwrap()
}

fn run(set: &[&str]) -> Results {
    quick("ksm-nodes", set)
}

fn rows<'a>(results: &'a Results, settings: &'a [(&str, &str)]) -> Vec<&'a Row> {
    results.with(settings).collect()
}

fn row<'a>(results: &'a Results, settings: &'a [(&str, &str)]) -> &'a Row {
    let found = rows(results, settings);
    assert_eq!(found.len(), 1, "{settings:?}");
    found[0]
}

fn numbers(row: &Row, name: &str) -> Vec<f64> {
    let list = row.metrics[name].as_array().unwrap();
    list.iter().map(|item| item.as_f64().unwrap()).collect()
}

#[test]
fn the_quick_form_shows_what_theory_says_on_both_architectures() {
    let results = run(&[]);
    for arch in ["x86_64", "arm64"] {
        merging(&results, arch);
        switching(&results, arch);
        going_offline(&results, arch);
    }
    // What people get to see has all of it.
    assert_eq!(experiment().tables(&results).len(), 3);
    let (_, beside) = experiment().against_source(&results);
    assert!(beside.markdown().contains("13.04"), "{}", beside.markdown());
    experiment().plot(&results).svg().unwrap();
}

fn merging(results: &Results, arch: &str) {
    let get = |across, state| {
        let settings =
            [("arch", arch), ("event", "merge"), ("merge_across_nodes", across), ("state", state)];
        row(results, &settings.clone()).clone()
    };
    for across in ["0", "1"] {
        // Before merging all memory is local.
        let before = get(across, "unmerged");
        assert_eq!(number(&before, "remote_share"), 0.0);
        assert_eq!(number(&before, "access_time_sd_percent"), 0.0);
        assert_eq!(number(&before, "pages_sharing"), 0.0);
    }

    // Two workers with two pages of each content: one frame for the four pages, or
    // one on each node for two.
    let apart = get("0", "merged");
    assert_eq!(number(&apart, "pages_shared"), 2.0 * CONTENTS);
    assert_eq!(number(&apart, "pages_sharing"), 2.0 * CONTENTS);
    assert_eq!(numbers(&apart, "merged_by_node"), [CONTENTS, CONTENTS]);
    assert_eq!(number(&apart, "remote_share"), 0.0);
    assert_eq!(number(&apart, "access_time_sd_percent"), 0.0);
    assert_eq!(number(&apart, "page_time_sd_percent"), 0.0);

    let across = get("1", "merged");
    assert_eq!(number(&across, "pages_shared"), CONTENTS);
    assert_eq!(number(&across, "pages_sharing"), 3.0 * CONTENTS);
    assert_eq!(numbers(&across, "merged_by_node").iter().sum::<f64>(), CONTENTS);
    // Half of the pages lie on one node, at distance 16 for the other worker: means
    // of 100 and 130 cycles, and a quarter of all accesses at 160.
    assert_eq!(number(&across, "remote_share"), 0.25);
    assert!((number(&across, "access_time_sd_percent") - 100.0 * 15.0 / 115.0).abs() < 1e-9);
    let over_pages = (0.25 * 0.75 * 60.0_f64.powi(2)).sqrt();
    assert!((number(&across, "page_time_sd_percent") - 100.0 * over_pages / 115.0).abs() < 1e-9);

    for row in [&apart, &across] {
        let read = 2.0 * PAGES_OF_WORKER * LINES_OF_PAGE;
        assert_eq!(number(row, "accesses") - number(row, "stray_accesses"), read);
        assert_eq!(number(row, "stray_accesses"), 0.0);
        assert_eq!(number(row, "pages_verified"), 2.0 * PAGES_OF_WORKER);
    }
}

fn switching(results: &Results, arch: &str) {
    let both = rows(results, &[("event", "switch"), ("arch", arch)]).len();
    assert_eq!(both, 4);
    for row in rows(results, &[("event", "switch"), ("arch", arch)]) {
        assert_eq!(row.metrics["while_shared"], "EBUSY");
        assert_eq!(row.metrics["knob_kept"], true);
        assert_eq!(row.metrics["after_unmerge"], "accepted");
        assert!(number(row, "pages_shared_before") > 0.0);
        assert_eq!(number(row, "pages_shared_unmerged"), 0.0);
        assert_eq!(number(row, "pages_verified"), 4.0 * PAGES_OF_WORKER);
    }
    // Memory that has a policy comes back to its node, and merging begins as if
    // nothing had been.
    for row in rows(results, &[("event", "switch"), ("arch", arch), ("bind", "memory")]) {
        assert_eq!(number(row, "local_share_unmerged"), 1.0);
        for name in ["pages_shared", "pages_sharing"] {
            assert_eq!(number(row, name), number(row, &format!("fresh_{name}")), "{row:?}");
        }
    }
    // A policy of the process does not hold for the process that unmerges: the half
    // of all pages that was merged is on whichever node that one runs.
    for row in rows(results, &[("event", "switch"), ("arch", arch), ("bind", "process")]) {
        let mut by_node = numbers(row, "unmerged_by_node");
        by_node.sort_by(f64::total_cmp);
        assert_eq!(by_node, [128.0, 384.0], "{row:?}");
    }
}

fn going_offline(results: &Results, arch: &str) {
    for (across, shared) in [("1", CONTENTS), ("0", 2.0 * CONTENTS)] {
        let settings = [("event", "offline"), ("arch", arch), ("merge_across_nodes", across)];
        let row = row(results, &settings);
        assert_eq!(number(row, "blocks_offlined"), 2.0);
        assert_eq!(number(row, "merged_there"), CONTENTS);
        assert_eq!(number(row, "pages_shared_before"), shared);
        // All pages are on the node that is left, and new ones merge there.
        assert_eq!(numbers(row, "pages_by_node"), [2.0 * PAGES_OF_WORKER, 0.0]);
        assert_eq!(number(row, "new_shared"), CONTENTS);
        assert_eq!(number(row, "new_sharing"), 3.0 * CONTENTS);
        assert_eq!(numbers(row, "new_merged_by_node"), [CONTENTS, 0.0]);
        assert_eq!(number(row, "pages_verified"), 6.0 * PAGES_OF_WORKER);
        // No page was lost, and none is merged less than before.
        assert!(number(row, "pages_shared") <= shared);
        assert!(number(row, "pages_sharing") >= 4.0 * CONTENTS - shared);
        let frames: f64 = numbers(row, "merged_by_node").iter().sum();
        assert_eq!(frames, number(row, "pages_shared"));
        assert_eq!(frames, CONTENTS + number(row, "excess_copies"));
    }
}

#[test]
fn the_same_seed_gives_the_same_counts() {
    let set = ["arch=x86_64", "event=merge,offline", "merge_across_nodes=1"];
    let (first, second) = (run(&set), run(&set));
    assert_eq!(first.rows, second.rows);
}
