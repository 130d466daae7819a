// SPDX-License-Identifier: MIT OR Apache-2.0
//! The quick form of `aging`, on both architectures, obeys what theory says.

use huepage_lab::results::Results;

use crate::support::{number, only_row, quick};

fn run(set: &[&str]) -> Results {
    quick("aging", set)
}

#[test]
fn pages_age_into_conflicts_and_random_ones_are_as_theory_says() {
    let results = run(&[]);
    // Architectures × forms × (fresh, aged, control) × fills × kernel functions.
    assert_eq!(results.rows.len(), 2 * 2 * 3 * 2 * 4);
    assert_eq!(results.kind, "modelled");

    for row in &results.rows {
        // Each array is a third of 32 MiB, in the CXL form of 64, in whole pages.
        let pages = match (row.setting("form").as_str(), row.setting("fill").as_str()) {
            ("memory-side", "0.5") => 1365.0,
            ("memory-side", _) | (_, "0.5") => 2730.0,
            _ => 5461.0,
        };
        let two = ["copy", "scale"].contains(&row.setting("kernel_fn").as_str());
        let (lines, misses) = (number(row, "lines"), number(row, "misses"));
        assert_eq!(lines, pages * 64.0 * if two { 2.0 } else { 3.0 });
        let share = number(row, "conflict_share");
        assert!((share - misses / lines).abs() < 1e-6, "{row:?}");
        // The kernel's frame numbers know nothing of the model.
        assert!((share - number(row, "by_frames")).abs() < 0.005, "{row:?}");
        let gbs = 1.0 / ((1.0 - share) / 336.0 + share / 85.0);
        assert!((number(row, "modelled_gbs") - gbs).abs() < 0.01, "{row:?}");
    }

    for arch in ["x86_64", "arm64"] {
        let row = |form, policy, age, fill| {
            let of = [("arch", arch), ("form", form), ("policy", policy), ("age", age)];
            only_row(&results, &[&of[..], &[("fill", fill), ("kernel_fn", "triad")]].concat())
        };
        let random = number(row("memory-side", "random", "0", "1.0"), "conflict_share");
        assert!((random - 0.632).abs() < 0.03, "{arch}: {random}");
        // Two frames to a color: in conflict as often as the other one is taken.
        let flat = row("flat", "random", "0", "1.0");
        let share = number(flat, "conflict_share");
        assert!((share - number(flat, "random_share_finite")).abs() < 0.03, "{flat:?}");
        assert!(share < random - 0.1, "{arch}: {share} with two frames to a color");

        // Arrays of half the cache have fewer lines to conflict with, and one day changes
        // where they land by chance.
        for (fill, least) in [("0.5", 0.0), ("1.0", 0.05)] {
            let (fresh, aged) =
                (row("memory-side", "stock", "0", fill), row("memory-side", "stock", "1", fill));
            let (before, after) = (number(fresh, "conflict_share"), number(aged, "conflict_share"));
            assert!(after > before + least, "{arch}, {fill}: {before}, then {after}");
            assert!(number(aged, "modelled_gbs") < number(fresh, "modelled_gbs"));
            let free = |row| number(row, "free_in_largest");
            assert!(free(aged) < free(fresh) - 0.2, "{} to {}", free(fresh), free(aged));
        }
    }
}

#[test]
fn colored_pages_do_not_age_into_conflicts() {
    let set = ["form=memory-side", "policy=on", "touch=ordered,random", "fill=0.5,0.94", "ages=2"];
    let results = run(&set);
    assert_eq!(results.rows.len(), 2 * 2 * 3 * 2 * 4);
    for row in &results.rows {
        assert!(number(row, "by_frames") <= 0.001, "{row:?}");
        // What the kernel touches at a tick evicts some lines, too.
        assert!(number(row, "conflict_share") <= 0.005, "{row:?}");
    }
}

/// Programs came and went that were larger than the cache, and one is still there, at rest.
#[test]
fn a_heavy_day_spares_two_processes_and_huge_pages() {
    let results = run(&[
        "arch=x86_64",
        "form=memory-side",
        "policy=stock,on",
        "touch=processes",
        "intensity=heavy",
        "fill=0.5,0.94",
    ]);
    for fill in ["0.5", "0.94"] {
        let row = |policy| {
            let of = [("policy", policy), ("age", "1"), ("fill", fill), ("kernel_fn", "triad")];
            only_row(&results, &of)
        };
        let (stock, on) = (row("stock"), row("on"));
        assert!(number(stock, "by_frames") > 0.1, "{stock:?}");
        assert!(number(on, "by_frames") <= 0.005, "{on:?}");
        let free = |row| number(row, "free_in_largest");
        assert!(free(on) >= 0.75 * free(stock), "{} and {} on stock", free(on), free(stock));
    }
}

#[test]
fn the_same_seed_gives_the_same_counts_and_another_one_others() {
    let set = ["arch=x86_64", "form=memory-side", "policy=shuffle,thp", "fill=0.5"];
    let first = run(&set);
    assert_eq!(first, run(&set));

    let huge = |policy| {
        let of = [("policy", policy), ("age", "0"), ("kernel_fn", "triad")];
        number(only_row(&first, &of), "huge_share")
    };
    // The arrays end within a huge page, which is not theirs.
    assert!(huge("thp") > 0.8, "{}", huge("thp"));
    assert_eq!(huge("shuffle"), 0.0);

    let other = run(&[&set[..], &["seed=2", "policy=shuffle"]].concat());
    let aged = |results: &Results| {
        let of = [("policy", "shuffle"), ("age", "1"), ("kernel_fn", "triad")];
        number(only_row(results, &of), "misses")
    };
    assert_ne!(aged(&first), aged(&other));
}
