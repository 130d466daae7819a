// SPDX-License-Identifier: MIT OR Apache-2.0
//! `zone-lock` as tables and picture.

use super::WORKS;
use crate::results::{Page, Panel, Plot, Results, Row, Table, number};

/// The figures shown of a row: a metric, its heading, and its number of digits.
const FIGURES: [(&str, &str, usize); 3] = [
    ("acquired_per_page", "Acquisitions of zone->lock per 1,000 pages", 1),
    ("held_per_page", "Instructions held per page", 1),
    ("longest", "The longest hold, in instructions", 0),
];

pub(super) fn page(results: &Results) -> Page {
    Page {
        source: against_stock(results),
        tables: FIGURES.map(|figure| table(results, figure)).into(),
        plot: plot(results),
    }
}

fn row<'a>(
    results: &'a Results,
    arch: &str,
    policy: &str,
    cpus: &str,
    work: &str,
) -> Option<&'a Row> {
    results.find(&[("arch", arch), ("policy", policy), ("cpus", cpus), ("work", work)])
}

fn figure(row: &Row, metric: &str) -> Option<f64> {
    let value = row.metric(metric)?;
    Some(if metric == "acquired_per_page" { value * 1e3 } else { value })
}

fn table(results: &Results, (metric, heading, digits): (&str, &str, usize)) -> (String, Table) {
    let (all_cpus, policies) = (results.values("cpus"), results.values("policy"));
    let columns: Vec<(&str, &str)> = all_cpus
        .iter()
        .flat_map(|cpus| policies.iter().map(|policy| (cpus.as_str(), policy.as_str())))
        .collect();
    let head = columns.iter().map(|(cpus, policy)| format!("{policy}, {}", counted(cpus)));
    let mut table = Table::wide(&["arch", "work"], head);
    for arch in results.values("arch") {
        for work in WORKS {
            let cell = |&(cpus, policy): &(&str, &str)| {
                let row = row(results, &arch, policy, cpus, work);
                number(row.and_then(|row| figure(row, metric)), digits)
            };
            table.wide_row([&arch, work], columns.iter().map(cell));
        }
    }
    (heading.to_owned(), table)
}

fn plot(results: &Results) -> Plot {
    let most = results.values("cpus").pop().unwrap_or_default();
    let panel = |arch: &String| {
        Panel::of_names(
            format!("{arch}, {}: instructions held per page", counted(&most)),
            "work",
            &WORKS.map(str::to_owned),
            &results.values("policy"),
            |policy, x| figure(row(results, arch, policy, &most, WORKS[x])?, "held_per_page"),
        )
    };
    Plot {
        title: "zone-lock: instructions for which the lock is held".into(),
        caption: format!("Linux {} ({})", results.kernel.version, results.kernel.variant),
        panels: results.values("arch").iter().map(panel).collect(),
    }
}

fn counted(cpus: &str) -> String {
    format!("{cpus} CPU{}", if cpus == "1" { "" } else { "s" })
}

/// The sources give no count; the target is at most stock's.
fn against_stock(results: &Results) -> (String, Table) {
    let mut table =
        Table::new(["arch", "CPUs", "work", "kernel", "acquisitions", "held", "longest hold"]);
    for arch in results.values("arch") {
        for cpus in results.values("cpus") {
            for work in WORKS {
                let of = |policy: &str| row(results, &arch, policy, &cpus, work);
                let Some(stock) = of("stock") else { continue };
                for policy in results.values("policy").iter().filter(|policy| *policy != "stock") {
                    let Some(ours) = of(policy) else { continue };
                    let cells = FIGURES.map(|(metric, ..)| times(ours, stock, metric));
                    table.wide_row([&arch, &cpus, work, policy], cells);
                }
            }
        }
    }
    ("Against stock; wanted is at most 1.00 in each column".into(), table)
}

fn times(ours: &Row, stock: &Row, metric: &str) -> String {
    match (ours.metric(metric), stock.metric(metric)) {
        (Some(ours), Some(stock)) if stock > 0.0 => format!("{:.2}", ours / stock),
        (Some(0.0), Some(_)) => "1.00".into(),
        _ => "–".into(),
    }
}
