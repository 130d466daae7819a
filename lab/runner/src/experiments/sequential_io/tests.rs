// SPDX-License-Identifier: MIT OR Apache-2.0
use serde_json::json;

use super::*;
use crate::experiments::trial::{cases, refuses};

#[test]
fn every_policy_is_booted_with_what_it_takes() {
    let cases = cases(&EXPERIMENT, &["readers=1,16", "repeats=3"]).unwrap();
    // 6 policies, 2 readers: what comes first thrice, and 5 others once.
    assert_eq!(cases.len(), 12 * (3 + 5));
    for case in &cases {
        let policy = case.settings["policy"].as_str().unwrap();
        let options = case.machine.kernel_options.join(" ");
        let waits = ["wait", "wait-reverse"].contains(&policy);
        assert_eq!(options.contains("lab.wait=1"), waits, "{options}");
        assert_eq!(options.contains("lab.wait=2"), policy == "wait-each", "{options}");
        assert_eq!(options.contains("lab.reverse=1"), policy.ends_with("reverse"), "{options}");
        assert_eq!(options.contains("page_color=16384K"), policy == "on", "{options}");
        let single = case.settings["segments"] == 1;
        assert_eq!(options.contains("lab_disk.segments=1"), single, "{options}");
        let merges = case.settings["segment_size"] == "64K";
        assert_eq!(options.contains("lab_disk.segment_size=65536"), merges, "{options}");
        assert!(options.contains("lab_disk.mbs=40"), "{options}");
    }
}

#[test]
fn settings_that_make_no_sense_are_named() {
    refuses(
        &EXPERIMENT,
        &[
            ("segments=16", "segments=16"),
            ("readers=3", "3 readers"),
            ("readers=0", "readers=0"),
            ("read_ahead=1000", "read_ahead"),
            ("segment_size=128K", "segment_size"),
            ("fs=xfs", "xfs"),
            ("policy=best", "off, on, reverse, wait, wait-reverse, wait-each"),
            ("repeats=0", "repeats=0"),
            ("disk_mbs=fast", "disk_mbs=fast"),
        ],
    );
}

fn report(seconds: f64, waits: u64) -> Report {
    let mut report = Report::default();
    for mode in ["cached", "direct"] {
        report.results.push(json!({
            "mode": mode, "bytes": 100_000_000, "seconds": seconds, "stalls": 2000,
            "scanned_direct": 5, "scanned_kswapd": 6, "stalled_us": 500_000, "waits": waits,
            "waited_ms": 20 * waits,
        }));
    }
    report
}

#[test]
fn what_the_guest_says_becomes_rates_and_shares() {
    let case = &cases(&EXPERIMENT, &["readers=16", "policy=wait"]).unwrap()[0];
    let rows = (EXPERIMENT.rows)(case, &report(20.0, 700)).unwrap();
    let modes = rows.iter().map(|(settings, _)| settings["mode"].as_str().unwrap());
    assert_eq!(modes.collect::<Vec<_>>(), ["cached", "direct"]);
    let metrics = [("mbs", 5.0), ("stalls", 2000.0), ("stalled_share", 0.025), ("waits", 700.0)];
    for (name, value) in metrics {
        assert_eq!(rows[0].1[name], value, "{name}");
    }
}

#[test]
fn a_kernel_that_waits_unasked_is_an_error() {
    let case = &cases(&EXPERIMENT, &["readers=16", "policy=stock"]).unwrap()[0];
    let error = (EXPERIMENT.rows)(case, &report(1.0, 3)).unwrap_err().to_string();
    assert!(error.contains("waited 3 times"), "{error}");
    let mut wrong = report(1.0, 0);
    wrong.results.pop();
    let error = (EXPERIMENT.rows)(case, &wrong).unwrap_err().to_string();
    assert!(error.contains("did not read direct"), "{error}");
}
