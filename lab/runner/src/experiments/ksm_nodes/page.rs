// SPDX-License-Identifier: MIT OR Apache-2.0
//! `ksm-nodes` as tables and pictures, and the source's figures beside ours.

use super::{COST, MERGE, OFFLINE, STRESS, SWITCH};
use crate::results::{
    Axis, Boots,
    Column::{self, Number, Of, Percent, Set, Text},
    Page, Panel, Plot, Results, Row, Series, Table, cell, distinct, percent, table_of,
};

/// What the source measured in guests on 2, 4 and 8 nodes, by
/// merge_across_nodes: standard deviation of access time in percent of the mean.
const SOURCE: [(&str, [(u32, f64); 3]); 2] =
    [("1", [(2, 1.4), (4, 1.6), (8, 1.7)]), ("0", [(2, 1.0), (4, 0.32), (8, 0.018)])];

/// The tables: heading, the rows by their event and by whether their kernel has
/// distances, and columns.
type Described = (&'static str, &'static str, Option<bool>, &'static [(&'static str, Column)]);

const TABLES: [Described; 6] = [
    (
        "Access times (modelled) and pages merged (counted)",
        MERGE,
        None,
        &[
            ("arch", Set("arch")),
            ("topology", Set("topology")),
            ("nodes", Set("nodes")),
            ("merged", Of(reach)),
            ("state", Set("state")),
            ("sd of workers, %", Number("access_time_sd_percent", 2)),
            ("sd of pages, %", Number("page_time_sd_percent", 2)),
            ("mean, ns", Number("access_time_mean", 1)),
            ("remote accesses, %", Percent("remote_share")),
            ("stray accesses", Text("stray_accesses")),
            ("shared", Text("pages_shared")),
            ("sharing", Text("pages_sharing")),
            ("pages saved, %", Percent("saved_share")),
            ("merged frames by node", Of(merged_by_node)),
        ],
    ),
    (
        "The knob switched with pages shared, and after unmerging (counted)",
        SWITCH,
        Some(false),
        &[
            ("arch", Set("arch")),
            ("nodes", Set("nodes")),
            ("bind", Set("bind")),
            ("from", Set("from")),
            ("to", Set("to")),
            ("while shared", Text("while_shared")),
            ("after unmerge", Text("after_unmerge")),
            ("pages on their node after unmerge, %", Percent("local_share_unmerged")),
            ("shared", Text("pages_shared")),
            ("sharing", Text("pages_sharing")),
            ("shared on a fresh boot", Text("fresh_pages_shared")),
            ("sharing on a fresh boot", Text("fresh_pages_sharing")),
            ("pages verified", Text("pages_verified")),
        ],
    ),
    (
        "The distance changed with pages shared (counted)",
        SWITCH,
        Some(true),
        &[
            ("arch", Set("arch")),
            ("topology", Set("topology")),
            ("nodes", Set("nodes")),
            ("from", Set("from")),
            ("to", Set("to")),
            ("strict", Text("strict")),
            ("otherwise", Text("while_shared")),
            ("pages to place", Text("unplaced_at_first")),
            ("mappings to split", Text("spanning_at_first")),
            ("split", Text("split")),
            ("folded", Text("folded")),
            ("shared", Text("pages_shared")),
            ("sharing", Text("pages_sharing")),
            ("shared on a fresh boot", Text("fresh_pages_shared")),
            ("sharing on a fresh boot", Text("fresh_pages_sharing")),
            ("pages on their node, %", Percent("local_share")),
            ("after unmerge, %", Percent("local_share_unmerged")),
            ("pages verified", Text("pages_verified")),
        ],
    ),
    (
        "Memory offline below merged pages (counted)",
        OFFLINE,
        None,
        &[
            ("arch", Set("arch")),
            ("topology", Set("topology")),
            ("nodes", Set("nodes")),
            ("merged", Of(reach)),
            ("blocks", Text("blocks_offlined")),
            ("merged frames on them", Text("merged_there")),
            ("shared before", Text("pages_shared_before")),
            ("shared after", Text("pages_shared")),
            ("excess copies", Text("excess_copies")),
            ("chains", Text("chains")),
            ("new pages shared", Text("new_shared")),
            ("new pages sharing", Text("new_sharing")),
            ("pages verified", Text("pages_verified")),
        ],
    ),
    (
        "What ksmd does for a page that it scans (counted)",
        COST,
        None,
        &[
            ("arch", Set("arch")),
            ("topology", Set("topology")),
            ("nodes", Set("nodes")),
            ("merged", Of(reach)),
            ("pages scanned", Text("scanned")),
            ("instructions a page", Number("instructions_per_page", 1)),
        ],
    ),
    (
        "Everything at once, and nothing wrong (counted)",
        STRESS,
        None,
        &[
            ("arch", Set("arch")),
            ("config", Set("config")),
            ("nodes", Set("nodes")),
            ("at first", Of(reach)),
            ("seconds", Text("seconds")),
            ("written", Text("written")),
            ("verified", Text("verified")),
            ("forks", Text("forks")),
            ("unmerged", Text("unmerged")),
            ("paged out", Text("paged_out")),
            ("offline", Text("offline")),
            ("split", Text("split")),
            ("folded", Text("folded")),
            ("moved", Text("moved")),
        ],
    ),
];

