// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much of a modelled L2 real kernels let a program use.

use huepage_lab::results::{Results, Row};

use crate::support::{self, number, quick};

fn run(set: &[&str]) -> Results {
    quick("working-set", set)
}

const PLACEMENTS: [&str; 4] = ["fresh", "aged", "contiguous", "random"];

#[test]
fn pages_that_share_a_color_miss_and_no_others() {
    let results = run(&[]);
    for arch in ["x86_64", "arm64"] {
        for ways in ["1", "16"] {
            let row = |work: &str, placement: &str, size: &str| {
                let size_name = if work == "read" { "eighths" } else { "size" };
                let settings = [
                    ("arch", arch),
                    ("l2_ways", ways),
                    ("work", work),
                    ("placement", placement),
                    (size_name, size),
                ];
                support::row(&results, &settings)
            };
            reads(&row, ways);
            programs(&row, ways);
        }
    }
    let (page, svg) = support::shown(&results);
    assert!(page.contains("bandwidth at 8/8 of L2, of colored"), "{page}");
    assert!(svg.contains("arm64, direct-mapped: bandwidth"));
}

fn reads<'a>(row: &dyn Fn(&str, &str, &str) -> &'a Row, ways: &str) {
    for placement in PLACEMENTS {
        for eighths in ["1", "4", "8", "12"] {
            let row = row("read", placement, eighths);
            let (misses, others) = (number(row, "l2_misses"), number(row, "other_accesses"));
            let foretold = number(row, "lines_in_conflict");
            assert_eq!(number(row, "lines"), 4096.0 * eighths.parse::<f64>().unwrap());
            // Frame numbers alone foretell the misses. An access of the kernel
            // adds itself and, in a set that is full, at most as many as ways.
            let most = foretold + others * (ways.parse::<f64>().unwrap() + 1.0);
            assert!(misses >= foretold && misses <= most, "{row:?}");
        }
    }
    let share = |placement, eighths| number(row("read", placement, eighths), "l2_miss_share");
    let peak = |placement, eighths| number(row("read", placement, eighths), "modelled_peak_share");
    // All colors equally often: up to the size of L2 nothing misses but what the
    // kernel pushes out; beyond it LRU misses all of each color that has too many.
    for eighths in ["1", "4", "8"] {
        assert_eq!(number(row("read", "contiguous", eighths), "lines_in_conflict"), 0.0);
        assert!(peak("contiguous", eighths) > 0.8);
    }
    let beyond = if ways == "1" { 2.0 / 3.0 } else { 1.0 };
    assert!((share("contiguous", "12") - beyond).abs() < 0.01);
    if ways == "1" {
        for (eighths, theory) in [("1", 0.116), ("4", 0.393), ("8", 0.632), ("12", 0.777)] {
            let random = share("random", eighths);
            assert!((random - theory).abs() < 0.08, "{eighths}/8: {random}, not {theory}");
        }
        // Aging makes the kernel's choice about as bad as chance.
        assert!((share("aged", "8") - 0.632).abs() < 0.15, "{}", share("aged", "8"));
        assert!(peak("aged", "4") < 0.8 && peak("aged", "8") < 0.6);
    }
    assert!(peak("aged", "8") + 0.1 < peak("contiguous", "8"));
    assert!(peak("fresh", "8") + 0.05 > peak("aged", "8"));
}

fn programs<'a>(row: &dyn Fn(&str, &str, &str) -> &'a Row, ways: &str) {
    for (work, size) in [("matrix", "448"), ("fft", "32768")] {
        let metric = |placement, name| number(row(work, placement, size), name);
        // The same program on the same data, but for ticks.
        for placement in PLACEMENTS {
            let (here, there) = (metric(placement, "accesses"), metric("contiguous", "accesses"));
            assert!((here / there - 1.0).abs() < 0.05, "{work} {placement}: {here} {there}");
        }
        if ways == "1" || work == "matrix" {
            for placement in ["aged", "random"] {
                assert!(
                    metric(placement, "l2_misses") > 3.0 * metric("contiguous", "l2_misses"),
                    "{work} {placement}"
                );
                let cycles = |placement| metric(placement, "modelled_cycles");
                assert!(cycles(placement) > 1.02 * cycles("contiguous"), "{work} {placement}");
            }
        }
    }
}

#[test]
fn colored_pages_up_to_most_of_the_cache_have_no_conflicts_fresh_or_aged() {
    let results = run(&["policy=on", "l2_ways=1,16", "eighths=1,4,7"]);
    let rows = results.with(&[("work", "read")]);
    let rows = rows.filter(|row| ["fresh", "aged"].contains(&row.setting("placement").as_str()));
    let rows: Vec<&Row> = rows.collect();
    let sum = |name| rows.iter().map(|row| number(row, name)).sum::<f64>();
    assert!(rows.len() == 2 * 2 * 3 * 2 && sum("lines_in_conflict") <= 0.0005 * sum("lines"));
    // Pages that came before the kernel knew of the program may share a color: when
    // one of them goes, the color counts as not held. So two of 64 pages meet now and
    // then, in one of three repeats.
    for row in rows {
        assert!(number(row, "lines_in_conflict") <= 0.02 * number(row, "lines"), "{row:?}");
    }
}

#[test]
fn the_same_command_gives_the_same_counts() {
    let run = || run(&["arch=arm64", "l2_ways=1", "eighths=8", "matrix_rows=1"]);
    assert_eq!(run().rows, run().rows);
}
