// SPDX-License-Identifier: MIT OR Apache-2.0
use serde_json::json;

use super::*;
use crate::{
    boot::Report,
    experiments::trial::{self, cases, refuses},
    model::Record,
    results::{Results, Row},
};

/// Two rounds; a page takes as many instructions as the region's number, times `cost`,
/// and twice that in the second round.
fn report(cost: u64) -> Report {
    let mut report = Report::default();
    for round in [1, 2] {
        for (work, region) in WORKS {
            report.results.push(json!({"work": work, "round": round, "pages": 10}));
            report.records.push(Record {
                region,
                instructions: u64::from(region) * 10 * cost * round,
                ..Record::default()
            });
        }
    }
    report
}

fn rows(policy: &str, cost: u64) -> Vec<Row> {
    let case = cases(&EXPERIMENT, &["arch=arm64", &format!("policy={policy}")]).unwrap().remove(0);
    trial::rows(&EXPERIMENT, &case, &report(cost))
}

#[test]
fn rounds_become_means_and_policies_are_shares_beyond_stock() {
    let mut rows = [rows("stock", 100), rows("on", 103)].concat();
    (EXPERIMENT.finish)(&mut rows).unwrap();
    assert_eq!(rows.len(), 2 * WORKS.len());
    assert_eq!(rows[1].metric("instructions_per_page"), Some(300.0));
    assert_eq!((rows[1].metric("least"), rows[1].metric("most")), (Some(200.0), Some(400.0)));
    assert_eq!(rows[1].metric("beyond_stock"), None);
    assert_eq!(rows[WORKS.len()].metric("beyond_stock"), Some(0.03));
}

#[test]
fn up_to_what_is_wanted_nothing_is_said() {
    let cost = |cost| {
        let mut rows = [rows("stock", 1000), rows("on", cost)].concat();
        (EXPERIMENT.finish)(&mut rows).unwrap();
        page::page(&Results::of("fault-cost", rows)).source.1.markdown()
    };
    assert_eq!(cost(1000).matches("more than wanted").count(), 0);
    // Unmapping, freeing a file and forgetting a disk may take nothing more.
    assert_eq!(cost(1010).matches("more than wanted").count(), 6);
}

#[test]
fn regions_that_do_not_belong_to_what_the_guest_did_are_refused() {
    let refused = |change: fn(&mut Report)| {
        let mut report = report(1);
        change(&mut report);
        rows::of(&report).unwrap_err().to_string()
    };
    assert!(refused(|r| r.records[0].region = 2).contains("region 2 where"));
    assert!(refused(|r| drop(r.records.pop())).contains("saw 29 regions"));
    assert!(refused(|r| r.results[0]["work"] = "rest".into()).contains("did 'rest'"));
}

#[test]
fn settings_that_make_no_sense_are_named() {
    refuses(
        &EXPERIMENT,
        &[
            ("pages=33", "pieces of 32 pages"),
            ("pages=480", "has 512"),
            ("pages=65536", "two and a half"),
            ("cache=256M", "one and a half"),
            ("rounds=0", "rounds=0"),
            ("policy=best", "no policy 'best'"),
            ("arch=vax", "vax"),
        ],
    );
}
