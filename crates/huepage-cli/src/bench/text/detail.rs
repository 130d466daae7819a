// SPDX-License-Identifier: MIT OR Apache-2.0
//! Everything about every placement at one size.

use huepage::units::Bytes;

use huepage_present::{
    number::{figure, percent},
    table::Table,
};

use super::matrix::{share_of_cache, short};
use crate::bench::{
    BenchReport, Placement,
    report::Row,
    suite::{CLAIMED_EIGHTHS, eighths_of},
};

/// The sizes that get tables of their own: if there are many, those about which claims
/// are made.
pub fn sizes_worth_detail(report: &BenchReport, sizes: &[Bytes]) -> Vec<Bytes> {
    if sizes.len() <= 3 {
        return sizes.to_vec();
    }
    let claims = CLAIMED_EIGHTHS.map(|eighths| eighths_of(report.cache, eighths));
    sizes.iter().copied().filter(|bytes| claims.contains(bytes)).collect()
}

/// The tables of one workload at one size: speeds, and ratios below them.
pub fn detail(report: &BenchReport, bench: &str, bytes: Bytes) -> String {
    let rows: Vec<&Row> = report
        .placements()
        .into_iter()
        .filter_map(|placement| report.row(bench, bytes, placement))
        .collect();
    let Some(unit) = rows.first().map(|row| row.unit) else { return String::new() };
    let share = share_of_cache(bytes, report.cache.size());
    let of = if share.contains('/') { "of" } else { "times" };
    format!(
        "{bench}: {bytes}, {share} {of} the cache, {unit}\n{}\n{}",
        speeds(&rows),
        ratios(&rows)
    )
}

fn speeds(rows: &[&Row]) -> String {
    let head =
        ["placed", "quiet", "95 % interval", "between", "95 %", "in time", "median", "p95", "odd"];
    let mut table = Table::new(head);
    for row in rows {
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        table.row([
            short(row.placement),
            or_dash(row.quiet.map(|quiet| figure(quiet.median))),
            or_dash(row.quiet.map(|q| format!("{} {}", figure(q.low), figure(q.high)))),
            or_dash(row.between.map(|between| percent(between.spread))),
            or_dash(row.between.map(|b| format!("{:.0}-{:.0}", 100.0 * b.low, 100.0 * b.high))),
            or_dash(row.over_time.map(|time| percent(time.spread))),
            or_dash(row.whole.map(|whole| figure(whole.median))),
            or_dash(row.whole.map(|whole| figure(whole.p95))),
            or_dash(row.imbalance.map(percent)),
        ]);
    }
    table.render()
}

fn ratios(rows: &[&Row]) -> String {
    let ran = |to: &Placement| rows.iter().any(|row| row.ratio_to(*to).is_some());
    let baselines: Vec<Placement> = Placement::COMPARED.into_iter().filter(ran).collect();
    if baselines.is_empty() {
        return String::new();
    }
    let head = baselines.iter().map(|to| format!("x {to}"));
    let mut table = Table::wide(&["times as fast"], head);
    for row in rows {
        let ratio = |to: &Placement| match row.ratio_to(*to) {
            // From ten on, two significant digits are enough.
            Some(r) if r.high >= 9.95 => format!("{:.1} {:.1}-{:.1}", r.value, r.low, r.high),
            Some(r) => format!("{:.2} {:.2}-{:.2}", r.value, r.low, r.high),
            None => "-".to_owned(),
        };
        table.wide_row([short(row.placement)], baselines.iter().map(ratio));
    }
    table.render()
}
