// SPDX-License-Identifier: MIT OR Apache-2.0
//! Median, percentiles, spread and ratio of every placement at one size.

use huepage::units::Bytes;

use super::{figure, matrix::share_of_cache, table::Table};
use crate::bench::{Report, findings::percent};

/// The sizes that get a table of their own: where there are many, those the
/// claims are about: half, seven eighths and all of the cache.
pub fn sizes_worth_detail(report: &Report, sizes: &[Bytes]) -> Vec<Bytes> {
    if sizes.len() <= 2 {
        return sizes.to_vec();
    }
    let claims = [4, 7, 8].map(|eighths| Bytes(report.cache.size().0 * eighths / 8));
    sizes.iter().copied().filter(|bytes| claims.contains(bytes)).collect()
}

/// The table of one workload at one size.
pub fn detail(report: &Report, bench: &str, bytes: Bytes) -> String {
    let placements = report.placements();
    let rows = || placements.iter().filter_map(|&p| report.row(bench, bytes, p));
    let Some(unit) = rows().next().map(|row| row.unit) else { return String::new() };
    let against = report.baseline().map_or(String::new(), |p| format!("x {p}"));
    let mut table = Table::new(["placement", "median", "mean", "p5", "p95", "spread", &against]);
    for row in rows() {
        let summary = row.summary();
        let figures = [summary.median, summary.mean, summary.p5, summary.p95];
        table.row(
            std::iter::once(row.placement.to_string())
                .chain(figures.map(figure))
                .chain([percent(summary.spread())])
                .chain([report.speedup(row).map_or("-".to_owned(), |s| format!("{s:.2}"))]),
        );
    }
    let share = share_of_cache(bytes, report.cache.size());
    let of = if share.contains('/') { "of" } else { "times" };
    format!("{bench}: {bytes}, {share} {of} the cache, {unit}\n{}", table.render())
}
