// SPDX-License-Identifier: MIT OR Apache-2.0
use serde_json::json;

use super::*;
use crate::{boot::Report, experiment::Found, experiments::trial::refuses, results::Row};

/// Two rounds, in which the lock is held for `held` ns in all.
fn report(held: u64) -> Report {
    let mut report = Report::default();
    for round in [1, 2] {
        for work in WORKS {
            report.results.push(json!({
                "work": work, "round": round, "pages": 1000, "acquired": 20,
                "held_ns": held * round, "longest_ns": 80 * round,
            }));
        }
    }
    report
}

fn rows(policy: &str, held: u64) -> Vec<Row> {
    let row = |(mut settings, metrics): Found| {
        for (name, value) in [("policy", policy), ("arch", "arm64"), ("cpus", "8")] {
            settings.insert(name.into(), value.into());
        }
        Row { variant: "stock".into(), settings, metrics }
    };
    rows::of(&report(held), 1).unwrap().into_iter().map(row).collect()
}

#[test]
fn rounds_become_means_and_nanoseconds_instructions() {
    let rows = [rows("stock", 16000), rows("on", 24000)].concat();
    let metric = |name| rows[0].metric(name);
    // 16 and 32 µs for 2,000 pages and 40 holds.
    assert_eq!(metric("acquired_per_page"), Some(0.02));
    assert_eq!(metric("held_per_page"), Some(3.0));
    assert_eq!(metric("held_at_once"), Some(150.0));
    assert_eq!(metric("longest"), Some(20.0));
    let several = rows::of(&report(8), 2).unwrap();
    assert!(several.iter().all(|(_, metrics)| !metrics.contains_key("longest")));
}

#[test]
fn work_that_was_not_done_is_named() {
    let mut report = report(8);
    report.results.retain(|said| said["work"] != "small loops");
    assert!(rows::of(&report, 1).unwrap_err().to_string().contains("'small loops'"));
}

#[test]
fn settings_that_make_no_sense_are_named() {
    refuses(
        &EXPERIMENT,
        &[
            ("pages=4096", "whole number of huge pages"),
            ("pages=262144", "not twice that"),
            ("rounds=0", "rounds=0"),
            ("cpus=65", "cpus=65"),
            ("policy=best", "no policy 'best'"),
        ],
    );
}
