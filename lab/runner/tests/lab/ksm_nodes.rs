// SPDX-License-Identifier: MIT OR Apache-2.0
//! The quick form of `ksm-nodes` on real kernels, against what must hold.

use huepage_lab::{
    experiment::Experiment,
    experiments,
    results::{Results, Row},
};

use crate::support::{number, only_row, quick};

/// Of the quick form.
const CONTENTS: f64 = 64.0;
const PAGES_OF_WORKER: f64 = 256.0;
const LINES_OF_PAGE: f64 = 64.0;

fn experiment() -> &'static Experiment {
    experiments::find("ksm-nodes").unwrap()
}

fn run(set: &[&str]) -> Results {
    quick("ksm-nodes", set)
}

fn rows<'a>(results: &'a Results, settings: &'a [(&str, &str)]) -> Vec<&'a Row> {
    results.with(settings).collect()
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
        by_distance(&results, arch);
    }
    // What people get to see has all of it.
    assert_eq!((experiment().page)(&results).tables.len(), 4);
    let (_, beside) = (experiment().page)(&results).source;
    assert!(beside.markdown().contains("13.04"), "{}", beside.markdown());
    (experiment().page)(&results).plot.svg().unwrap();
}

#[test]
fn with_caches_the_spread_is_that_of_what_they_do_not_have() {
    let set = ["arch=x86_64", "event=merge", "caches=l3", "contents=256", "unique=512"];
    let results = run(&set);
    let get = |across, state, name| {
        let row = only_row(&results, &[("merge_across_nodes", across), ("state", state)]);
        number(row, name)
    };
    // The L3 has room for half of the pages of a worker, and merging leaves three quarters.
    let share = get("0", "unmerged", "memory_share");
    assert!((0.45..0.55).contains(&share), "{share}");
    for across in ["0", "1"] {
        assert!(get(across, "merged", "memory_share") < share - 0.1);
    }
    // What is far is a part of that, and all other spread is chance.
    assert!(get("0", "merged", "remote_share") < 0.01);
    assert!(get("1", "merged", "remote_share") > 0.1);
    let spread = |across| get(across, "merged", "access_time_sd_percent");
    assert!(spread("0") < 1.0, "{}", spread("0"));
    assert!((2.0..13.0).contains(&spread("1")), "{}", spread("1"));
}

