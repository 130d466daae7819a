// SPDX-License-Identifier: MIT OR Apache-2.0
//! What contiguous frames and the one zero page do to sets of 8 ways, in real
//! kernels under a modelled hierarchy.

use huepage_lab::results::{Results, Row};

use crate::support::{self, number, quick};

fn run(set: &[&str]) -> Results {
    quick("zero-pages", set)
}

/// The count is what theory says, but for what the kernel's own accesses add: in
/// a full set with LRU, one of them costs itself and at most 8 lines more. A tick
/// while the caches were warmed is not counted among them.
fn is_but_for_ticks(row: &Row, name: &str, theory: f64) {
    let (count, others) = (number(row, name), number(row, "other_accesses"));
    assert!(count >= theory, "{name}: {count} is below {theory}: {row:?}");
    let tick = 0.002 * number(row, "reads");
    assert!(count <= theory + 9.0 * others + tick, "{name}: {count} is above {theory}: {row:?}");
    assert!(count <= theory + 0.02 * number(row, "reads"), "{name}: much above: {row:?}");
}

/// Finds the row of one boot with these settings.
type Find<'a> = dyn Fn(&[(&str, &str)]) -> &'a Row + 'a;

#[test]
fn eight_ways_hold_eight_frames_and_no_ninth() {
    let results = run(&["fought=l2", "zeros=stock,1,8"]);
    for arch in ["x86_64", "arm64"] {
        for l2 in ["lru", "random"] {
            let base = [("arch", arch), ("fought", "l2"), ("replacement", l2)];
            let row = |more: &[(&str, &str)]| {
                let settings: Vec<_> = base.iter().chain(more).copied().collect();
                support::row(&results, &settings)
            };
            frames(&row);
            thrash(&row, l2, ["stock", "control"]);
            thrash(&row, l2, ["8", "kernel"]);
            scan(&row, ["stock", "control"]);
            scan(&row, ["8", "kernel"]);
            partition(&row, l2);
        }
    }
    let (page, svg) = support::shown(&results);
    assert!(page.contains("9,038,460"), "{page}");
    assert!(svg.contains("worst color"));
}

#[test]
fn an_l1_of_several_colors_is_fought_over_as_well() {
    let results = run(&["arch=x86_64", "fought=l1", "replacement=lru", "zeros=1,4"]);
    let misses = |zeros: &str, hot: &str| {
        let row = results.find(&[
            ("table", "thrash"),
            ("zeros", zeros),
            ("hot", hot),
            ("zero_reads", "1"),
        ]);
        row.unwrap().clone()
    };
    // Three lines take turns in two ways, in each round or in every fourth.
    for (zeros, hot, theory) in
        [("1", "0", 3.0), ("1", "1", 0.0), ("4", "0", 0.75), ("4", "3", 0.75)]
    {
        let row = misses(zeros, hot);
        is_but_for_ticks(&row, "l1_misses", theory * number(&row, "rounds"));
    }
}

fn frames(row: &Find<'_>) {
    for (frames, misses) in [("7", 0.0), ("8", 0.0), ("9", 9.0), ("16", 16.0)] {
        let row = row(&[("table", "frames"), ("frames", frames)]);
        is_but_for_ticks(row, "l1_misses", misses * number(row, "rounds"));
        // 16 frames are two of each color: L2 has room.
        is_but_for_ticks(row, "l2_misses", 0.0);
    }
}

/// One zero page against eight, which are those of `[zeros, backing]`.
fn thrash(row: &Find<'_>, l2: &str, eight: [&str; 2]) {
    let row = |[zeros, backing]: [&str; 2], hot: &str, reads: &str| {
        row(&[
            ("table", "thrash"),
            ("zeros", zeros),
            ("backing", backing),
            ("hot", hot),
            ("zero_reads", reads),
        ])
    };
    let single = if eight[0] == "stock" { ["stock", "kernel"] } else { ["1", "kernel"] };
    let one = row(single, "0", "1");
    let apart = row(single, "3", "1");
    let colored = row(eight, "0", "1");
    assert_eq!(number(one, "zero_frames"), 1.0, "there is one zero page");
    assert_eq!(number(colored, "zero_frames"), 8.0);
    for row in [one, apart, colored] {
        is_but_for_ticks(row, "l1_misses", 9.0 * number(row, "rounds"));
    }
    if l2 == "lru" {
        // Nine lines take turns in eight ways: none is ever there.
        is_but_for_ticks(one, "l2_misses", 9.0 * number(one, "rounds"));
        // Every eighth page of zeros comes into the set, and pushes a line out
        // that pushes the next out, and so on once around.
        is_but_for_ticks(colored, "l2_misses", 9.0 / 8.0 * number(colored, "rounds"));
        // With all eight pages in every round, nothing is gained and L1 suffers.
        let (one, colored) = (row(single, "0", "8"), row(eight, "0", "8"));
        is_but_for_ticks(one, "l2_misses", 9.0 * number(one, "rounds"));
        is_but_for_ticks(colored, "l2_misses", 9.0 * number(colored, "rounds"));
        is_but_for_ticks(colored, "l1_misses", 16.0 * number(colored, "rounds"));
    } else {
        // Eight ways at random keep most of nine lines, and are worse off with a
        // ninth line in every round than in every eighth.
        let (one, colored) =
            (number(one, "l2_misses_per_round"), number(colored, "l2_misses_per_round"));
        assert!(colored < 0.75 * one && one < 4.5, "{colored} {one}");
    }
    // Eight hot lines and zeros elsewhere: everything fits.
    let rest = number(apart, "l2_misses") / number(apart, "reads");
    assert!(rest < 0.01, "{apart:?}");
}

fn scan(row: &Find<'_>, eight: [&str; 2]) {
    let row = |zeros: &str, backing: &str| {
        row(&[("table", "scan"), ("zeros", zeros), ("backing", backing)])
    };
    // 4 + 1 pages fit into 8 ways; of 4 + 8 pages, the 8 push each other out.
    is_but_for_ticks(row("stock", "kernel"), "l1_misses", 0.0);
    let colored = row(eight[0], eight[1]);
    is_but_for_ticks(colored, "l1_misses", 64.0 * number(colored, "rounds"));
}

/// The neighbor's frames fill six of eight colors. A zero page of one of them costs
/// it that color; zero pages of the last two cost it nothing.
fn partition(row: &Find<'_>, l2: &str) {
    let row = |zeros: &str, mapped: &str| {
        row(&[("table", "partition"), ("zeros", zeros), ("mapped", mapped)])
    };
    let within = row("8", "within");
    assert_eq!(number(within, "zero_frames"), 2.0, "a quarter of eight zero pages");
    let rest = number(within, "l2_misses") / number(within, "reads");
    assert!(rest < 0.01, "{within:?}");
    if l2 == "lru" {
        let (one, before) = (row("1", "within"), row("8", "before"));
        is_but_for_ticks(one, "l2_misses", 9.0 * number(one, "rounds"));
        is_but_for_ticks(before, "l2_misses", 6.0 * 9.0 * number(before, "rounds"));
    }
}

#[test]
fn the_same_command_gives_the_same_counts() {
    let run = || {
        run(&[
            "arch=arm64",
            "fought=l2",
            "replacement=random",
            "zeros=stock,8",
            "frames=9",
            "thrash_rounds=2000",
        ])
    };
    assert_eq!(run().rows, run().rows);
}
