// SPDX-License-Identifier: MIT OR Apache-2.0
//! Conflicts over boots that differ only in their seed: mean, its interval, each boot.

use super::lines::{age, fill};
use crate::results::{Boots, Results, Row, Table, percent, percent_within, words};

/// Blocks of the largest order, of both architectures with pages of 4 KiB.
const LARGEST: u64 = 4 << 20;
const SHARE: &str = "conflict_share";

/// A line for each point with more than one seed.
pub fn table(results: &Results) -> Table {
    let mut table = Table::new([
        "arch",
        "cache",
        "blocks of 4 MiB",
        "policy",
        "fill",
        "state",
        "boots",
        "mean",
        "95 % of it",
        "each boot",
    ]);
    let mut points: Vec<(String, Vec<&Row>)> = Vec::new();
    for row in results.rows.iter().filter(|row| row.setting("kernel_fn") == "triad") {
        let mut settings = row.settings.clone();
        settings.remove("seed");
        let point = words(&settings);
        match points.iter_mut().find(|(have, _)| *have == point) {
            Some((_, rows)) => rows.push(row),
            None => points.push((point, vec![row])),
        }
    }
    for (_, rows) in points {
        let row = rows[0];
        let boots = Boots::of(rows);
        let Some(interval) = boots.interval(SHARE) else { continue };
        let each = boots.values(SHARE);
        let state = match age(row) {
            0 => "fresh".to_owned(),
            day => format!("day {day}, {}", row.setting("intensity")),
        };
        let cache = row.setting("cache");
        let blocks = cache.parse::<huepage::units::Bytes>().map_or(0, |cache| cache.0 / LARGEST);
        table.row([
            row.setting("arch"),
            cache,
            blocks.to_string(),
            row.setting("policy"),
            fill(row).to_string(),
            if row.setting("policy") == "random" { "control".into() } else { state },
            each.len().to_string(),
            percent(boots.mean(SHARE).unwrap_or_default()),
            percent_within(interval),
            each.into_iter().map(percent).collect::<Vec<_>>().join(" "),
        ]);
    }
    table
}
