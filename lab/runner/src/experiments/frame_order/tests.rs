// SPDX-License-Identifier: MIT OR Apache-2.0
use serde_json::json;

use super::*;
use crate::{
    boot::Request,
    experiments::trial::{self, cases, refuses},
};

#[test]
fn every_point_is_booted_and_the_usual_ones_with_every_seed() {
    let cases =
        cases(&EXPERIMENT, &["readers=1,16", "seed=7,8,9", "policy=stock,reverse"]).unwrap();
    // 2 readers, 2 ages, 2 policies: what comes first thrice; once each 1 file system, 1
    // size of memory, 2 of read-ahead, 3 limits of segments.
    assert_eq!(cases.len(), 8 * (3 + 1 + 1 + 2 + 3));
    for case in &cases {
        let reverse = case.settings["policy"] == "reverse";
        let one = case.settings["segments"] == 1;
        let options = case.machine.kernel_options.join(" ");
        assert_eq!(options.contains("lab.reverse=1"), reverse);
        assert_eq!(options.contains("lab_disk.segments=1"), one);
        assert_eq!(case.config == Config::Lab, reverse || one);
        assert_eq!(case.variant, Variant::Stock);
    }
    let disks = |case: &Case| case.machine.disks.len();
    assert!(cases.iter().all(|case| {
        let readers = case.settings["readers"].as_u64().unwrap();
        disks(case) == readers as usize + 1
            && case.settings["bytes_per_reader"] == (512 << 20) / readers
    }));
}

#[test]
fn settings_that_make_no_sense_are_named() {
    refuses(
        &EXPERIMENT,
        &[
            ("segments=16", "segments=16"),
            ("readers=3", "3 readers"),
            ("readers=0", "readers=0"),
            ("fs=xfs", "xfs"),
            ("direct=1G", "direct"),
            ("read_ahead=1000", "read_ahead"),
            ("policy=best", "no policy 'best'"),
            ("policy=best", "shuffle, off, on, reverse"),
            ("arch=vax", "arch=vax"),
        ],
    );
}

/// A report: in each phase one request of 64 KiB in `segments`.
fn report(readers: u32, segments: u32) -> Report {
    let read = |target, sector, bytes, segments| Request { target, sector, bytes, segments };
    let mut report = Report::default();
    for (number, phase) in Phase::ALL.iter().enumerate() {
        let mark = 2 * number as u64;
        report.requests.push(read(readers, mark, 512, 1));
        report.requests.push(read(0, 8, 65_536, segments));
        report.requests.push(read(readers, mark + 1, 512, 1));
        report.results.push(json!({"phase": phase.name(), "reads": 1, "sectors": 128}));
    }
    report.results.push(json!({"pairs": 10, "ascending": 5, "descending": 1}));
    report.results.push(json!({"max_segments": 14, "read_ahead_kb": 128}));
    report
}

#[test]
fn a_boot_gives_a_row_per_phase_and_both_counts_must_agree() {
    let case = &cases(&EXPERIMENT, &["readers=1"]).unwrap()[0];
    let rows = (EXPERIMENT.rows)(case, &report(1, 4)).unwrap();
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[0].0["mode"], "cached");
    assert_eq!(rows[0].1["ascending_share"], 0.5);
    assert_eq!(rows[0].1["pages_per_segment"], 4.0);
    let mut wrong = report(1, 4);
    wrong.results[0]["reads"] = 2.into();
    let error = (EXPERIMENT.rows)(case, &wrong).unwrap_err().to_string();
    assert!(error.contains("completed 2 reads"), "{error}");
}

#[test]
fn seeds_of_a_point_have_a_spread() {
    let set = ["readers=1", "age=0", "policy=stock", "fs=ext2", "memory=256M", "read_ahead=128K"];
    let cases = cases(&EXPERIMENT, &[&set[..], &["segments=14", "seed=1,2"]].concat()).unwrap();
    let rows = cases.iter().flat_map(|case| trial::rows(&EXPERIMENT, case, &report(1, 4)));
    let mut rows: Vec<Row> = rows.collect();
    rows[0].metrics["requests"] = 3.into();
    (EXPERIMENT.finish)(&mut rows).unwrap();
    // 3 and 1 requests of the same point: 2 apart, 2 on average.
    assert_eq!(rows[0].metric("spread"), Some(1.0));
    assert_eq!(rows[1].metric("spread"), Some(0.0));
}
