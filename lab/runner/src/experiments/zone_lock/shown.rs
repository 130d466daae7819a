// SPDX-License-Identifier: MIT OR Apache-2.0
//! `zone-lock` as tables, picture and words.

use super::WORKS;
use crate::results::{Axis, Panel, Plot, Results, Row, Series, Table};

pub(super) const REMARKS: &str = "\
Counted by the kernel's own statistics of locks (`CONFIG_LOCK_STAT`), of a kernel that has these \
and else is as the experiments'. Time is counted in instructions here, so what these statistics \
tell in nanoseconds is instructions: from when the lock is had to when it is given back, with a \
part of the statistics' own code in each hold, which is the same on all kernels. On arm64 the \
clock has steps of two instructions.

CPUs work one after the other: nobody waits for the lock, and what is shown is what others would \
have to wait for. How many CPUs there are decides how many pages the kernel keeps beside each. \
With several CPUs the emulator turns to another, idle one at times, though it be in the midst of \
a hold: sums are larger by some of that, and the longest hold is told of one CPU only.

`off` is the kernel with page coloring compiled in and not turned on.";

/// What is shown of a row: a metric, its heading, and how it is written.
const FIGURES: [(&str, &str, usize); 3] = [
    ("acquired_per_page", "Acquisitions of zone->lock per 1,000 pages", 1),
    ("held_per_page", "Instructions held per page", 1),
    ("longest", "The longest hold, in instructions", 0),
];

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

pub(super) fn tables(results: &Results) -> Vec<(String, Table)> {
    let policies = results.values("policy");
    let table = |(metric, heading, digits): (&str, &str, usize)| {
        let cpus = results.values("cpus");
        let columns = cpus.iter().flat_map(|cpus| {
            policies.iter().map(move |policy| format!("{policy}, {}", counted(cpus)))
        });
        let mut table = Table::new(["arch", "work"].map(str::to_owned).into_iter().chain(columns));
        for arch in results.values("arch") {
            for work in WORKS {
                let cells = cpus.iter().flat_map(|cpus| {
                    let (arch, policies) = (&arch, &policies);
                    policies.iter().map(move |policy| {
                        let found = row(results, arch, policy, cpus, work);
                        let found = found.and_then(|row| figure(row, metric));
                        found.map_or("–".into(), |value| format!("{value:.digits$}"))
                    })
                });
                table.row([arch.clone(), work.to_owned()].into_iter().chain(cells));
            }
        }
        (heading.to_owned(), table)
    };
    FIGURES.map(table).into()
}

pub(super) fn plot(results: &Results) -> Plot {
    let names: Vec<String> = WORKS.iter().map(|work| (*work).to_owned()).collect();
    let most = results.values("cpus").pop().unwrap_or_default();
    let panel = |arch: &String| Panel {
        heading: format!("{arch}, {}: instructions held per page", counted(&most)),
        x_label: "work".into(),
        x: Axis::Names(names.clone()),
        top: 0.0,
        series: results
            .values("policy")
            .iter()
            .map(|policy| Series {
                name: policy.clone(),
                points: WORKS
                    .iter()
                    .enumerate()
                    .filter_map(|(x, work)| {
                        let row = row(results, arch, policy, &most, work)?;
                        Some((x as f64, figure(row, "held_per_page")?))
                    })
                    .collect(),
                reference: false,
            })
            .collect(),
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

/// The sources give no count; wanted is at most what stock has.
pub(super) fn against_stock(results: &Results) -> (String, Table) {
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
                    let first = [arch.clone(), cpus.clone(), work.to_owned(), policy.clone()];
                    table.row(first.into_iter().chain(cells));
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
