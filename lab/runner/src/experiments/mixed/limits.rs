// SPDX-License-Identifier: MIT OR Apache-2.0
//! The limits that page coloring should keep, and a table of them beside the results.

use anyhow::bail;

use super::figures::{Kind, fill, kinds, of, of_day};
use crate::results::{Figures, Results, Row, Table, cell, distinct, thousands};

/// A metric that no row of `on` may exceed.
struct Limit {
    metric: &'static str,
    /// `None`: every load that no earlier limit names.
    loads: Option<&'static [&'static str]>,
    /// Whether it is for programs that fit into the cache, or for those that do not.
    fits: bool,
    most: f64,
}

const LIMITS: [Limit; 5] = [
    Limit {
        metric: "conflict_within",
        loads: Some(&[
            "alone",
            "alone-random",
            "anon-churn",
            "file-churn",
            "forks",
            "half-huge",
            "refault",
            "processes-2",
            "processes-4",
            "copy-on-write",
            "tmpfs",
        ]),
        fits: true,
        most: 0.001,
    },
    Limit { metric: "conflict_within", loads: None, fits: true, most: 0.01 },
    Limit {
        metric: "conflict_across",
        loads: Some(&[
            "processes-2",
            "processes-4",
            "copy-on-write",
            "server",
            "huge-processes",
            "huge-beside-small",
            "mthp-behind",
            "turnover",
            "beside-shrunk",
            "at-rest",
            "lazy-free",
        ]),
        fits: true,
        most: 0.005,
    },
    Limit { metric: "conflict_across", loads: Some(&["processes-8"]), fits: true, most: 0.02 },
    Limit { metric: "spread", loads: None, fits: false, most: 2.0 },
];

/// A metric by which `on` may not be worse than the stock kernel, on any day and in the
/// mean over seeds.
struct Compared {
    metric: &'static str,
    /// Whether `on` must have at least stock's value, or at most.
    at_least: bool,
    show: fn(f64) -> String,
}

const COMPARED: [Compared; 4] = [
    Compared { metric: "free_in_largest", at_least: true, show: share },
    Compared { metric: "thp_success", at_least: true, show: share },
    Compared { metric: "thp_ns", at_least: false, show: thousands },
    Compared { metric: "compact_migrated", at_least: false, show: thousands },
];

fn share(value: f64) -> String {
    format!("{value:.4}")
}

/// The limit of a metric in a row, if there is one.
fn limit(row_load: &str, row_fill: f64, metric: &str) -> Option<f64> {
    let here = |limit: &&Limit| {
        limit.metric == metric
            && limit.fits == (row_fill <= 1.0)
            && limit.loads.is_none_or(|loads| loads.contains(&row_load))
    };
    LIMITS.iter().find(here).map(|limit| limit.most)
}

fn metrics() -> Vec<&'static str> {
    let mut metrics: Vec<_> = LIMITS.iter().map(|limit| limit.metric).collect();
    metrics.dedup();
    metrics
}

fn days(rows: &[Row]) -> Vec<(String, String, String)> {
    let on = rows.iter().filter(|row| row.setting("policy") == "on");
    distinct(on.map(|row| (row.setting("arch"), row.setting("cache"), row.setting("day"))))
}

/// `on` and stock on a day, and whether the limit is kept.
fn compared(
    rows: &[Row],
    (arch, cache, day): &(String, String, String),
    wanted: &Compared,
) -> Option<(Figures, Figures, bool)> {
    let here = |policy| of_day(rows, (arch, cache, policy), day, wanted.metric);
    let (on, stock) = (here("on")?, here("stock")?);
    let met = if wanted.at_least { on.mean >= stock.mean } else { on.mean <= stock.mean };
    Some((on, stock, met))
}

/// Whether all limits are kept.
pub(super) fn check(rows: &[Row]) -> anyhow::Result<()> {
    let mut missed = Vec::new();
    let on = || rows.iter().filter(|row| row.setting("policy") == "on");
    for metric in metrics() {
        for kind in kinds(on(), metric) {
            let of_kind = on().filter(|row| Kind::of(row) == kind);
            let worst = of_kind
                .filter_map(|row| Some((row, row.metric(metric)?)))
                .max_by(|(_, one), (_, other)| one.total_cmp(other));
            let Some((row, value)) = worst else { continue };
            let Some(most) = limit(&kind.load, fill(row), metric) else { continue };
            if value > most {
                let (seed, day) = (row.setting("seed"), row.setting("day"));
                let [arch, cache, name, fill] = kind.head();
                missed.push(format!(
                    "{metric} of {name} is {value} ({arch}, cache {cache}, fill {fill}, seed \
                     {seed}, day {day}), wanted at most {most}"
                ));
            }
        }
    }
    for day in days(rows) {
        for wanted in &COMPARED {
            if let Some((on, stock, false)) = compared(rows, &day, wanted) {
                let [on, stock] = [on.mean, stock.mean].map(wanted.show);
                missed.push(format!(
                    "{} is {on} on day {} ({}, cache {}), stock's {stock}",
                    wanted.metric, day.2, day.0, day.1
                ));
            }
        }
    }
    if !missed.is_empty() {
        bail!("with coloring on: {}", missed.join("; "));
    }
    Ok(())
}

fn met(met: bool) -> String {
    if met { "yes" } else { "no" }.to_owned()
}

/// The limits, beside the results of the stock kernel and of coloring.
pub(super) fn table(results: &Results) -> (String, Table) {
    let mut table = Table::new([
        "arch",
        "cache",
        "load",
        "fill",
        "metric",
        "stock, mean",
        "on, mean",
        "on, worst",
        "wanted",
        "met",
    ]);
    for metric in metrics() {
        for kind in kinds(results.rows.iter(), metric) {
            let Some(most) = limit(&kind.load, kind.fill.parse().unwrap_or(0.0), metric) else {
                continue;
            };
            let stock = of(results, &kind, "stock", metric);
            let on = of(results, &kind, "on", metric);
            let cell = |figure: Option<f64>| cell(figure, share);
            let more = [
                metric.to_owned(),
                cell(stock.map(|stock| stock.mean)),
                cell(on.map(|on| on.mean)),
                cell(on.map(|on| on.most)),
                format!("at most {most}"),
                on.map_or("–".into(), |on| met(on.most <= most)),
            ];
            table.wide_row(kind.head(), more);
        }
    }
    for day in days(&results.rows) {
        for wanted in &COMPARED {
            let Some((on, stock, kept)) = compared(&results.rows, &day, wanted) else { continue };
            let than = if wanted.at_least { "at least" } else { "at most" };
            table.row([
                day.0.clone(),
                day.1.clone(),
                format!("day {}", day.2),
                String::new(),
                wanted.metric.to_owned(),
                (wanted.show)(stock.mean),
                (wanted.show)(on.mean),
                (wanted.show)(if wanted.at_least { on.least } else { on.most }),
                format!("{than} stock's mean"),
                met(kept),
            ]);
        }
    }
    ("Against what is wanted of coloring (shares of pages; mean and worst of all seeds and days)".into(), table)
}
