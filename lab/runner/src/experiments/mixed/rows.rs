// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes rows of the guest's lines, and checks whether every load has run.

use anyhow::{Context, ensure};
use serde_json::{Map, Value};

use super::IDLE;
use crate::{
    boot::Report,
    experiment::{Case, Found},
};

/// The fields of a line that are settings; the others are metrics.
const SETTINGS: [&str; 5] = ["load", "day", "fill", "cpu", "node"];
/// Loads beside which another process goes on.
const BESIDE: [&str; 7] =
    ["anon-churn", "file-churn", "forks", "stream", "compaction", "kcompactd", "memcg"];
/// The least number of rounds of the neighbor while the program touches its pages.
const LEAST_ROUNDS: f64 = 16.0;

/// The rows of a boot.
pub(super) fn of(case: &Case, report: &Report) -> anyhow::Result<Vec<Found>> {
    let found: Vec<Found> = report.results.iter().map(row).collect::<anyhow::Result<_>>()?;
    for day in case.argument("days")?.split(',') {
        for load in case.argument("loads")?.split(',').chain([IDLE]) {
            let of = |(settings, _): &Found| {
                settings["load"] == load && settings["day"].as_u64() == day.parse().ok()
            };
            ensure!(found.iter().any(of), "no row of the load {load} on day {day}");
        }
    }
    Ok(found)
}

fn row(said: &Value) -> anyhow::Result<Found> {
    let said = said.as_object().context("the guest's lines are objects")?;
    let (settings, metrics): (Map<_, _>, Map<_, _>) = said
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .partition(|(name, _)| SETTINGS.contains(&name.as_str()));
    let load = settings.get("load").and_then(Value::as_str).context("a line without a load")?;
    ensure!(settings.contains_key("day"), "the guest tells of {load} on no day");
    if !metrics.contains_key("skipped") && BESIDE.contains(&load) {
        let rounds = metrics.get("neighbor_rounds").and_then(Value::as_f64).unwrap_or(0.0);
        // Compacting memory takes long, and all of memory longest.
        let least = match load {
            "compaction" => 1.0,
            "kcompactd" => LEAST_ROUNDS / 2.0,
            _ => LEAST_ROUNDS,
        };
        ensure!(rounds >= least, "the neighbor of {load} did what it does only {rounds} times");
    }
    Ok((settings, metrics))
}
