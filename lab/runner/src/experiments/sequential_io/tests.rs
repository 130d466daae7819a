// SPDX-License-Identifier: MIT OR Apache-2.0
use serde_json::json;

use super::*;
use crate::{
    experiments::trial::{self, cases, refuses},
    results::Results,
};

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

fn results() -> Results {
    let usual = ["fs=ext2", "memory=256M", "read_ahead=128K", "segments=126", "readers=16"];
    let usual = [&usual[..], &["segment_size=4K", "repeats=3"]].concat();
    let mut rows = Vec::new();
    for case in cases(&EXPERIMENT, &usual).unwrap() {
        let (seconds, waits) = match case.settings["policy"].as_str().unwrap() {
            "wait" => (20.0, 700),
            "wait-reverse" => (16.0, 500),
            "stock" if case.settings["repeat"] == 1 => (9.0, 0),
            _ => (10.0, 0),
        };
        rows.extend(trial::rows(&EXPERIMENT, &case, &report(seconds, waits)));
    }
    Results::of("sequential-io", rows)
}

#[test]
fn boots_become_means_and_losses() {
    let results = results();
    let (heading, table) = &page::page(&results).tables[0];
    assert_eq!(heading, "x86_64, ext2, 256 MiB, 128 KiB read ahead, 126 segments of 4 KiB");
    let text = table.markdown();
    // Stock: 11.1, 10 and 10 MB/s; waiting for memory 0.5 of 9 or 10 seconds.
    assert!(text.contains("10.4 (10.0 to 11.1)"), "{text}");
    assert!(text.contains("5.2 % (5.0 % to 5.6 %)") && text.contains("2,000"), "{text}");
    // 5 MB/s against 10.37.
    assert!(text.contains("51.8 %") && text.contains("700"), "{text}");
    let source = page::page(&results).source.1.markdown();
    // 5 MB/s against 6.25.
    assert!(source.contains("76 %") && source.contains("20.0 %"), "{source}");
    assert!(page::page(&results).plot.svg().unwrap().contains("wait-reverse"));
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
