// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes rows of a boot's report: repeats become means and deviations.

use anyhow::{Context, ensure};
use serde_json::Value;

use super::{WORKS, theory};
use crate::{
    boot::Report,
    experiment::{Case, Found, map},
    model::Record,
    results::distinct,
};

pub(super) fn of(case: &Case, report: &Report) -> anyhow::Result<Vec<Found>> {
    let miss_cost = case.settings["miss_cost"].as_f64().context("no miss_cost")?;
    let repeats = repeats(report)?;
    let keys = distinct(repeats.iter().map(|repeat| &repeat.key));
    let same = |key: &Key| repeats.iter().filter(|repeat| repeat.key == *key).collect::<Vec<_>>();
    Ok(keys.into_iter().map(|key| row(&same(key), miss_cost)).collect())
}

/// The key of repeats: work, placement, and size.
type Key = (String, String, u64);

/// One region with the guest's line about it.
struct Repeat<'a> {
    key: Key,
    told: &'a Value,
    record: &'a Record,
    /// Accesses while the caches were warmed for it.
    before: u64,
}

fn repeats(report: &Report) -> anyhow::Result<Vec<Repeat<'_>>> {
    let regions = WORKS.map(|(_, region)| region);
    let mut records = Vec::new();
    let mut before = 0;
    for record in &report.records {
        if regions.contains(&record.region) {
            records.push((record, before));
        }
        before = record.accesses;
    }
    let (told, seen) = (report.results.len(), records.len());
    ensure!(told == seen, "the model saw {seen} regions, the guest tells of {told}");
    let pairs = report.results.iter().zip(records);
    pairs
        .map(|(told, (record, before))| {
            let text = |name: &str| told[name].as_str().map(str::to_owned);
            let size = told["eighths"].as_u64().or(told["size"].as_u64());
            let key = text("work").zip(text("placement")).zip(size);
            let ((work, placement), size) =
                key.context("a result without work, placement or size")?;
            ensure!(
                WORKS.contains(&(work.as_str(), record.region)),
                "region {} where the guest tells of {work}",
                record.region
            );
            ensure!(record.levels.len() == 2, "{} levels in a record", record.levels.len());
            Ok(Repeat { key: (work, placement, size), told, record, before })
        })
        .collect()
}

/// Means and standard deviations over repeats.
fn row(same: &[&Repeat], miss_cost: f64) -> Found {
    let (work, placement, size) = same[0].key.clone();
    let size_name = if work == "read" { "eighths" } else { "size" };
    let settings = map([
        ("work", work.clone().into()),
        ("placement", placement.into()),
        (size_name, size.into()),
    ]);
    let mut metrics = map([("repeats", (same.len() as u64).into())]);
    let mut add = |name: &str, of: &dyn Fn(&Repeat) -> f64| {
        let values: Vec<f64> = same.iter().map(|repeat| of(repeat)).collect();
        let (mean, deviation) = theory::mean_and_deviation(&values);
        metrics.insert(name.to_owned(), mean.into());
        metrics.insert(format!("{name}_deviation"), deviation.into());
    };
    let told = |repeat: &Repeat, name: &str| repeat.told[name].as_f64().unwrap_or(0.0);
    let l2 = |repeat: &Repeat| {
        (repeat.record.levels[1].hits as f64, repeat.record.levels[1].misses as f64)
    };
    add("l1_misses", &|repeat| repeat.record.levels[0].misses as f64);
    add("l2_misses", &|repeat| l2(repeat).1);
    add("l2_miss_share", &|repeat| l2(repeat).1 / (l2(repeat).0 + l2(repeat).1).max(1.0));
    if work == "read" {
        add("lines", &|repeat| told(repeat, "lines"));
        add("lines_in_conflict", &|repeat| told(repeat, "lines_in_conflict"));
        // Accesses of the kernel meanwhile and while the caches were warmed.
        add("other_accesses", &|repeat| {
            let all = (repeat.record.accesses + repeat.before) as f64;
            all - told(repeat, "lines") - told(repeat, "warm_reads")
        });
        let peak_share = |repeat: &Repeat| {
            let (hits, misses) = l2(repeat);
            (hits + misses) / (hits + misses * miss_cost)
        };
        add("modelled_peak_share", &peak_share);
        let worst = same.iter().map(|repeat| peak_share(repeat)).fold(1.0, f64::min);
        metrics.insert("modelled_peak_share_worst".into(), worst.into());
    } else {
        add("accesses", &|repeat| repeat.record.accesses as f64);
        add("modelled_cycles", &|repeat| {
            repeat.record.cycles as f64 / told(repeat, "units").max(1.0)
        });
    }
    (settings, metrics)
}
