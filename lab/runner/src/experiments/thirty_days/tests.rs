// SPDX-License-Identifier: MIT OR Apache-2.0
use serde_json::json;

use super::*;
use crate::{
    boot::Report,
    experiments::trial::{self, cases, refuses},
    kernel::Variant,
};

/// Three days with these shares in conflict.
fn report(shares: [f64; 3]) -> Report {
    let line = |(day, share): (usize, &f64)| {
        json!({"day": day, "conflict_share": share, "touch_ns": 8000.0,
               "free_in_largest": 0.5, "thp_success": 0.9})
    };
    trial::report(shares.iter().enumerate().map(line).collect(), Vec::new())
}

#[test]
fn a_boot_is_one_policy_one_kind_of_day_and_one_seed() {
    let cases = cases(&EXPERIMENT, &[]).unwrap();
    assert_eq!(cases.len(), 3 * 4 * 10);
    let argument = |case: &Case, name: &str| case.argument(name).unwrap().to_owned();
    let compact = cases.iter().find(|case| case.settings["policy"] == "compact").unwrap();
    assert_eq!((argument(compact, "compact"), compact.variant), ("1".into(), Variant::Stock));
    let on = cases.iter().find(|case| case.settings["policy"] == "on").unwrap();
    assert_eq!(on.machine.kernel_options[0], "page_color=16384K,ways=1");
    assert_eq!((argument(on, "colors"), argument(on, "pages")), ("4096".into(), "3850".into()));
    let mut kept: Vec<_> = cases.iter().map(|case| case.machine.kernel_options.last()).collect();
    kept.sort();
    kept.dedup();
    assert_eq!(kept.len(), 10, "{kept:?}");
}

#[test]
fn settings_that_make_no_sense_are_named() {
    refuses(
        &EXPERIMENT,
        &[
            ("kind=sunday", "no kind of day 'sunday'"),
            ("policy=best", "shuffle, off, on, compact"),
            ("seed=0", "seed=0"),
            ("ways=3", "each of 3 ways"),
            ("fill=14", "too small"),
            ("days=1,2", "takes one value"),
        ],
    );
}

#[test]
fn days_become_rows_and_a_missing_one_is_named() {
    let case = cases(&EXPERIMENT, &["days=2"]).unwrap().remove(0);
    let found = rows::of(&case, &report([0.1, 0.2, 0.4])).unwrap();
    assert_eq!(found.len(), 3);
    let metrics = map([
        ("conflict_share", json!(0.4)),
        ("free_in_largest", json!(0.5)),
        ("thp_success", json!(0.9)),
        ("touch_instructions", json!(1000.0)),
    ]);
    assert_eq!(found[2], (map([("day", json!(2))]), metrics));
    let mut short = report([0.1, 0.2, 0.4]);
    short.results.remove(1);
    let error = rows::of(&case, &short).unwrap_err().to_string();
    assert!(error.contains("day 2 where day 1 should be"), "{error}");
    short.results.pop();
    assert!(rows::of(&case, &short).unwrap_err().to_string().contains("1 days of 3"));
}
