// SPDX-License-Identifier: MIT OR Apache-2.0
//! `mixed` as tables and picture.

use super::{
    figures::{HEAD, Kind, fill, kinds, of, of_day},
    limits,
};
use crate::results::{Figures, Page, Panel, Plot, Results, Table, cell, distinct};

fn share(value: f64) -> String {
    format!("{:.2}", value * 100.0)
}

fn whole(value: f64) -> String {
    format!("{value:.0}")
}

fn percent_of_mean_and_least(figures: Figures) -> String {
    format!("{} ({})", share(figures.mean), share(figures.least))
}

/// Loads that run as several processes.
fn several(kind: &Kind) -> bool {
    [
        "processes",
        "copy-on-write",
        "server",
        "huge-processes",
        "huge-beside-small",
        "mthp-behind",
        "turnover",
        "beside-shrunk",
        "at-rest",
        "lazy-free",
    ]
    .iter()
    .any(|load| kind.load.starts_with(load))
}

fn fits(kind: &Kind) -> bool {
    kind.fill.parse::<f64>().is_ok_and(|fill| fill <= 1.0)
}

/// Loads of which some pages are larger ones.
fn has_larger(kind: &Kind) -> bool {
    [
        "half-huge",
        "thp-always",
        "thp-pieces",
        "late-huge",
        "late-mthp",
        "huge-threads",
        "huge-processes",
        "huge-beside-small",
        "turnover-huge",
        "lazy-free",
        "mthp",
        "mthp-behind",
        "collapse",
        "khugepaged",
    ]
    .contains(&&*kind.load)
}

/// A table by load: heading, metric, which loads, and how a figure is written.
type ByLoad = (&'static str, &'static str, fn(&Kind) -> bool, fn(f64) -> String);

const BY_LOAD: [ByLoad; 4] = [
    (
        "Pages in conflict within a process (%; mean of all seeds and days, and worst)",
        "conflict_within",
        fits,
        share,
    ),
    (
        "Pages in conflict across processes (%; mean of all seeds and days, and worst)",
        "conflict_across",
        several,
        share,
    ),
    (
        "Programs larger than the cache: most less fewest pages of a color (mean, and worst)",
        "spread",
        |kind| !fits(kind),
        whole,
    ),
    ("Pages in larger pages (%; mean, and most)", "huge_share", has_larger, share),
];

/// A table by day: heading, metric, and how the figures of a day are written.
type ByDay = (&'static str, &'static str, fn(Figures) -> String);

const BY_DAY: [ByDay; 4] = [
    (
        "Free memory in blocks of the largest order before a load, by day (%; mean, and least)",
        "free_in_largest",
        percent_of_mean_and_least,
    ),
    (
        "Faults of 2 MiB that got a huge page, by day (%; mean, and least)",
        "thp_success",
        percent_of_mean_and_least,
    ),
    (
        "Time of a fault that got a huge page, by day (µs of the guest's clock, 8 ns to an \
         instruction; mean, and most)",
        "thp_ns",
        |figures| format!("{:.0} ({:.0})", figures.mean / 1e3, figures.most / 1e3),
    ),
    (
        "Pages that the kernel moved while idle, by day (mean, and most)",
        "compact_migrated",
        |figures| format!("{:.0} ({:.0})", figures.mean, figures.most),
    ),
];

pub(super) fn page(results: &Results) -> Page {
    let by_load = BY_LOAD.iter().map(|table| (table.0.to_owned(), by_load(results, table)));
    let by_day = BY_DAY.iter().map(|table| (table.0.to_owned(), by_day(results, table)));
    let skipped = ("Skipped".to_owned(), skipped(results));
    let all = by_load.chain(by_day).chain([skipped]);
    Page {
        source: limits::table(results),
        tables: all.filter(|(_, table)| !table.is_empty()).collect(),
        plot: plot(results),
    }
}

fn by_load(results: &Results, &(_, metric, shown, number): &ByLoad) -> Table {
    let policies = results.values("policy");
    let columns = policies.iter().flat_map(|policy| [policy.clone(), format!("{policy}, worst")]);
    let mut table = Table::wide(&HEAD, columns);
    for kind in kinds(results.rows.iter(), metric).into_iter().filter(shown) {
        let cells = policies.iter().flat_map(|policy| {
            let figures = of(results, &kind, policy, metric);
            [figures.map(|f| f.mean), figures.map(|f| f.most)].map(|value| cell(value, number))
        });
        table.wide_row(kind.head(), cells);
    }
    table
}

fn by_day(results: &Results, &(_, metric, show): &ByDay) -> Table {
    let days = results.values("day");
    let head = days.iter().map(|day| format!("day {day}"));
    let mut table = Table::wide(&["arch", "cache", "policy"], head);
    for arch in results.values("arch") {
        for cache in results.values("cache") {
            for policy in results.values("policy") {
                let figures =
                    |day: &String| of_day(&results.rows, (&arch, &cache, &policy), day, metric);
                let cells: Vec<_> = days.iter().map(figures).collect();
                if cells.iter().any(Option::is_some) {
                    let cells = cells.into_iter().map(|figures| cell(figures, show));
                    table.wide_row([&arch, &cache, &policy], cells);
                }
            }
        }
    }
    table
}

/// Loads that a kernel could not run, each once with the reason.
fn skipped(results: &Results) -> Table {
    let mut table = Table::new(["arch", "policy", "load", "reason"]);
    let cells = results.rows.iter().filter_map(|row| {
        let reason = row.metrics.get("skipped")?.as_str()?.to_owned();
        Some([row.setting("arch"), row.setting("policy"), Kind::of(row).name(), reason])
    });
    distinct(cells).into_iter().for_each(|cells| table.row(cells));
    table
}

/// Names that fit below one panel.
const PER_PANEL: usize = 5;

/// Pages in conflict within a process by load, a few loads to a panel.
fn plot(results: &Results) -> Plot {
    let (arch, cache) = (results.first("arch"), results.first("cache"));
    // Seeds, days and CPUs of the neighbor together.
    let mean = |load: &str, policy: &str| {
        let set = [("arch", &*arch), ("cache", &*cache), ("load", load), ("policy", policy)];
        // The load refault runs with both fills.
        let rows = results.with(&set).filter(|row| fill(row) == 0.94);
        Figures::of(rows.filter_map(|row| row.metric("conflict_within")))
    };
    let policies = results.values("policy");
    let measured = |load: &String| policies.iter().any(|policy| mean(load, policy).is_some());
    let loads: Vec<String> = results.values("load").into_iter().filter(measured).collect();
    let heading = "pages in conflict within a process (%)";
    let panel = |names: &[String]| {
        let point = |policy: &str, x: usize| Some(mean(&names[x], policy)?.mean * 100.0);
        Panel::of_names(heading, "load, fill 0.94", names, &policies, point).up_to(100.0)
    };
    Plot {
        title: "Pages of a program that share a color while other things run".into(),
        caption: format!(
            "Linux {}, {arch}, direct-mapped cache of {cache}; mean of all seeds and days",
            results.kernel.version
        ),
        panels: loads.chunks(PER_PANEL).map(panel).collect(),
    }
}
