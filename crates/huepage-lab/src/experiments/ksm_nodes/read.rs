// SPDX-License-Identifier: MIT OR Apache-2.0
//! From what the guests and the model report to rows.

use anyhow::{Context, ensure};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::{MERGE, SWITCH, count, pages};
use crate::{
    boot::Report,
    experiment::{Case, Found, map},
    model::Record,
    results::Row,
};

/// Loads per page.
const LINES: u64 = 64;

/// What KSM counts, and where the pages are.
#[derive(Deserialize)]
struct State {
    shared: u64,
    sharing: u64,
    chains: u64,
    dups: u64,
    /// Pages of all workers, by node.
    on: Vec<u64>,
    /// Of these, on the node of their worker.
    local: u64,
    /// Frames behind the shared contents, by node.
    merged: Vec<u64>,
    /// Of these, in memory that was plugged in.
    hot: u64,
}

#[derive(Deserialize)]
struct Knob {
    refused: i32,
    kept: bool,
    accepted: i32,
}

#[derive(Deserialize)]
struct Offline {
    blocks: u64,
    retries: u64,
}

#[derive(Deserialize)]
struct Verified {
    wrong: u64,
    pages: u64,
}

fn step<T: DeserializeOwned>(results: &[Value], name: &str) -> anyhow::Result<T> {
    let found = results.iter().find(|result| result["step"] == name);
    let found = found.with_context(|| format!("the guest did not report its step {name}"))?;
    T::deserialize(found).with_context(|| format!("the guest's step {name}: {found}"))
}

/// Pages that were read and found right.
fn verified(results: &[Value], name: &str) -> anyhow::Result<u64> {
    let Verified { wrong, pages } = step(results, name)?;
    ensure!(
        wrong == 0,
        "{wrong} of {pages} pages have the wrong content ({name}): the kernel lost data"
    );
    Ok(pages)
}

fn sum(counts: &[u64]) -> u64 {
    counts.iter().sum()
}

fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

/// Before and after merging.
pub(super) fn merged(case: &Case, report: &Report) -> anyhow::Result<Vec<Found>> {
    let right = verified(&report.results, "verified")?;
    [("unmerged", 1), ("merged", 2)]
        .into_iter()
        .map(|(name, region)| {
            let state: State = step(&report.results, name)?;
            let all = sum(&state.on);
            if name == "unmerged" {
                ensure!(
                    state.local == all,
                    "{} pages are not on the node of their worker: set fewer pages, or a larger \
                     node_mib",
                    all - state.local
                );
            }
            let workers =
                of_workers(&report.records, region, state.on.len(), pages(&case.settings))?;
            let mut metrics = times(&workers);
            let read = pages(&case.settings) * LINES * workers.len() as u64;
            let stray = count(&metrics, "accesses") - read;
            metrics.insert("stray_accesses".into(), stray.into());
            metrics.extend(sharing(&state));
            metrics.insert("saved_share".into(), share(state.sharing, all).into());
            metrics.insert("pages_verified".into(), right.into());
            Ok((map([("state", name.into())]), metrics))
        })
        .collect()
}

fn sharing(state: &State) -> Map<String, Value> {
    map([
        ("pages_shared", state.shared.into()),
        ("pages_sharing", state.sharing.into()),
        ("pages_by_node", json!(state.on)),
        ("merged_by_node", json!(state.merged)),
    ])
}

/// The record of each worker: region by region in the order of nodes, each on the
/// CPU of the same number.
fn of_workers(
    records: &[Record],
    region: u32,
    nodes: usize,
    pages: u64,
) -> anyhow::Result<Vec<&Record>> {
    let mut turns: Vec<u32> =
        records.iter().filter(|record| record.region == region).map(|r| r.sequence).collect();
    turns.dedup();
    ensure!(turns.len() == nodes, "{} of {nodes} workers marked region {region}", turns.len());
    let workers = turns.iter().enumerate().map(|(cpu, turn)| {
        let own = records
            .iter()
            .find(|record| record.sequence == *turn && record.cpu as usize == cpu)
            .with_context(|| format!("worker {cpu} did not run on its CPU"))?;
        ensure!(
            own.accesses >= pages * LINES,
            "worker {cpu} made {} accesses, not the {} to its pages",
            own.accesses,
            pages * LINES
        );
        Ok(own)
    });
    workers.collect()
}

/// Mean and standard deviation of all of a population.
fn spread(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (mean, (squares / values.len() as f64).sqrt())
}

fn times(workers: &[&Record]) -> Map<String, Value> {
    let page_times = |record: &Record| record.page_times.expect("the model was asked for them");
    let means: Vec<f64> = workers.iter().map(|record| page_times(record).access_mean).collect();
    let (mean, deviation) = spread(&means);
    // Of all pages of all workers: the spread within a worker and that between.
    let within: Vec<f64> =
        workers.iter().map(|record| page_times(record).access_deviation.powi(2)).collect();
    let over_pages = (spread(&within).0 + deviation.powi(2)).sqrt();
    let on = |record: &Record| sum(&record.nodes);
    let own = |(cpu, record): (usize, &&Record)| record.nodes[cpu];
    let all: u64 = workers.iter().map(|record| on(record)).sum();
    let local: u64 = workers.iter().enumerate().map(own).sum();
    map([
        ("access_time_sd_percent", (100.0 * deviation / mean).into()),
        ("page_time_sd_percent", (100.0 * over_pages / mean).into()),
        ("access_time_mean", mean.into()),
        ("access_time_by_worker", json!(means)),
        ("remote_share", share(all - local, all).into()),
        ("accesses", workers.iter().map(|record| record.accesses).sum::<u64>().into()),
    ])
}

