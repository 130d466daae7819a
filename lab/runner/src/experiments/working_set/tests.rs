// SPDX-License-Identifier: MIT OR Apache-2.0
use serde_json::{Value, json};

use super::*;
use crate::{
    experiments::trial::{cases, first, refuses, report},
    model::{LevelCounts, Record},
};

fn record(region: u32, accesses: u64, [hits, misses]: [u64; 2]) -> Record {
    let lines = LevelCounts { hits: 0, misses: hits + misses };
    let levels = vec![lines, LevelCounts { hits, misses }];
    Record { region, instructions: 10, accesses, levels, cycles: 4000, ..Record::default() }
}

fn read(placement: &str, conflict: u64) -> Value {
    json!({"work": "read", "placement": placement, "eighths": 8, "lines": 100,
        "warm_reads": 200, "lines_in_conflict": conflict})
}

#[test]
fn repeats_become_means_and_deviations_and_placements_stay_apart() {
    let told = vec![
        read("aged", 20),
        read("fresh", 0),
        read("aged", 40),
        json!({"work": "matrix", "placement": "aged", "size": 448, "units": 4}),
    ];
    let records = vec![
        record(100, 200, [1, 1]),
        record(1, 100, [80, 20]),
        record(100, 200, [1, 1]),
        record(1, 100, [100, 0]),
        record(100, 202, [1, 1]),
        record(1, 101, [60, 40]),
        record(2, 500, [10, 5]),
    ];
    let rows = (EXPERIMENT.rows)(&first(&EXPERIMENT), &report(told, records)).unwrap();
    let keys: Vec<_> = rows.iter().map(|(s, _)| (&s["work"], &s["placement"])).collect();
    let (read, matrix) = (json!("read"), json!("matrix"));
    let (aged, fresh) = (json!("aged"), json!("fresh"));
    assert_eq!(keys, [(&read, &aged), (&read, &fresh), (&matrix, &aged)]);

    let metrics = &rows[0].1;
    assert_eq!((&metrics["repeats"], &metrics["l2_misses"]), (&json!(2), &json!(30.0)));
    assert_eq!(metrics["lines_in_conflict"], 30.0);
    assert_eq!(metrics["other_accesses"], 1.5);
    let deviation = metrics["l2_miss_share_deviation"].as_f64().unwrap();
    assert!((deviation - 0.02f64.sqrt()).abs() < 1e-12);
    // 60 hits and 40 misses of 3.1 hits each.
    let worst = metrics["modelled_peak_share_worst"].as_f64().unwrap();
    assert!((worst - 100.0 / (60.0 + 40.0 * 3.1)).abs() < 1e-12);
    assert_eq!(rows[1].1["modelled_peak_share"], 1.0);
    assert_eq!(rows[2].1["modelled_cycles"], 1000.0);
}

#[test]
fn reports_that_cannot_be_are_refused() {
    for (told, records, said) in [
        (vec![read("aged", 0)], vec![], "the model saw 0 regions, the guest tells of 1"),
        (
            vec![read("aged", 0)],
            vec![record(2, 1, [1, 1])],
            "region 2 where the guest tells of read",
        ),
        (vec![json!({"work": "read"})], vec![record(1, 1, [1, 1])], "without work, placement"),
    ] {
        let error = (EXPERIMENT.rows)(&first(&EXPERIMENT), &report(told, records)).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[test]
fn settings_that_make_no_sense_are_named() {
    refuses(
        &EXPERIMENT,
        &[
            ("l2_ways=3", "a power of two"),
            ("l2_ways=1024", "at most 512"),
            ("miss_cost=0.5", "no less than a hit"),
            ("repeats=0", "nothing to count"),
            ("eighths=half", "setting eighths=half"),
            ("arch=mips", "arch=mips: there are x86_64 and arm64"),
        ],
    );
}

#[test]
fn the_guest_gets_enough_pages_for_all_it_measures() {
    let set = ["eighths=8,12", "repeats=2", "program_repeats=1", "matrix=448", "fft_points=65536"];
    let case = cases(&EXPERIMENT, &set).unwrap().remove(0);
    let number = |name: &str| case.argument(name).unwrap().parse::<u64>().unwrap();
    // 448² doubles are 392 pages, three times; 64k points 256 pages and 128 of roots.
    assert_eq!(number("contiguous_pages"), 3 * 392);
    assert!(number("random_pages") >= 2 * (512 + 768) + 3 * 392 + 256 + 128);
}
