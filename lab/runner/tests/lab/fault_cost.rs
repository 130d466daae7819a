// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions per page are counted exactly, and the same in every run but for an
//! interrupt.

use huepage_lab::results::Results;

use crate::support::{number, quick, row};

/// Of each kind of work in the quick form.
const PAGES: f64 = 4096.0;

fn cost(results: &Results, arch: &str, work: &str) -> f64 {
    number(row(results, &[("arch", arch), ("work", work)]), "instructions_per_page")
}

#[test]
fn a_fault_takes_some_thousands_of_instructions_and_the_same_again() {
    let first = quick("fault-cost", &[]);
    for arch in ["x86_64", "arm64"] {
        let cost = |work| cost(&first, arch, work);
        // More than the way through the exception; on x86_64 a cleared page alone would be
        // 4096 if repetitions counted.
        for work in ["touch in order", "touch at random", "write a file"] {
            assert!((300.0..4000.0).contains(&cost(work)), "{arch}: {work} {}", cost(work));
        }
        // A copy is a fault and more, and what is freed costs less than its fault.
        assert!(cost("fork, copy, exit") > cost("touch in order"), "{arch}");
        assert!(cost("unmap") < cost("touch in order"), "{arch}");
        assert!(cost("free a file") < cost("write a file"), "{arch}");
    }
    // The disk answers when it likes, and what comes after it in a round is moved by that: a
    // tick into the work or out of it, 2,488 and 3,168 instructions, and once, on stock, nearly
    // as many as clearing a huge page takes. So one of three may be another.
    let again = quick("fault-cost", &["rounds=1", "functions=true"]);
    let mut differ = differing(&quick("fault-cost", &["rounds=1"]), &again);
    if !differ.is_empty() {
        println!("repeated: {differ:?}");
        differ = differing(&quick("fault-cost", &["rounds=1"]), &again);
    }
    assert!(differ.is_empty(), "{differ:?}");
    // By function, but for those that hardly execute.
    for row in &again.rows {
        let functions = row.metrics["functions"].as_object().unwrap();
        let sum: f64 = functions.values().map(|number| number.as_f64().unwrap()).sum();
        let share = sum / number(row, "instructions_per_page");
        assert!((0.9..1.0001).contains(&share), "{:?}: {share}", row.settings);
        if row.setting("work").starts_with("touch") {
            assert!(functions.contains_key("get_page_from_freelist"), "{functions:?}");
        }
    }
}

/// Beside the stock kernel, of a program twice as large as the cache in pages of 4 KiB:
/// coloring that is compiled in and off, and coloring that is on. Rounds differ by some
/// instructions of 2,500.
#[test]
fn a_fault_costs_as_much_as_on_stock() {
    let results = quick("fault-cost", &["policy=stock,off,on", "pages=16384", "rounds=2"]);
    for arch in ["x86_64", "arm64"] {
        for work in ["touch in order", "touch at random"] {
            let of = |policy| {
                let row = row(&results, &[("arch", arch), ("work", work), ("policy", policy)]);
                number(row, "instructions_per_page")
            };
            let off = of("off") / of("stock");
            let on = of("on") / of("stock");
            println!("{arch}, {work}: off {off:.4}, on {on:.4}");
            assert!(off < 1.004 && on < 1.012, "{arch}, {work}: off {off}, on {on}");
        }
    }
}

/// What takes another number of instructions in one boot than in the other, but for the disk.
fn differing(one: &Results, other: &Results) -> Vec<String> {
    let mut differ = Vec::new();
    for row in one.rows.iter().filter(|row| row.setting("work") != "read a disk") {
        let (arch, work) = (row.setting("arch"), row.setting("work"));
        let pair = [number(row, "instructions_per_page"), cost(other, &arch, &work)];
        if (pair[0] - pair[1]).abs() * PAGES >= 8000.0 {
            differ.push(format!("{arch}, {work}: {pair:?}"));
        }
    }
    differ
}

#[test]
fn what_is_not_free_is_not_searched_for_page_by_page() {
    // Twice the cache in a parent, and as much again in a child, until little is free.
    let results = quick(
        "fault-cost",
        &["arch=arm64", "policy=stock,on", "cache=8M", "memory=64M", "rounds=4"],
    );
    let cost = |policy, work| {
        number(row(&results, &[("policy", policy), ("work", work)]), "instructions_per_page")
    };
    for (work, most) in [("touch in order", 1.2), ("fork, copy, exit", 1.6)] {
        let beyond = cost("on", work) / cost("stock", work);
        assert!(beyond < most, "{work}: {beyond} times");
    }
}

#[test]
fn a_fault_takes_no_longer_in_larger_memory() {
    // Frames of one color are in 128 places, and in 2,048.
    let [small, large] = ["256M", "4G"].map(|memory| {
        let memory = format!("memory={memory}");
        quick("fault-cost", &["arch=x86_64", "policy=on", "cache=2M", "rounds=2", &memory])
    });
    for work in ["touch in order", "touch at random", "touch, 64 KiB", "touch, 2 MiB"] {
        let beyond = cost(&large, "x86_64", work) / cost(&small, "x86_64", work);
        assert!(beyond < 1.15, "{work}: {beyond} times");
    }
}

/// Each page of 64 KiB has colors of small pages. There are 128 stretches of 16 colors, and
/// 1,024.
#[test]
fn a_page_that_shares_colors_takes_no_longer_in_a_larger_cache() {
    let [small, large] = ["8M", "64M"].map(|cache| {
        let cache = format!("cache={cache}");
        quick("fault-cost", &["arch=x86_64", "policy=on", "rounds=2", &cache])
    });
    let work = "touch, 64 KiB, beside small pages";
    let beyond = cost(&large, "x86_64", work) / cost(&small, "x86_64", work);
    assert!(beyond < 2.0, "{beyond} times");
    // Small pages that cannot move are seldom looked for.
    let locked = cost(&small, "x86_64", "touch, 64 KiB, beside locked pages");
    let share = locked / cost(&small, "x86_64", work);
    assert!(share < 0.5, "{share}");
}
