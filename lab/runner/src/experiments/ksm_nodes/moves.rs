// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes rows of the report of the guest `ksm-moves`.

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    count,
    read::{Domains, State, of_domains, share, sharing, step, sum, verified},
};
use crate::{
    boot::Report,
    experiment::{Case, Found, map},
};

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

/// Both directions of the switch.
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
    // The second turn starts from the state at the end of the first.
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

/// There and back while pages are merged, and all unmerged at the end.
pub(super) fn changed(case: &Case, report: &Report) -> anyhow::Result<Vec<Found>> {
    let results = &report.results;
    let starts: Vec<usize> =
        (0..results.len()).filter(|&at| results[at]["step"] == "changed").collect();
    ensure!(starts.len() == 2, "the guest changed the distance {} times, not twice", starts.len());
    let ends = (count(&case.settings, "merge_distance"), count(&case.settings, "to"));
    let unmerged: State = step(results, "unmerged")?;
    let local = share(unmerged.local, sum(&unmerged.on));
    verified(results, "verified-unmerged")?;
    let there = changed_once(case, ends, &results[..starts[1]])?;
    let mut back = changed_once(case, (ends.1, ends.0), &results[starts[1]..])?;
    back.1.insert("local_share_unmerged".into(), local.into());
    back.1.insert("pages_shared_unmerged".into(), unmerged.shared.into());
    Ok(vec![there, back])
}

#[derive(Deserialize)]
struct Change {
    refused: i32,
    accepted: i32,
}

fn changed_once(case: &Case, (from, to): (u64, u64), results: &[Value]) -> anyhow::Result<Found> {
    let change: Change = step(results, "change")?;
    let changed: State = step(results, "changed")?;
    let settled: State = step(results, "settled")?;
    let right = verified(results, "verified-changed")? + verified(results, "verified-settled")?;
    let none = "the kernel has no merge domains";
    let (before, after) = (changed.domains.context(none)?, settled.domains.as_ref().context(none)?);
    after.check(&case.machine.distances, to as u32)?;
    ensure!(
        after.unplaced == 0 && after.spanning == 0,
        "{} merged pages wait for their tree and {} mappings for a page, after all scans",
        after.unplaced,
        after.spanning
    );
    let since = |of: fn(&Domains) -> u64| (of(after) - of(&before)).into();
    let mut metrics = map([
        ("strict", answer(change.refused).into()),
        ("while_shared", answer(change.accepted).into()),
        ("unplaced_at_first", before.unplaced.into()),
        ("spanning_at_first", before.spanning.into()),
        ("split", since(|domains| domains.split)),
        ("folded", since(|domains| domains.folded)),
        ("local_share", share(settled.local, sum(&settled.on)).into()),
    ]);
    metrics.extend(of_domains(after));
    metrics.extend(sharing(&settled));
    metrics.insert("pages_verified".into(), right.into());
    Ok((map([("from", from.into()), ("to", to.into())]), metrics))
}

/// The result of a system call, by its error number.
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
    let trees = trees(case, &after);
    let least = trees * count(&case.settings, "contents");
    let excess = sum(&after.merged).checked_sub(least).context("contents without a frame")?;
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
        ("folded", after.domains.as_ref().map_or(0, |domains| domains.folded).into()),
        ("excess_copies", excess.into()),
        ("new_shared", more(after.shared, new.shared).into()),
        ("new_sharing", more(after.sharing, new.sharing).into()),
        ("new_merged_by_node", json!(new.merged)),
        ("pages_verified", right.into()),
    ]));
    Ok(vec![(Map::new(), metrics)])
}

/// The disturbances that the kernel survived, and how many pages were checked.
pub(super) fn survived(report: &Report, name: &str, pages: &str) -> anyhow::Result<Vec<Found>> {
    let done: Map<String, Value> = step(&report.results, name)?;
    ensure!(count(&done, pages) > 0, "not a page was looked at: {done:?}");
    let metrics = done.into_iter().filter(|(name, _)| name != "step").collect();
    Ok(vec![(Map::new(), metrics)])
}