pub(super) fn page(results: &Results) -> Page {
    Page { source: against_source(results), tables: tables(results), plot: plot(results) }
}

fn tables(results: &Results) -> Vec<(String, Table)> {
    let table = |&(heading, event, ours, columns): &Described| {
        let is = |row: &&Row| !has_caches(row) && ours.is_none_or(|ours| is_ours(row) == ours);
        (heading.to_owned(), table_of(columns, rows(results, event).filter(is)))
    };
    let mut tables: Vec<_> = TABLES.iter().map(table).collect();
    tables.push(("With caches, over seeds (modelled)".to_owned(), with_caches(results)));
    tables.retain(|(_, table)| !table.is_empty());
    tables
}

/// Boots that differ only in their seed make a row.
fn with_caches(results: &Results) -> Table {
    let mut table = Table::new([
        "arch",
        "topology",
        "nodes",
        "merged",
        "state",
        "boots",
        "sd of workers, %",
        "95 % interval",
        "sd of pages, %",
        "mean, ns",
        "accesses to memory",
        "of these remote",
    ]);
    let of = |row: &Row| {
        let set = ["arch", "topology", "nodes"].map(|name| row.setting(name));
        [&set[..], &[reach(row), row.setting("state")]].concat()
    };
    let all: Vec<&Row> = rows(results, MERGE).filter(|row| has_caches(row)).collect();
    for group in distinct(all.iter().map(|row| of(row))) {
        let boots = Boots::of(all.iter().copied().filter(|row| of(row) == group));
        let text = |name: &str, digits| boots.text(name, |value| format!("{value:.digits$}"));
        let interval = boots.interval("access_time_sd_percent");
        let interval = cell(interval, |(low, high)| format!("{low:.2} to {high:.2}"));
        let figures = [
            boots.values("access_time_mean").len().to_string(),
            text("access_time_sd_percent", 2),
            interval,
            text("page_time_sd_percent", 2),
            text("access_time_mean", 1),
            boots.text("memory_share", percent),
            boots.text("remote_share", percent),
        ];
        table.row(group.into_iter().chain(figures));
    }
    table
}

fn rows<'a>(results: &'a Results, event: &'a str) -> impl Iterator<Item = &'a Row> {
    results.rows.iter().filter(move |row| row.setting("event") == event)
}

/// The settings given to the kernel.
fn reach(row: &Row) -> String {
    let kernel = if row.variant == "stock" { "stock, " } else { "" };
    match row.setting("merge_distance") {
        distance if !distance.is_empty() => format!("distance {distance}"),
        _ if row.setting("merge_across_nodes") == "1" => format!("everywhere ({kernel}1)"),
        _ => format!("within nodes ({kernel}0)"),
    }
}

fn merged_by_node(row: &Row) -> String {
    match row.setting("state").as_str() {
        "merged" => Text("merged_by_node").of(row),
        _ => "none".into(),
    }
}

fn is_ours(row: &Row) -> bool {
    row.settings.contains_key("merge_distance")
}

fn has_caches(row: &Row) -> bool {
    row.settings.contains_key("caches")
}

/// Different values of a setting, in order of appearance.
fn values(results: &Results, event: &str, name: &str) -> Vec<String> {
    let all = rows(results, event).map(|row| row.setting(name));
    distinct(all.filter(|value| !value.is_empty()))
}

/// Once merged, by number of nodes.
fn merged<'a>(
    results: &'a Results,
    arch: &'a str,
    across: &'a str,
    caches: bool,
) -> impl Iterator<Item = &'a Row> {
    rows(results, MERGE).filter(move |row| {
        row.setting("state") == "merged"
            && has_caches(row) == caches
            && row.setting("arch") == arch
            && row.setting("topology") == "hypercube"
            && row.setting("merge_across_nodes") == across
    })
}