/// Both ways of the switch.
pub(super) fn switched(report: &Report) -> anyhow::Result<Vec<Found>> {
    let results = &report.results;
    let starts: Vec<usize> =
        (0..results.len()).filter(|&at| results[at]["step"] == "unmerged").collect();
    ensure!(starts.len() == 2, "the guest switched {} times, not twice", starts.len());
    let turns = [(1, 0, &results[..starts[1]]), (0, 1, &results[starts[1].saturating_sub(2)..])];
    turns.into_iter().map(|(from, to, turn)| switched_once(from, to, turn)).collect()
}

fn switched_once(from: u32, to: u32, results: &[Value]) -> anyhow::Result<Found> {
    let unmerged: State = step(results, "unmerged")?;
    // Of the second turn, what the first ended with comes first.
    let start = results.iter().position(|result| result["step"] == "unmerged").unwrap_or(0);
    let (before, rest) = results.split_at(start);
    let before: State = step(before, "merged").or_else(|_| step(before, "merged-again"))?;
    let knob: Knob = step(rest, "switch")?;
    let after: State = step(rest, "merged-again")?;
    let right = verified(rest, "verified-unmerged")? + verified(rest, "verified")?;
    let mut metrics = map([
        ("pages_shared_before", before.shared.into()),
        ("while_shared", answer(knob.refused).into()),
        ("knob_kept", knob.kept.into()),
        ("after_unmerge", answer(knob.accepted).into()),
        ("pages_shared_unmerged", unmerged.shared.into()),
        ("unmerged_by_node", json!(unmerged.on)),
        ("local_share_unmerged", share(unmerged.local, sum(&unmerged.on)).into()),
    ]);
    metrics.extend(sharing(&after));
    metrics.insert("pages_verified".into(), right.into());
    Ok((map([("from", from.into()), ("to", to.into())]), metrics))
}

/// What a system call says.
fn answer(errno: i32) -> String {
    match errno {
        0 => "accepted".to_owned(),
        16 => "EBUSY".to_owned(),
        other => format!("errno {other}"),
    }
}

/// Memory taken away below merged pages.
pub(super) fn offlined(case: &Case, report: &Report) -> anyhow::Result<Vec<Found>> {
    let results = &report.results;
    let before: State = step(results, "merged")?;
    let offline: Offline = step(results, "offline")?;
    let moved: State = step(results, "moved")?;
    let after: State = step(results, "merged-again")?;
    let new: State = step(results, "new")?;
    ensure!(before.hot > 0, "no merged page was in the memory that was to go offline");
    ensure!(moved.hot == 0, "{} merged pages are in memory that went offline", moved.hot);
    let steps = ["verified-moved", "verified", "verified-new"];
    let right = steps.into_iter().map(|name| verified(results, name));
    let right: u64 = right.sum::<anyhow::Result<u64>>()?;
    let with_some = after.merged.iter().filter(|frames| **frames > 0).count() as u64;
    let trees = if count(&case.settings, "merge_across_nodes") == 1 { 1 } else { with_some };
    let excess = sum(&after.merged) - trees * count(&case.settings, "contents");
    let mut metrics = map([
        ("blocks_offlined", offline.blocks.into()),
        ("retries", offline.retries.into()),
        ("merged_there", before.hot.into()),
        ("pages_shared_before", before.shared.into()),
    ]);
    metrics.extend(sharing(&after));
    metrics.extend(map([
        ("chains", after.chains.into()),
        ("dups", after.dups.into()),
        ("excess_copies", excess.into()),
        ("new_shared", (new.shared - after.shared).into()),
        ("new_sharing", (new.sharing - after.sharing).into()),
        ("new_merged_by_node", json!(new.merged)),
        ("pages_verified", right.into()),
    ]));
    Ok(vec![(Map::new(), metrics)])
}

/// Beside the counts after a switch, those of a fresh boot with that setting.
pub(super) fn compare_with_fresh(mut rows: Vec<Row>) -> Vec<Row> {
    let fresh: Vec<Row> = rows
        .iter()
        .filter(|row| row.setting("event") == MERGE && row.setting("state") == "merged")
        .cloned()
        .collect();
    for row in rows.iter_mut().filter(|row| row.setting("event") == SWITCH) {
        let same = |other: &&Row| {
            ["arch", "config", "nodes"].iter().all(|name| other.setting(name) == row.setting(name))
                && other.setting("merge_across_nodes") == row.setting("to")
        };
        let Some(other) = fresh.iter().find(same) else { continue };
        for name in ["pages_shared", "pages_sharing"] {
            let count = count(&other.metrics, name);
            row.metrics.insert(format!("fresh_{name}"), count.into());
        }
    }
    rows
}