/// Trees with some of the pages in them.
fn trees(case: &Case, state: &State) -> u64 {
    if count(&case.settings, "merge_across_nodes") == 1 {
        return 1;
    }
    let with_some = (0..state.merged.len()).filter(|node| state.merged[*node] > 0);
    let mut trees: Vec<usize> = match &state.domains {
        None => with_some.collect(),
        Some(domains) => with_some.map(|node| domains.domain_of[node] as usize).collect(),
    };
    trees.sort_unstable();
    trees.dedup();
    trees.len() as u64
}

/// The increase; negative if there are fewer.
fn more(before: u64, after: u64) -> i64 {
    after as i64 - before as i64
}

/// The instructions of ksmd per page. All CPUs together, since the process that waits
/// for ksmd sleeps.
pub(super) fn cost(report: &Report) -> anyhow::Result<Vec<Found>> {
    let said: Map<String, Value> = step(&report.results, "cost")?;
    let pages = count(&said, "scanned");
    ensure!(pages > 0, "ksmd scanned no page");
    let instructions: u64 = report.records.iter().map(|record| record.instructions).sum();
    let each = instructions as f64 / pages as f64;
    let metrics = map([("scanned", pages.into()), ("instructions_per_page", each.into())]);
    Ok(vec![(Map::new(), metrics)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::{ksm_nodes::EXPERIMENT, trial};

    fn state(step: &str, shared: u64, merged: [u64; 2]) -> Value {
        json!({
            "step": step, "shared": shared, "sharing": 3 * shared, "chains": 0, "dups": 0,
            "on": [6, 2], "local": 6, "merged": merged, "hot": if step == "merged" { 1 } else { 0 },
        })
    }

    fn right(step: &str) -> Value {
        json!({ "step": step, "wrong": 0, "pages": 8 })
    }

    fn knob(refused: i32) -> Value {
        json!({ "step": "switch", "refused": refused, "kept": refused != 0, "accepted": 0 })
    }

    fn offline_case(across: &str) -> Case {
        let set = ["event=offline", "arch=arm64", "contents=2", "unique=128", across];
        trial::cases(&EXPERIMENT, &[&set[..], &["topology=hypercube", "nodes=2"]].concat())
            .unwrap()
            .remove(0)
    }

    #[test]
    fn both_ways_of_a_switch_begin_with_what_was_before() {
        let turn = |refused, shared| {
            let unmerged = state("unmerged", 0, [4, 0]);
            let again = state("merged-again", shared, [2, 0]);
            [unmerged, right("verified-unmerged"), knob(refused), again, right("verified")]
        };
        let mut results = vec![state("merged", 1, [1, 0])];
        results.extend(turn(16, 2));
        results.extend(turn(0, 3));
        let rows = switched(&trial::report(results, Vec::new())).unwrap();
        let said: Vec<_> = rows
            .iter()
            .map(|(settings, metrics)| {
                let of = |name: &str| count(metrics, name);
                let way = (count(settings, "from"), count(settings, "to"));
                let answer = metrics["while_shared"].as_str().unwrap().to_owned();
                (way, of("pages_shared_before"), answer, of("pages_shared"))
            })
            .collect();
        let expected = [((1, 0), 1, "EBUSY".to_owned(), 2), ((0, 1), 2, "accepted".to_owned(), 3)];
        assert_eq!(said, expected);
    }

    #[test]
    fn copies_beyond_one_in_each_tree_are_in_excess() {
        let results = |merged| {
            let steps = ["verified-moved", "verified", "verified-new"].map(right);
            let mut results = vec![
                state("merged", 1, [1, 1]),
                json!({ "step": "offline", "blocks": 2, "retries": 1 }),
                state("moved", 1, [1, 0]),
                state("merged-again", 1, merged),
                state("new", 3, [2, 0]),
            ];
            results.extend(steps);
            trial::report(results, Vec::new())
        };
        let excess = |across: &str, merged| {
            let rows = offlined(&offline_case(across), &results(merged)).unwrap();
            assert_eq!(count(&rows[0].1, "new_shared"), 2);
            count(&rows[0].1, "excess_copies")
        };
        assert_eq!(excess("merge_across_nodes=0", [4, 0]), 2);
        assert_eq!(excess("merge_across_nodes=0", [2, 2]), 0);
        assert_eq!(excess("merge_across_nodes=1", [2, 2]), 2);
    }
}
