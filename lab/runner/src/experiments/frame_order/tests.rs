// SPDX-License-Identifier: MIT OR Apache-2.0
use serde_json::json;

use super::*;
use crate::{
    boot::Request,
    experiments::trial::{self, cases, refuses},
    results::Results,
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

fn results() -> Results {
    let mut rows = Vec::new();
    let usual = ["fs=ext2", "memory=256M", "read_ahead=128K", "segments=14", "seed=1,2"];
    for case in
        cases(&EXPERIMENT, &[&usual[..], &["readers=1,16", "policy=stock,reverse"]].concat())
            .unwrap()
    {
        let fresh = case.settings["age"] == 0 && case.settings["policy"] == "stock";
        let segments = if fresh { 1 } else { 14 };
        let readers = case.machine.disks.len() as u32 - 1;
        rows.extend(trial::rows(&EXPERIMENT, &case, &report(readers, segments)));
    }
    Results::of("frame-order", rows)
}

#[test]
fn seeds_have_a_spread_and_the_tables_say_what_is_lost() {
    let mut results = results();
    results.rows[0].metrics["requests"] = 3.into();
    (EXPERIMENT.finish)(&mut results.rows).unwrap();
    // 3 and 1 requests of the same point: 2 apart, 2 on average.
    assert_eq!(results.rows[0].metric("spread"), Some(1.0));
    assert_eq!(results.rows[1].metric("spread"), Some(0.0));
    let tables = page::page(&results).tables;
    let text = tables[0].1.markdown();
    // 100 + 1 + 163.84 µs and 100 + 14 + 163.84 µs: 1 − 264.84 / 277.84.
    assert!(text.contains("247") && text.contains("4.7 %"), "{text}");
    let stock = tables.iter().find(|(heading, _)| heading.starts_with("Against stock")).unwrap();
    // 2 boots with 3 and 1 requests against 1 and 1; 14 segments against 1.
    let text = stock.1.markdown();
    assert!(text.contains("-50.0 %") && text.contains("+1300.0 %"), "{text}");
    let svg = page::page(&results).plot.svg().unwrap();
    assert!(svg.contains("reverse, aged"), "{svg}");
    let source = page::page(&results).source.1.markdown();
    // 16 pages in one segment; reversed they are 14 segments.
    assert!(source.contains("15.00") && source.contains("0.14"), "{source}");
    assert!(source.contains("15 %") && source.contains("4.7 %"), "{source}");
}
