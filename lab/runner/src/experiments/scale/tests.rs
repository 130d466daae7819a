// SPDX-License-Identifier: MIT OR Apache-2.0
use serde_json::json;

use super::*;
use crate::{
    experiments::trial::{self, cases, refuses},
    results::Results,
};

#[test]
fn memory_and_colors_grow_with_the_cache() {
    let cases = cases(&EXPERIMENT, &["seed=1"]).unwrap();
    assert_eq!(cases.len(), 4 * 2 * 2);
    let argument = |case: &Case, name: &str| case.argument(name).unwrap().parse::<u64>().unwrap();
    for case in &cases {
        let colors = argument(case, "colors") * argument(case, "ways");
        assert_eq!(case.machine.memory.0, 3 * 4096 * colors);
        assert_eq!(argument(case, "pages"), (0.94 * colors as f64) as u64);
    }
    let most = cases.iter().map(|case| argument(case, "colors")).max();
    assert_eq!(most, Some(1 << 20));
}

#[test]
fn settings_that_make_no_sense_are_named() {
    refuses(
        &EXPERIMENT,
        &[
            ("ways=3", "each of 3 ways"),
            ("memory=0", "too small"),
            ("memory=1,2", "takes one value"),
            ("seed=0", "seed=0"),
        ],
    );
}

#[test]
fn fresh_and_aged_stand_beside_each_other() {
    let boots = cases(&EXPERIMENT, &["cache=64M", "ways=2", "seed=1,2"]).unwrap();
    let mut all = Vec::new();
    for case in &boots {
        let is_stock = case.settings["policy"] == "stock";
        let (fresh, aged) = if is_stock { (0.1, 0.5) } else { (0.0, 0.0) };
        let seed = case.settings["seed"].as_f64().unwrap();
        let line = |(day, share): (u32, f64)| {
            json!({"day": day, "conflict_share": share * seed,
                   "touch_ns": if is_stock { 8000.0 } else { 8800.0 },
                   "free_in_largest": 0.5, "thp_success": 0.9})
        };
        let report = trial::report([(0, fresh), (1, aged)].map(line).to_vec(), Vec::new());
        all.extend(trial::rows(&EXPERIMENT, case, &report));
    }
    let page = page::page(&Results::of("scale", all));
    let table = page.tables[0].1.markdown();
    for part in ["8,192", "15.0 % (10.0 % to 20.0 %)", "75.0 % (50.0 % to 100.0 %)", "56.0 %"] {
        assert!(table.contains(part), "{part} in {table}");
    }
    let costs = page.tables[1].1.markdown();
    assert!(costs.contains("1,000") && costs.contains("+10.0 %"), "{costs}");
    assert!(page.plot.svg().unwrap().contains("2 ways: pages in conflict"));
}
