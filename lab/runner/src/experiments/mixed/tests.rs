// SPDX-License-Identifier: MIT OR Apache-2.0
use serde_json::{Value, json};

use super::*;
use crate::{
    experiment::map,
    experiments::trial::{self, cases, refuses, report},
    results::Row,
};

#[test]
fn a_boot_per_seed_and_policy_and_other_caches_with_one_seed() {
    let cases = cases(&EXPERIMENT, &[]).unwrap();
    assert_eq!(cases.len(), 2 * 3 * (10 + 1 + 10));
    let on = cases.iter().find(|case| case.settings["policy"] == "on").unwrap();
    assert_eq!(on.variant, Variant::Huepage);
    assert_eq!(on.machine.kernel_options, ["page_color=65536K,ways=1"]);
    let odd = cases.iter().filter(|case| case.settings["cache"] == "48M");
    let colors = ("colors".to_owned(), "12288".to_owned());
    assert!(odd.clone().count() == 6 && odd.clone().all(|case| case.arguments.contains(&colors)));
}

#[test]
fn a_zone_that_is_taken_first_is_asked_for_at_boot() {
    let set = ["movable=64M", "arch=arm64", "policy=on", "seed=1", "cache=64M", "nodes=1"];
    let cases = cases(&EXPERIMENT, &set).unwrap();
    assert_eq!(cases.len(), 1);
    assert_eq!(cases[0].machine.kernel_options, ["page_color=65536K,ways=1", "movablecore=65536K"]);
    assert_eq!(cases[0].settings["movable"], "64 MiB");
}

#[test]
fn two_nodes_have_a_load_of_their_own() {
    let loads = |set: &[&str]| -> Vec<(usize, String)> {
        let set = [set, &["arch=arm64", "policy=stock", "seed=1", "cache=64M"]].concat();
        let loads =
            |case: &Case| (case.machine.nodes.len(), case.argument("loads").unwrap().to_owned());
        cases(&EXPERIMENT, &set).unwrap().iter().map(loads).collect()
    };
    let both = loads(&["load=alone,nodes-2"]);
    assert_eq!(both, [(0, "alone".to_owned()), (2, "nodes-2".to_owned())]);
    assert_eq!(loads(&["load=alone,swap"]), [(0, "alone,swap".to_owned())]);
}

#[test]
fn settings_that_make_no_sense_are_named() {
    refuses(
        &EXPERIMENT,
        &[
            ("seed=0", "seed=0"),
            ("policy=best", "no policy 'best'"),
            ("load=alone,rest", "no load 'rest'"),
            ("nodes=3", "nodes=3"),
            ("days=3,1", "days=3,1"),
            ("fill=0", "fill=0"),
            ("fill=9", "too small"),
            ("cache=1000", "whole MiB"),
            ("movable=512M", "movable=512 MiB: at most half"),
        ],
    );
}

fn row(policy: &str, load: &str, fill: f64, day: u32, metrics: Value) -> Row {
    let settings = json!({"arch": "arm64", "cache": "64M", "policy": policy, "seed": 1,
                          "load": load, "fill": fill, "day": day});
    trial::row(&settings, &metrics)
}

fn missed(rows: &[Row]) -> String {
    limits::check(rows).map_or_else(|error| error.to_string(), |()| "nothing".into())
}

#[test]
fn limits_are_those_of_the_load_and_only_of_coloring() {
    let within = |policy, load, share| {
        missed(&[row(policy, load, 0.94, 3, json!({"conflict_within": share}))])
    };
    assert_eq!(within("stock", "alone", 0.5), "nothing");
    assert_eq!(within("on", "alone", 0.001), "nothing");
    assert_eq!(within("on", "stream", 0.01), "nothing");
    let said = within("on", "half-huge", 0.002);
    assert!(said.contains("conflict_within of half-huge is 0.002 (arm64, cache 64M"), "{said}");
    assert!(said.contains("seed 1, day 3), wanted at most 0.001"), "{said}");
    assert!(within("on", "stream", 0.02).contains("wanted at most 0.01"));
    let across =
        |load, share| missed(&[row("on", load, 0.94, 0, json!({"conflict_across": share}))]);
    assert_eq!(across("processes-8", 0.02), "nothing");
    assert!(across("processes-4", 0.006).contains("at most 0.005"));
    // Of one process alone there is no limit across.
    assert_eq!(across("alone", 0.5), "nothing");
    let larger = |metrics| missed(&[row("on", "alone", 1.5, 0, metrics)]);
    assert_eq!(larger(json!({"conflict_within": 0.7, "spread": 2})), "nothing");
    assert!(larger(json!({"conflict_within": 0.7, "spread": 3})).contains("spread of alone is 3"));
}

#[test]
fn coloring_is_compared_with_stock_day_by_day() {
    let day =
        |policy, day, free: f64| row(policy, "alone", 0.94, day, json!({"free_in_largest": free}));
    let rows =
        |on: f64| [day("stock", 0, 0.9), day("on", 0, 0.9), day("stock", 1, 0.5), day("on", 1, on)];
    assert_eq!(missed(&rows(0.5)), "nothing");
    let said = missed(&rows(0.4));
    assert!(
        said.ends_with("free_in_largest is 0.4000 on day 1 (arm64, cache 64M), stock's 0.5000"),
        "{said}"
    );
    let faults = |policy, ns: u32| row(policy, "thp-faults", 0.94, 0, json!({"thp_ns": ns}));
    let said = missed(&[faults("stock", 10_000), faults("on", 10_001)]);
    assert!(
        said.contains("thp_ns is 10,001 on day 0 (arm64, cache 64M), stock's 10,000"),
        "{said}"
    );
    assert_eq!(missed(&[faults("stock", 100), faults("on", 100)]), "nothing");
}

#[test]
fn a_load_that_is_missing_or_is_none_is_refused_and_a_skipped_one_is_a_row() {
    let case = cases(&EXPERIMENT, &["load=alone,anon-churn,mthp", "days=0"]).unwrap().remove(0);
    let line = |load: &str, rounds: u32| {
        json!({"load": load, "day": 0, "fill": 0.94, "cpu": "same", "conflict_within": 0.2,
               "neighbor_rounds": rounds})
    };
    let skipped = json!({"load": "mthp", "day": 0, "fill": 0.94, "skipped": "no such file"});
    let idle = json!({"load": "idle", "day": 0, "compact_migrated": 3});
    let all = vec![line("alone", 0), line("anon-churn", 99), skipped, idle];
    let found = rows::of(&case, &report(all.clone(), Vec::new())).unwrap();
    assert_eq!(found.len(), 4);
    assert_eq!((&found[1].0["cpu"], &found[1].1["conflict_within"]), (&json!("same"), &json!(0.2)));
    assert_eq!(found[2].1, map([("skipped", "no such file".into())]));
    let refused = |lines| rows::of(&case, &report(lines, Vec::new())).unwrap_err().to_string();
    assert_eq!(refused(all[..3].to_vec()), "no row of the load idle on day 0");
    let mut still = all;
    still[1] = line("anon-churn", 3);
    assert_eq!(refused(still), "the neighbor of anon-churn did what it does only 3 times");
}