fn merging(results: &Results, arch: &str) {
    let get = |across, state| {
        let settings =
            [("arch", arch), ("event", "merge"), ("merge_across_nodes", across), ("state", state)];
        only_row(results, &settings.clone()).clone()
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
    let stock = [("event", "switch"), ("arch", arch), ("merge_across_nodes", "1")];
    assert_eq!(rows(results, &stock).len(), 4);
    for row in rows(results, &stock) {
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
        let row = only_row(results, &settings);
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

/// Two nodes at a distance of 16: both of mainline's ways, and what it cannot do.
fn by_distance(results: &Results, arch: &str) {
    let get = |settings: &[(&str, &str)]| {
        only_row(results, &[&[("arch", arch)], settings].concat()).clone()
    };
    for (distance, across) in [("10", "0"), ("16", "1")] {
        let merged = [("event", "merge"), ("state", "merged")];
        let ours = get(&[&merged[..], &[("merge_distance", distance)]].concat());
        let stock = get(&[&merged[..], &[("merge_across_nodes", across)]].concat());
        for name in ["pages_shared", "pages_sharing", "remote_share", "access_time_mean"] {
            assert_eq!(number(&ours, name), number(&stock, name), "{name} {ours:?}");
        }
    }

    // Changed while pages are merged, there and back: as after a fresh boot.
    for (from, to, split, folded) in
        [("16", "10", 2.0 * CONTENTS, 0.0), ("10", "16", 0.0, 2.0 * CONTENTS)]
    {
        let row = get(&[("event", "switch"), ("merge_distance", "16"), ("from", from), ("to", to)]);
        assert_eq!(row.metrics["strict"], "EBUSY");
        assert_eq!(row.metrics["while_shared"], "accepted");
        assert_eq!(number(&row, "split"), split);
        assert_eq!(number(&row, "folded"), folded);
        assert_eq!(number(&row, "spanning_at_first"), split);
        for name in ["pages_shared", "pages_sharing"] {
            assert_eq!(number(&row, name), number(&row, &format!("fresh_{name}")), "{row:?}");
        }
    }
    // The process that unmerges has no policy, but the workers have one: the half of the
    // pages that stock leaves on other nodes comes back.
    let unmerged = get(&[("event", "switch"), ("from", "10"), ("to", "16")]);
    assert_eq!(number(&unmerged, "local_share_unmerged"), 1.0);
    assert_eq!(number(&unmerged, "pages_shared_unmerged"), 0.0);

    // Pages that migrated merge with the copy that is there; stock keeps both.
    let offline = |knob, value| get(&[("event", "offline"), (knob, value)]);
    assert_eq!(number(&offline("merge_across_nodes", "0"), "excess_copies"), CONTENTS);
    let ours = offline("merge_distance", "10");
    assert_eq!(number(&ours, "excess_copies"), 0.0);
    assert_eq!(number(&ours, "pages_shared"), CONTENTS);
    assert_eq!(number(&ours, "pages_sharing"), 3.0 * CONTENTS);
}

/// Three nodes in a row of which the ends are farther apart: the first proposal of a
/// distance merged as the order of the scan was. Here workers fill their pages in
/// ascending order, and in descending order before the distance is changed.
#[test]
fn which_pages_merge_is_said_by_distances_and_not_by_the_order_of_the_scan() {
    let results = run(&[
        "arch=x86_64",
        "topology=ring",
        "nodes=4",
        "hop=3",
        "event=merge,switch",
        "merge_distance=10,13",
    ]);
    let ascending =
        only_row(&results, &[("event", "merge"), ("merge_distance", "13"), ("state", "merged")]);
    let descending = only_row(&results, &[("event", "switch"), ("from", "10"), ("to", "13")]);
    for row in [ascending, descending] {
        assert_eq!(numbers(row, "domain_of"), [0.0, 0.0, 2.0, 2.0]);
        assert_eq!(number(row, "pages_shared"), 2.0 * CONTENTS);
        assert_eq!(number(row, "pages_sharing"), 6.0 * CONTENTS);
        let frames = numbers(row, "merged_by_node");
        assert_eq!(frames[0] + frames[1], CONTENTS, "{row:?}");
        assert_eq!(frames[2] + frames[3], CONTENTS, "{row:?}");
    }
    // Between the two ends of stock, in what is saved and in what it costs.
    let merged = |knob, value| {
        only_row(&results, &[("event", "merge"), (knob, value), ("state", "merged")]).clone()
    };
    let (apart, all) = (merged("merge_across_nodes", "0"), merged("merge_across_nodes", "1"));
    for name in ["saved_share", "access_time_mean"] {
        let (low, high) = (number(&apart, name), number(&all, name));
        let between = number(ascending, name);
        assert!(low < between && between < high, "{name}: {low} {between} {high}");
    }
}

#[test]
fn contents_and_counts_survive_everything_at_once() {
    let results = run(&["arch=x86_64", "nodes=4", "event=stress", "seconds=0"]);
    for row in &results.rows {
        // Eight workers stood still three times and ended, each time with all pages read.
        assert!(number(row, "verified") >= 4.0 * 8.0 * 512.0, "{row:?}");
    }
    let ours = only_row(&results, &[("merge_distance", "10")]);
    assert!(number(ours, "split") > 0.0, "{ours:?}");
}

#[test]
fn the_same_seed_gives_the_same_counts() {
    let set = ["arch=x86_64", "event=merge,offline", "merge_across_nodes=1", "merge_distance=10"];
    let (first, second) = (run(&set), run(&set));
    assert_eq!(first.rows, second.rows);
}
