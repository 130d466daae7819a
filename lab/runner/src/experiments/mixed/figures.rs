// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows that differ only in seed and day, and figures over them.

use crate::results::{Figures, Results, Row, distinct};

/// What is shown in one line: the same load on the same machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub arch: String,
    pub cache: String,
    pub load: String,
    /// Of the neighbor.
    pub cpu: String,
    /// That the program is bound to.
    pub node: String,
    pub fill: String,
}

impl Kind {
    pub fn of(row: &Row) -> Self {
        let [arch, cache, load, cpu, node, fill] =
            ["arch", "cache", "load", "cpu", "node", "fill"].map(|name| row.setting(name));
        Kind { arch, cache, load, cpu, node, fill }
    }

    /// `anon-churn, same CPU`.
    pub fn name(&self) -> String {
        match (self.cpu.as_str(), self.node.as_str()) {
            ("", "") => self.load.clone(),
            ("", node) => format!("{}, node {node}", self.load),
            (cpu, _) => format!("{}, {cpu} CPU", self.load),
        }
    }

    pub fn head(&self) -> [String; 4] {
        [self.arch.clone(), self.cache.clone(), self.name(), self.fill.clone()]
    }
}

pub(super) const HEAD: [&str; 4] = ["arch", "cache", "load", "fill"];

pub(super) fn fill(row: &Row) -> f64 {
    row.setting("fill").parse().unwrap_or(0.0)
}

/// The kinds for which some row has the metric, in the order of rows.
pub(super) fn kinds<'a>(rows: impl Iterator<Item = &'a Row>, metric: &str) -> Vec<Kind> {
    distinct(rows.filter(|row| row.metric(metric).is_some()).map(Kind::of))
}

/// Of all seeds and days.
pub(super) fn of(results: &Results, kind: &Kind, policy: &str, metric: &str) -> Option<Figures> {
    let rows = results.rows.iter().filter(|row| row.setting("policy") == policy);
    let rows = rows.filter(|row| Kind::of(row) == *kind);
    Figures::of(rows.filter_map(|row| row.metric(metric)))
}

/// Of all seeds and loads of a day, on machines without nodes.
pub(super) fn of_day(
    rows: &[Row],
    (arch, cache, policy): (&str, &str, &str),
    day: &str,
    metric: &str,
) -> Option<Figures> {
    let set = [("arch", arch), ("cache", cache), ("policy", policy), ("day", day)];
    let here = |row: &&Row| set.iter().all(|(name, value)| row.setting(name) == *value);
    let plain = |row: &&Row| row.setting("nodes") != "2";
    Figures::of(rows.iter().filter(here).filter(plain).filter_map(|row| row.metric(metric)))
}
