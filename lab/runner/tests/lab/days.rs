// SPDX-License-Identifier: MIT OR Apache-2.0
//! The quick form of `thirty-days`: what must hold of days, whatever they are.

use crate::support::{number, quick, row, shown};

const KINDS: [&str; 3] = ["mixed", "cache-heavy", "stream"];

#[test]
#[ignore = "two boots that take longer than tests should"]
fn a_day_of_files_ages_the_stock_kernel_and_not_ours() {
    let results = quick("thirty-days", &["kind=cache-heavy", "days=1"]);
    assert_eq!(results.rows.len(), 2 * 2);
    for row in &results.rows {
        let share = number(row, "conflict_share");
        match (row.setting("policy").as_str(), row.setting("day").as_str()) {
            ("on", _) => assert!(share <= 0.01, "{row:?}"),
            ("stock", "1") => assert!(share > 0.3, "{row:?}"),
            _ => {}
        }
    }
}

#[test]
#[ignore = "nine boots of minutes"]
fn every_kind_of_day_ages_the_stock_kernel_and_not_ours() {
    let results = quick("thirty-days", &["policy=stock,compact,on"]);
    assert_eq!(results.rows.len(), 3 * 3 * 3);
    let of = |policy: &str, kind: &str, day: &str, metric: &str| {
        let set = [("policy", policy), ("kind", kind), ("day", day)];
        number(row(&results, &set), metric)
    };
    for kind in KINDS {
        for day in ["0", "1", "2"] {
            let share = of("on", kind, day, "conflict_share");
            assert!(share <= 0.01, "{kind}, day {day}: {share}");
        }
    }
    for kind in ["mixed", "cache-heavy"] {
        let share = of("stock", kind, "2", "conflict_share");
        assert!(share > 0.3, "{kind}: {share}");
        let (before, after) = (0, 2);
        let free = |day: u32| of("stock", kind, &day.to_string(), "free_in_largest");
        assert!(free(after) < free(before) - 0.2, "{kind}: {} to {}", free(before), free(after));
        // What compaction is for; it does nothing for colors.
        let whole = |policy| of(policy, kind, "2", "free_in_largest");
        assert!(whole("compact") > whole("stock"), "{kind}");
        assert!(of("compact", kind, "2", "conflict_share") > 0.1, "{kind}");
    }
    for row in &results.rows {
        let success = number(row, "thp_success");
        assert!((0.0..=1.0).contains(&success), "{row:?}");
        // A fault takes hundreds of instructions at least, and clears a page.
        assert!(number(row, "touch_instructions") > 500.0, "{row:?}");
        let is_last = row.setting("day") == "2";
        assert_eq!(row.metric("thp_compacting").is_some(), is_last, "{row:?}");
    }
    let (page, _) = shown(&results);
    assert!(page.contains("| on "), "{page}");
}
