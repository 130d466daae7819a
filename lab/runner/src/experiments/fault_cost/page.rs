// SPDX-License-Identifier: MIT OR Apache-2.0
//! `fault-cost` as tables and picture.

use super::{LIVES, WORKS, functions::beside};
use crate::results::{Page, Panel, Plot, Results, Row, Table, cell};

pub(super) fn page(results: &Results) -> Page {
    Page { source: against_source(results), tables: tables(results), plot: plot(results) }
}

fn row<'a>(results: &'a Results, arch: &str, policy: &str, work: &str) -> Option<&'a Row> {
    results.find(&[("arch", arch), ("policy", policy), ("work", work)])
}

fn beyond(row: Option<&Row>) -> Option<f64> {
    Some(100.0 * row?.metric("beyond_stock")?)
}

fn signed(percent: Option<f64>) -> String {
    cell(percent, |percent| format!("{percent:+.2} %"))
}

fn tables(results: &Results) -> Vec<(String, Table)> {
    let policies = results.values("policy");
    let colored = || policies.iter().filter(|policy| *policy != "stock");
    let mut counts = Table::wide(&["arch", "work"], &policies);
    let mut more = Table::wide(&["arch", "work"], colored());
    let mut lives = Table::wide(&["arch", "work"], colored());
    for arch in results.values("arch") {
        for (work, _) in WORKS {
            let of = |policy: &String| row(results, &arch, policy, work);
            // Older results do not have this work.
            if policies.iter().all(|policy| of(policy).is_none()) {
                continue;
            }
            let count = |policy: &String| {
                let number = |name| of(policy)?.metric(name);
                let mean = number("instructions_per_page");
                cell(mean.zip(number("least")).zip(number("most")), |((mean, least), most)| {
                    format!("{mean:.1} ({least:.1}–{most:.1})")
                })
            };
            counts.wide_row([&arch, work], policies.iter().map(count));
            more.wide_row([&arch, work], colored().map(|policy| signed(beyond(of(policy)))));
        }
        for works in LIVES {
            let beyond = |policy: &String| life_beyond(results, &arch, policy, works);
            if colored().any(|policy| beyond(policy).is_some()) {
                let cells = colored().map(|policy| signed(beyond(policy)));
                lives.wide_row([&arch, &works.join(", ")], cells);
            }
        }
    }
    let mut tables =
        vec![("Instructions per page: mean of rounds (least–most)".to_owned(), counts)];
    if colored().next().is_some() {
        tables.push(("Beyond the stock kernel".to_owned(), more));
        tables.push(("A page from taken to given back, beyond the stock kernel".to_owned(), lives));
    }
    let functions = functions(results);
    if !functions.is_empty() {
        let title =
            "Instructions per page by function, those that differ most from the stock kernel";
        tables.push((title.to_owned(), functions));
    }
    tables
}

/// Functions that are shown of each work.
const FUNCTIONS: usize = 12;

fn functions(results: &Results) -> Table {
    let mut table = Table::new(["arch", "work", "policy", "function", "stock", "here", "change"]);
    for arch in results.values("arch") {
        for (work, _) in WORKS {
            let Some(stock) = row(results, &arch, "stock", work) else { continue };
            for policy in results.values("policy").iter().filter(|policy| *policy != "stock") {
                let Some(here) = row(results, &arch, policy, work) else { continue };
                let beside = beside(stock, here).into_iter().take(FUNCTIONS);
                for (name, [stock, here]) in
                    beside.filter(|(_, [stock, here])| (here - stock).abs() >= 0.05)
                {
                    let change = format!("{:+.1}", here - stock);
                    let [stock, here] = [stock, here].map(|number| format!("{number:.1}"));
                    table.row([&arch, work, policy, &name, &stock, &here, &change]);
                }
            }
        }
    }
    table
}

/// Percent beyond stock, of two works together.
fn life_beyond(results: &Results, arch: &str, policy: &str, works: [&str; 2]) -> Option<f64> {
    let both = |policy| {
        let cost = |work| row(results, arch, policy, work)?.metric("instructions_per_page");
        Some(cost(works[0])? + cost(works[1])?)
    };
    Some(100.0 * (both(policy)? / both("stock")? - 1.0))
}

fn plot(results: &Results) -> Plot {
    let panel = |arch: &String| {
        Panel::of_names(
            format!("{arch}: instructions per page"),
            "work",
            &WORKS.map(|(work, _)| work.to_owned()),
            &results.values("policy"),
            |policy, x| row(results, arch, policy, WORKS[x].0)?.metric("instructions_per_page"),
        )
    };
    Plot {
        title: "fault-cost: instructions of the kernel per page".into(),
        caption: format!("Linux {} ({})", results.kernel.version, results.kernel.variant),
        panels: results.values("arch").iter().map(panel).collect(),
    }
}

/// The target, in percent beyond stock.
fn wanted(policy: &str, work: &str) -> f64 {
    match (policy, work) {
        ("off", _) => 0.1,
        (_, "free a file" | "forget a disk") => 0.0,
        (_, work) if work.starts_with("unmap") => 0.0,
        _ => 1.0,
    }
}

/// The sources give no count, so our target stands beside each figure.
fn against_source(results: &Results) -> (String, Table) {
    let mut table = Table::new(["kernel", "arch", "source", "wanted at most", "work", "here"]);
    for arch in results.values("arch") {
        for (policy, source) in [("off", "almost free when off; no change in lmbench"), ("on", "–")]
        {
            for (work, _) in WORKS {
                let Some(beyond) = beyond(row(results, &arch, policy, work)) else { continue };
                let wanted = wanted(policy, work);
                let missed = if beyond > wanted { ", more than wanted" } else { "" };
                let (wanted, here) = (format!("+{wanted} %"), format!("{beyond:+.2} %{missed}"));
                table.row([policy, &arch, source, &wanted, work, &here]);
            }
        }
    }
    ("Against the sources, and what is wanted (beyond stock)".into(), table)
}
