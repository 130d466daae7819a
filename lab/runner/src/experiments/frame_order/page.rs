// SPDX-License-Identifier: MIT OR Apache-2.0
//! `frame-order` as tables and picture.

use super::pairs::{self, Group, Pair};
use crate::results::{
    Axis, Boots, Page, Panel, Plot, Results, Series, Table, cell, change, distinct, percent,
    table_by, thousands,
};

fn hundredths(value: f64) -> String {
    format!("{value:.2}")
}

/// Figures of fresh boots and then of aged ones.
#[derive(Clone, Copy)]
enum Figure {
    /// Mean, least and most.
    Range(&'static str, fn(f64) -> String),
    /// The mean, a share.
    Share(&'static str),
    /// The loss by age: one figure for both.
    Lost(fn(&Pair<'_>) -> f64),
}

impl Figure {
    fn cells(self, pair: &Pair<'_>) -> Vec<String> {
        let both = [&pair.fresh, &pair.aged];
        match self {
            Figure::Range(name, show) => both.map(|boots| boots.text(name, show)).to_vec(),
            Figure::Share(name) => both.map(|boots| cell(boots.mean(name), percent)).to_vec(),
            Figure::Lost(share) => vec![percent(share(pair))],
        }
    }
}

/// Tables of each machine: the subject, the mode of reading, the head and the figures.
const TABLES: [(&str, &str, &[&str], &[Figure]); 4] = [
    (
        "requests through the page cache",
        "cached",
        &[
            "requests per GiB, fresh",
            "aged",
            "modelled MB/s, fresh",
            "aged",
            "lost by age",
            "if only requests cost",
        ],
        &[
            Figure::Range("requests_per_gib", thousands),
            Figure::Range("modelled_mbs", thousands),
            Figure::Lost(|pair| pair.loss()),
            Figure::Lost(|pair| pair.loss_by_requests()),
        ],
    ),
    (
        "frames of the page cache",
        "cached",
        &[
            "pages per segment, fresh",
            "aged",
            "first quarter, fresh",
            "aged",
            "next page in next frame, fresh",
            "aged",
            "in frame before, fresh",
            "aged",
        ],
        &[
            Figure::Range("pages_per_segment", hundredths),
            Figure::Range("pages_per_segment_first", hundredths),
            Figure::Share("ascending_share"),
            Figure::Share("descending_share"),
        ],
    ),
    ("direct reads into a huge page, as control", "direct-huge", &DIRECT, &DIRECT_FIGURES),
    ("direct reads into pages of 4 KiB", "direct", &DIRECT, &DIRECT_FIGURES),
];

const DIRECT: [&str; 3] = ["requests per GiB, fresh", "aged", "lost by age"];
const DIRECT_FIGURES: [Figure; 2] =
    [Figure::Range("requests_per_gib", thousands), Figure::Lost(|pair| pair.loss())];

pub(super) fn page(results: &Results) -> Page {
    Page { source: against_source(results), tables: tables(results), plot: plot(results) }
}

fn tables(results: &Results) -> Vec<(String, Table)> {
    let groups = Group::all(results);
    let mut tables = Vec::new();
    for machine in distinct(groups.iter().map(Group::machine)) {
        for (what, mode, head, figures) in TABLES {
            let mut table = Table::wide(&["readers", "policy"], head.iter().copied());
            for group in groups.iter().filter(|group| group.machine() == machine) {
                for pair in group.pairs(results, mode) {
                    let cells = figures.iter().flat_map(|figure| figure.cells(&pair));
                    table.wide_row([thousands(pair.readers), group.policy.clone()], cells);
                }
            }
            if !table.is_empty() {
                tables.push((format!("{machine}: {what}"), table));
            }
        }
    }
    tables.extend(against_stock(results));
    tables.push(("Limits, and what the controller's time is made of".into(), limits(results)));
    tables
}

/// The effect of another order on merging; `None` if there is no other order.
fn against_stock(results: &Results) -> Option<(String, Table)> {
    let groups = Group::all(results);
    let pairs = groups.iter().filter(|group| group.policy != "stock").flat_map(|group| {
        let pairs = group.beside(&group.with_policy("stock"), results);
        pairs.into_iter().map(move |(pair, stock)| (group, pair, stock))
    });
    let change =
        |here: &Boots<'_>, there: &Boots<'_>, name: &str| change(here.mean(name), there.mean(name));
    let table = table_by::<(&Group, Pair, Pair)>(
        &[
            ("boots", &|(group, ..)| group.name()),
            ("readers", &|(_, pair, _)| thousands(pair.readers)),
            ("requests, fresh", &|(_, p, stock)| change(&p.fresh, &stock.fresh, "requests")),
            ("requests, aged", &|(_, p, stock)| change(&p.aged, &stock.aged, "requests")),
            ("segments, fresh", &|(_, p, stock)| change(&p.fresh, &stock.fresh, "segments")),
            ("segments, aged", &|(_, p, stock)| change(&p.aged, &stock.aged, "segments")),
            ("spread of seeds", &|(_, pair, stock)| {
                let boots = [&pair.fresh, &pair.aged, &stock.fresh, &stock.aged];
                let spreads = boots.into_iter().filter_map(|boots| boots.mean("spread"));
                percent(spreads.fold(f64::NAN, f64::max))
            }),
        ],
        pairs,
    );
    let heading = "Against stock: requests and segments (less is better)";
    (!table.is_empty()).then(|| (heading.into(), table))
}

fn limits(results: &Results) -> Table {
    let mut table = Table::new(["what", "value"]);
    let Some(row) = results.rows.iter().find(|row| row.setting("mode") == "cached") else {
        return table;
    };
    let metric = |name: &str| cell(row.metric(name), |value| value.to_string());
    for (what, value) in [
        ("bytes of a segment, at most", metric("max_segment_size")),
        ("KiB of a request, at most", metric("max_sectors_kb")),
        ("µs for a request (assumed)", row.setting("request_us")),
        ("µs for a segment (assumed)", row.setting("segment_us")),
        ("MB/s of the link (assumed)", row.setting("link_mbs")),
    ] {
        table.row([what, &value]);
    }
    table
}

fn against_source(results: &Results) -> (String, Table) {
    let heading = "Against what was measured of reversed frames";
    let mut table = Table::new(["what", "measured", "here, fresh", "here, aged"]);
    let groups = Group::all(results);
    for stock in groups.iter().filter(|group| group.policy == "stock") {
        for (pair, reverse) in stock.beside(&stock.with_policy("reverse"), results) {
            let at = format!("({}, {} readers)", stock.machine(), thousands(pair.readers));
            // A page that follows its predecessor adds no segment.
            let merges = |boots: &Boots<'_>| {
                cell(boots.mean("pages_per_segment"), |pages| hundredths(pages - 1.0))
            };
            let lost = |reversed, stock| percent(pairs::loss(reversed, stock));
            for (what, measured, fresh, aged) in [
                (
                    "merges for each segment, ascending",
                    "24,007 / 19,513 = 1.23 (2004)",
                    merges(&pair.fresh),
                    merges(&pair.aged),
                ),
                (
                    "merges for each segment, reversed",
                    "40 / 32,000 = 0.00 (2004)",
                    merges(&reverse.fresh),
                    merges(&reverse.aged),
                ),
                (
                    "throughput lost by reversed frames",
                    "15 % (2009)",
                    lost(&reverse.fresh, &pair.fresh),
                    lost(&reverse.aged, &pair.aged),
                ),
            ] {
                table.row([&format!("{what} {at}"), measured, &fresh, &aged]);
            }
        }
    }
    (heading.into(), table)
}

/// The metrics that are drawn, and whether reads past the page cache are drawn beside
/// them.
const METRICS: [(&str, &str, bool); 3] = [
    ("requests per GiB read", "requests_per_gib", true),
    ("pages per segment", "pages_per_segment", true),
    ("modelled throughput (MB/s)", "modelled_mbs", false),
];

/// Of the machine that has boots with all seeds.
fn plot(results: &Results) -> Plot {
    let mut groups = Group::all(results);
    let main = groups.first().map(Group::machine);
    groups.retain(|group| Some(group.machine()) == main);
    let panels = METRICS.map(|(heading, metric, direct)| {
        let mut series: Vec<Series> =
            groups.iter().flat_map(|group| fresh_and_aged(results, group, metric)).collect();
        if let Some(main) = groups.first().filter(|_| direct) {
            let points = points(&main.pairs(results, "direct-huge"), metric, |p| &p.aged);
            series.push(Series::reference("direct, huge page, aged", points));
        }
        Panel::new(heading, "parallel readers", Axis::Doublings, series)
    });
    Plot {
        title: "Order of frames: what a disk controller merges".into(),
        caption: format!(
            "Linux {}, {}; means of all seeds; counts exact; modelled: {} µs per \
             request, {} µs per segment, link of {} MB/s",
            results.kernel.version,
            main.unwrap_or_default(),
            results.first("request_us"),
            results.first("segment_us"),
            results.first("link_mbs")
        ),
        panels: panels.into(),
    }
}

/// Reads through the page cache.
fn fresh_and_aged(results: &Results, group: &Group, metric: &str) -> [Series; 2] {
    let pairs = group.pairs(results, "cached");
    let series = |age: &str, points| Series::new(format!("{}, {age}", group.policy), points);
    [
        series("fresh", points(&pairs, metric, |p| &p.fresh)),
        series("aged", points(&pairs, metric, |p| &p.aged)),
    ]
}

fn points<'a>(
    pairs: &[Pair<'a>],
    metric: &str,
    side: for<'p> fn(&'p Pair<'a>) -> &'p Boots<'a>,
) -> Vec<(f64, f64)> {
    pairs.iter().filter_map(|p| Some((p.readers, side(p).mean(metric)?))).collect()
}
