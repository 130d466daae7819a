// SPDX-License-Identifier: MIT OR Apache-2.0
//! Groups rows of `thirty-days` by machine, and by day.

use serde_json::json;

use crate::{
    experiment::map,
    results::{Boots, Results, Row, distinct},
};

/// Metrics that are shown by day: name, heading, and whether less is better.
pub const SHOWN: [(&str, &str, bool); 3] = [
    ("conflict_share", "Pages in conflict", true),
    ("free_in_largest", "Free memory in blocks of the largest order", false),
    ("thp_success", "Faults of 2 MiB that got a huge page at once", false),
];

/// Architecture, kind of day and policy: boots of a line differ only in their seed.
pub type Line = [String; 3];

pub fn day(row: &Row) -> u64 {
    row.setting("day").parse().unwrap_or_default()
}

/// The lines of the results.
pub fn lines(results: &Results) -> Vec<Line> {
    distinct(results.rows.iter().map(|row| ["arch", "kind", "policy"].map(|n| row.setting(n))))
}

pub fn of<'a>(results: &'a Results, line: &'a Line) -> impl Iterator<Item = &'a Row> {
    let [arch, kind, policy] = line;
    results.with([("arch", &**arch), ("kind", kind), ("policy", policy)])
}

pub fn on<'a>(results: &'a Results, line: &'a Line, wanted: u64) -> Boots<'a> {
    Boots::of(of(results, line).filter(|row| day(row) == wanted))
}

/// For each seed the mean of a metric over all days but the first.
pub fn over_days(results: &Results, line: &Line, metric: &str) -> Vec<Row> {
    let mean = |seed: &String| {
        let days = of(results, line).filter(|row| row.setting("seed") == *seed && day(row) > 0);
        let mean = Boots::of(days).mean(metric)?;
        Some(Row { metrics: map([(metric, json!(mean))]), ..Row::default() })
    };
    results.values("seed").iter().filter_map(mean).collect()
}