fn against_source(results: &Results) -> (String, Table) {
    let mut table = Table::new(["merge_across_nodes", "figure", "2 nodes", "4 nodes", "8 nodes"]);
    for (across, figures) in SOURCE {
        let mut cells = vec![across.to_owned(), "source, KVM guests, measured".to_owned()];
        cells.extend(figures.iter().map(|(_, figure)| figure.to_string()));
        table.row(cells);
        for arch in values(results, MERGE, "arch") {
            for (name, words, caches) in [
                ("access_time_sd_percent", "of workers", false),
                ("page_time_sd_percent", "of pages", false),
                ("access_time_sd_percent", "of workers, with caches", true),
            ] {
                let figure = |(nodes, _): &(u32, f64)| {
                    let rows = merged(results, &arch, across, caches);
                    let boots = rows.filter(|row| row.setting("nodes") == nodes.to_string());
                    Boots::of(boots).text(name, |value| format!("{value:.2}"))
                };
                let cells: Vec<String> = figures.iter().map(figure).collect();
                if cells.iter().any(|cell| cell != "–") {
                    let what = format!("{words}, {arch}, modelled");
                    table.row([across.to_owned(), what].into_iter().chain(cells));
                }
            }
        }
    }
    ("Standard deviation of access time in percent of the mean, beside the source".into(), table)
}

/// Means over seeds, by number of nodes.
fn series(results: &Results, arch: &str, caches: bool) -> Vec<Series> {
    let line = |across: &String| {
        let point = |nodes: String| {
            let rows = merged(results, arch, across, caches);
            let boots = Boots::of(rows.filter(|row| row.setting("nodes") == nodes));
            Some((nodes.parse().ok()?, boots.mean("access_time_sd_percent")?))
        };
        let points = values(results, MERGE, "nodes").into_iter().filter_map(point).collect();
        Series::new(format!("merge_across_nodes={across}"), points)
    };
    let lines = values(results, MERGE, "merge_across_nodes");
    lines.iter().map(line).filter(|line| !line.points.is_empty()).collect()
}

/// Saved pages against access time: for each number of nodes a curve over the
/// distances, between stock's two settings.
fn saved_against_time(results: &Results, arch: &str, topology: &str) -> Panel {
    let of = |ours: bool, nodes: &str| {
        let is = |row: &&Row| {
            row.setting("state") == "merged"
                && row.setting("arch") == arch
                && row.setting("topology") == topology
                && row.setting("nodes") == nodes
                && is_ours(row) == ours
                && !has_caches(row)
        };
        let point =
            |row: &Row| Some((100.0 * row.metric("saved_share")?, row.metric("access_time_mean")?));
        let mut points: Vec<_> = rows(results, MERGE).filter(is).filter_map(point).collect();
        points.sort_by(|a, b| a.partial_cmp(b).expect("shares are numbers"));
        points
    };
    let mut series = Vec::new();
    for nodes in values(results, MERGE, "nodes") {
        for (ours, name) in [(true, "merge_distance"), (false, "stock's two ends")] {
            let points = of(ours, &nodes);
            if !points.is_empty() {
                let name = format!("{name}, {nodes} nodes");
                series.push(Series { name, points, reference: !ours });
            }
        }
    }
    let heading = format!("mean access time in ns, {topology}, {arch}");
    Panel::new(heading, "pages saved, %", Axis::Linear, series)
}

fn plot(results: &Results) -> Plot {
    let archs = values(results, MERGE, "arch");
    let mut panels = Vec::new();
    for (arch, caches) in archs.iter().flat_map(|arch| [(arch, false), (arch, true)]) {
        let mut lines = series(results, arch, caches);
        if lines.is_empty() {
            continue;
        }
        lines.extend(SOURCE.map(|(across, figures)| {
            // The legend has one gray line for both.
            let which = if across == "1" { "upper" } else { "lower" };
            let points = figures.map(|(nodes, figure)| (f64::from(nodes), figure)).to_vec();
            Series::reference(format!("source: {which}, ={across}"), points)
        }));
        let with = if caches { ", with caches" } else { "" };
        let heading = format!("access time of workers, {arch}{with}: sd in % of the mean");
        panels.push(Panel::new(heading, "nodes", Axis::Doublings, lines));
    }
    if let Some(arch) = archs.first() {
        let topologies = values(results, MERGE, "topology");
        let saved = topologies.iter().map(|topology| saved_against_time(results, arch, topology));
        panels.extend(saved.filter(|panel| !panel.series.is_empty()));
    }
    Plot {
        title: "KSM on several nodes".into(),
        caption: format!(
            "Modelled: every access to memory costs its distance. Pages merged: counted. Linux {}",
            results.kernel.version
        ),
        panels,
    }
}
