// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes rows of the reports of the guests and the model.

use anyhow::{Context, ensure};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::{MERGE, SWITCH, count, pages, times, turns};
use crate::{
    boot::Report,
    experiment::{Case, Found, map},
    results::Row,
};

/// What KSM counts, and where the pages are.
#[derive(Deserialize)]
pub(super) struct State {
    pub shared: u64,
    pub sharing: u64,
    pub chains: u64,
    pub dups: u64,
    /// Pages of all workers, by node.
    pub on: Vec<u64>,
    /// Of these, on the node of their worker.
    pub local: u64,
    /// Frames behind the shared contents, by node.
    pub merged: Vec<u64>,
    /// Of these, in memory that was plugged in.
    pub hot: u64,
    /// Where the kernel has merge domains.
    #[serde(flatten)]
    pub domains: Option<Domains>,
}

/// The state of a kernel with merge domains.
#[derive(Deserialize)]
pub(super) struct Domains {
    /// By node, the lowest node of its domain.
    pub domain_of: Vec<u32>,
    /// Mappings of pages on another node than before merging.
    pub remote: u64,
    /// As merge_distance reads.
    pub distance: u32,
    /// Work that ksmd still has to do: merged pages in the wrong tree, mappings of a
    /// page in another domain.
    pub unplaced: u64,
    pub spanning: u64,
    /// The work that it has done since boot.
    pub split: u64,
    pub folded: u64,
    pub moved: u64,
}

impl Domains {
    /// How many there are.
    pub fn count(&self) -> u64 {
        let heads = self.domain_of.iter().enumerate();
        heads.filter(|(node, domain)| *node == **domain as usize).count() as u64
    }

    /// Whether every two nodes of a domain are within the distance, and the kernel
    /// reports the distance that was set.
    pub fn check(&self, distances: &[Vec<u32>], limit: u32) -> anyhow::Result<()> {
        let mut largest = 0;
        for (from, row) in distances.iter().enumerate() {
            for (to, distance) in row.iter().enumerate() {
                if self.domain_of[from] == self.domain_of[to] {
                    largest = largest.max(*distance);
                }
            }
        }
        ensure!(
            largest <= limit,
            "nodes {largest} apart are in one domain, and {limit} is allowed"
        );
        ensure!(
            largest == self.distance,
            "merge_distance reads {}, and nodes {largest} apart are in one domain",
            self.distance
        );
        Ok(())
    }
}

#[derive(Deserialize)]
struct Verified {
    wrong: u64,
    pages: u64,
}

pub(super) fn step<T: DeserializeOwned>(results: &[Value], name: &str) -> anyhow::Result<T> {
    let found = results.iter().find(|result| result["step"] == name);
    let found = found.with_context(|| format!("the guest did not report its step {name}"))?;
    T::deserialize(found).with_context(|| format!("the guest's step {name}: {found}"))
}

/// Pages that were read and had the right content.
pub(super) fn verified(results: &[Value], name: &str) -> anyhow::Result<u64> {
    let Verified { wrong, pages } = step(results, name)?;
    ensure!(
        wrong == 0,
        "{wrong} of {pages} pages have the wrong content ({name}): the kernel lost data"
    );
    Ok(pages)
}

pub(super) fn sum(counts: &[u64]) -> u64 {
    counts.iter().sum()
}

pub(super) fn share(part: u64, whole: u64) -> f64 {
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
            let pages = match turns(&case.settings) {
                0 => pages(&case.settings),
                turns => turns,
            };
            let workers = times::of_workers(&report.records, region, state.on.len(), pages)?;
            let mut metrics = times::metrics(&workers);
            let read = times::loads(pages) * workers.len() as u64;
            let stray = count(&metrics, "accesses") - read;
            metrics.insert("stray_accesses".into(), stray.into());
            metrics.extend(sharing(&state));
            metrics.insert("saved_share".into(), share(state.sharing, all).into());
            metrics.insert("pages_verified".into(), right.into());
            if let Some(domains) = &state.domains {
                let limit = count(&case.settings, "merge_distance") as u32;
                domains.check(&case.machine.distances, limit)?;
                ensure!(
                    domains.remote == all - state.local,
                    "the kernel counts {} remote mappings, and there are {}",
                    domains.remote,
                    all - state.local
                );
                metrics.extend(of_domains(domains));
            }
            Ok((map([("state", name.into())]), metrics))
        })
        .collect()
}

pub(super) fn sharing(state: &State) -> Map<String, Value> {
    map([
        ("pages_shared", state.shared.into()),
        ("pages_sharing", state.sharing.into()),
        ("pages_by_node", json!(state.on)),
        ("merged_by_node", json!(state.merged)),
    ])
}

pub(super) fn of_domains(domains: &Domains) -> Map<String, Value> {
    map([
        ("domain_of", json!(domains.domain_of)),
        ("domains", domains.count().into()),
        ("remote_mappings", domains.remote.into()),
        ("moved", domains.moved.into()),
    ])
}

/// Adds to the counts after a switch those of a fresh boot with the same setting.
pub(super) fn compare_with_fresh(rows: &mut [Row]) {
    let fresh: Vec<Row> = rows
        .iter()
        .filter(|row| {
            row.setting("event") == MERGE
                && row.setting("state") == "merged"
                && !row.settings.contains_key("caches")
        })
        .cloned()
        .collect();
    for row in rows.iter_mut().filter(|row| row.setting("event") == SWITCH) {
        let same = |other: &&Row| {
            let knob = if row.settings.contains_key("merge_distance") {
                "merge_distance"
            } else {
                "merge_across_nodes"
            };
            ["arch", "config", "topology", "nodes", "seed"]
                .iter()
                .all(|name| other.setting(name) == row.setting(name))
                && other.setting(knob) == row.setting("to")
        };
        let Some(other) = fresh.iter().find(same) else { continue };
        for name in ["pages_shared", "pages_sharing"] {
            let count = count(&other.metrics, name);
            row.metrics.insert(format!("fresh_{name}"), count.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::trial;

    #[test]
    fn a_wrong_page_ends_the_run() {
        let wrong = json!({ "step": "verified", "wrong": 3, "pages": 8 });
        let error = verified(&[wrong], "verified").unwrap_err().to_string();
        assert!(error.contains("3 of 8 pages have the wrong content"), "{error}");
        let error = verified(&[], "verified").unwrap_err().to_string();
        assert!(error.contains("did not report its step verified"), "{error}");
    }

    #[test]
    fn counts_after_a_switch_are_set_beside_those_of_a_fresh_boot() {
        let row = |settings: Value, shared: u64| {
            trial::row(&settings, &json!({"pages_shared": shared, "pages_sharing": 1}))
        };
        let merge = |across, state, shared| {
            let settings = json!({
                "event": "merge", "arch": "arm64", "config": "plain", "nodes": 2,
                "topology": "ring",
                "merge_across_nodes": across, "state": state,
            });
            row(settings, shared)
        };
        let switch = json!({
            "event": "switch", "arch": "arm64", "config": "plain", "nodes": 2, "from": 1, "to": 0,
            "topology": "ring",
        });
        let mut rows =
            [merge(1, "merged", 5), merge(0, "unmerged", 6), merge(0, "merged", 7), row(switch, 8)];
        compare_with_fresh(&mut rows);
        assert_eq!(count(&rows[3].metrics, "fresh_pages_shared"), 7);
        assert!(!rows[2].metrics.contains_key("fresh_pages_shared"));
    }
}
