// SPDX-License-Identifier: MIT OR Apache-2.0
use serde_json::json;

use super::*;
use crate::{
    experiments::trial::{cases, first, refuses, report},
    model::{LevelCounts, Record},
};

fn record(region: u32, accesses: u64, misses: [u64; 2]) -> Record {
    let levels = misses.map(|misses| LevelCounts { hits: 1, misses }).to_vec();
    Record { region, instructions: 10, accesses, levels, cycles: 1000, ..Record::default() }
}

#[test]
fn records_and_results_meet_in_order_and_warm_ones_are_ignored() {
    let told = vec![
        json!({"table": "frames", "frames": 9, "rounds": 100, "reads": 900}),
        json!({"table": "scan", "backing": "kernel", "zero_frames": 1, "rounds": 10, "reads": 3200}),
    ];
    let records = vec![
        record(100, 5, [5, 5]),
        record(1, 907, [900, 0]),
        record(100, 5, [5, 5]),
        record(3, 3200, [20, 10]),
    ];
    let rows = (EXPERIMENT.rows)(&first(&EXPERIMENT), &report(told, records)).unwrap();
    assert_eq!(rows.len(), 2);
    let (settings, metrics) = &rows[0];
    assert_eq!((&settings["table"], &settings["frames"]), (&json!("frames"), &json!(9)));
    assert_eq!(metrics["other_accesses"], 7);
    assert_eq!(metrics["l1_misses_per_round"], 9.0);
    assert_eq!(metrics["modelled_cycles_per_round"], 10.0);
    assert_eq!(metrics["times_source_rounds"], 10_000.0);
    let (settings, metrics) = &rows[1];
    assert_eq!(settings["backing"], "kernel");
    assert_eq!((&metrics["zero_frames"], metrics.get("times_source_rounds")), (&json!(1), None));
}

#[test]
fn reports_that_cannot_be_are_refused() {
    let told = json!({"table": "frames", "frames": 9, "rounds": 100, "reads": 900});
    for (records, said) in [
        (vec![], "the model saw 0 regions, the guest tells of 1"),
        (vec![record(2, 900, [0, 0])], "region 2 where the guest tells of frames"),
        (vec![record(1, 899, [0, 0])], "899 accesses, but 900 reads"),
    ] {
        let error = (EXPERIMENT.rows)(&first(&EXPERIMENT), &report(vec![told.clone()], records))
            .unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[test]
fn settings_that_make_no_sense_are_named() {
    refuses(
        &EXPERIMENT,
        &[
            ("frames=513", "1 to 512 frames"),
            ("frames=eight", "setting frames=eight"),
            ("thrash_rounds=0", "nothing to count"),
            ("thrash_rounds=1,2", "takes one value"),
            ("arch=mips", "arch=mips: there are x86_64 and arm64"),
            ("replacement=fifo", "lru, tree-plru, random or qlru"),
            ("fought=l3", "there are l1, l2"),
            ("zeros=many", "setting zeros=many"),
        ],
    );
}

#[test]
fn every_cache_replacement_and_number_is_a_boot() {
    let cases = cases(&EXPERIMENT, &[]).unwrap();
    assert_eq!(cases.len(), 2 * 2 * 2 * 5);
    for case in cases {
        let zeros = case.settings["zeros"].to_string();
        let zeros = zeros.trim_matches('"');
        let fought: Fought = case.settings["fought"].as_str().unwrap().parse().unwrap();
        let model = case.model.as_ref().unwrap();
        let level = &model.levels[if fought == Fought::L1 { 0 } else { 1 }];
        assert_eq!(level.size.0 / u64::from(level.ways) / 4096, fought.colors());
        let option = format!("zero_pages={zeros}");
        assert_eq!(case.variant == Variant::Stock, zeros == "stock");
        assert_eq!(case.machine.kernel_options.contains(&option), zeros != "stock");
        let frames = case.argument("frames").unwrap();
        assert_eq!(frames.is_empty(), zeros != "stock" || fought == Fought::L1);
    }
}
