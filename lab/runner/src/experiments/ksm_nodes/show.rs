// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables and pictures, and the source's figures beside ours.

use serde_json::Value;

use super::{COST, MERGE, OFFLINE, STRESS, SWITCH};
use crate::results::{Axis, Panel, Plot, Results, Row, Series, Table};

/// What the source measured in guests on 2, 4 and 8 nodes, by
/// merge_across_nodes: standard deviation of access time in percent of the mean.
const SOURCE: [(&str, [(u32, f64); 3]); 2] =
    [("1", [(2, 1.4), (4, 1.6), (8, 1.7)]), ("0", [(2, 1.0), (4, 0.32), (8, 0.018)])];

pub(super) const REMARKS: &str = "\
A worker is a process that runs on one node and has its memory there, as the \
source's guests were. It reads every line of its pages once. \"Of workers\" is the \
standard deviation of their mean access times: that is what compares with the \
source's access times of guests. \"Of pages\" is the standard deviation over all pages of \
all workers as those see them: what a program notices that uses some pages more \
than others.

The model has no caches: each access goes to memory and costs the latency of its \
distance. On a machine caches answer most accesses, so remote pages weigh less: \
compare which setting has the larger figure and how it grows with nodes, not its \
size. Timing noise, memory controllers, links that are shared, TLBs and prefetchers are \
left out as well: with merge_across_nodes=0 the modelled spread is what the \
placement leaves (and what interrupts touched meanwhile: stray accesses), whereas the source's figures in that row hold the noise of its \
machines. Page placement and all counts of KSM are those of the real kernel, and \
exact.

bind=process: the worker has the policy, as numactl --membind sets it. \
bind=memory: its memory has it, as mbind sets it. Unmerging copies pages on behalf of \
whoever writes to the knob `run`; here a process without a policy: on stock, copies come \
to the node on which it runs.

Distances of a hypercube and of a ring are 10 and 6 more for each edge between, those of \
two sockets 12 within and 21 between, as firmware tells of sub-NUMA clusters. Latency is \
in proportion to them.

The knob is refused while pages are shared (EBUSY), so stale trees of the other \
setting can only be left by what happens after unmerging: counts after a switch \
stand beside those of a fresh boot with that setting. A distance may be changed while \
pages are shared, unless strict is said: then the pages that wait for their tree and the \
mappings that have a page of another domain are those just after the change, and what \
was split and folded is what ksmd did until it found nothing more to do. The workers \
have a policy of the process there, and whoever unmerges has none.

Where memory goes offline, excess copies are frames beyond one for each content in each \
tree that has some (merge_across_nodes=1 has one tree, merge_across_nodes=0 one for \
each node, a distance one for each domain), after KSM found nothing more to merge. The \
memory that goes offline was plugged into the last node by virtio-mem, as memory present \
at boot never goes offline on arm64. Every page \
was read after each step and had its content: a wrong one ends the run as failed.";

fn rows<'a>(results: &'a Results, event: &'a str) -> impl Iterator<Item = &'a Row> {
    results.rows.iter().filter(move |row| row.setting("event") == event)
}

fn number(row: &Row, name: &str, digits: usize) -> String {
    row.metric(name).map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}"))
}

fn percent(row: &Row, name: &str) -> String {
    row.metric(name).map_or_else(|| "–".to_owned(), |share| format!("{:.1}", 100.0 * share))
}

/// Words as they are, lists with spaces.
fn text(row: &Row, name: &str) -> String {
    match row.metrics.get(name) {
        None => "–".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => {
            items.iter().map(Value::to_string).collect::<Vec<_>>().join(" ")
        }
        Some(value) => value.to_string(),
    }
}

/// What was said to the kernel.
fn reach(row: &Row) -> String {
    let kernel = if row.variant == "stock" { "stock, " } else { "" };
    match row.setting("merge_distance") {
        distance if !distance.is_empty() => format!("distance {distance}"),
        _ if row.setting("merge_across_nodes") == "1" => format!("everywhere ({kernel}1)"),
        _ => format!("within nodes ({kernel}0)"),
    }
}

fn is_ours(row: &Row) -> bool {
    row.settings.contains_key("merge_distance")
}

pub(super) fn tables(results: &Results) -> Vec<(String, Table)> {
    let tables = [
        ("Access times (modelled) and pages merged (counted)", merge_table(results)),
        ("The knob switched with pages shared, and after unmerging (counted)", switches(results)),
        ("The distance changed with pages shared (counted)", changes(results)),
        ("Memory offline below merged pages (counted)", offlines(results)),
        ("What ksmd does for a page that it scans (counted)", costs(results)),
        ("Everything at once, and nothing wrong (counted)", stresses(results)),
    ];
    let any = |event, ours: fn(&Row) -> bool| rows(results, event).any(ours);
    let shown = [
        any(MERGE, |_| true),
        any(SWITCH, |row| !is_ours(row)),
        any(SWITCH, is_ours),
        any(OFFLINE, |_| true),
        any(COST, |_| true),
        any(STRESS, |_| true),
    ];
    let kept = tables.into_iter().zip(shown).filter(|(_, shown)| *shown);
    kept.map(|((heading, table), _)| (heading.to_owned(), table)).collect()
}

fn merge_table(results: &Results) -> Table {
    let mut table = Table::new([
        "arch",
        "topology",
        "nodes",
        "merged",
        "state",
        "sd of workers, %",
        "sd of pages, %",
        "mean, ns",
        "remote accesses, %",
        "stray accesses",
        "shared",
        "sharing",
        "pages saved, %",
        "merged frames by node",
    ]);
    for row in rows(results, MERGE) {
        let merged = row.setting("state") == "merged";
        table.row([
            row.setting("arch"),
            row.setting("topology"),
            row.setting("nodes"),
            reach(row),
            row.setting("state"),
            number(row, "access_time_sd_percent", 2),
            number(row, "page_time_sd_percent", 2),
            number(row, "access_time_mean", 1),
            percent(row, "remote_share"),
            text(row, "stray_accesses"),
            text(row, "pages_shared"),
            text(row, "pages_sharing"),
            percent(row, "saved_share"),
            if merged { text(row, "merged_by_node") } else { "none".to_owned() },
        ]);
    }
    table
}

fn switches(results: &Results) -> Table {
    let mut table = Table::new([
        "arch",
        "nodes",
        "bind",
        "from",
        "to",
        "while shared",
        "after unmerge",
        "pages on their node after unmerge, %",
        "shared",
        "sharing",
        "shared on a fresh boot",
        "sharing on a fresh boot",
        "pages verified",
    ]);
    for row in rows(results, SWITCH).filter(|row| !is_ours(row)) {
        table.row([
            row.setting("arch"),
            row.setting("nodes"),
            row.setting("bind"),
            row.setting("from"),
            row.setting("to"),
            text(row, "while_shared"),
            text(row, "after_unmerge"),
            percent(row, "local_share_unmerged"),
            text(row, "pages_shared"),
            text(row, "pages_sharing"),
            text(row, "fresh_pages_shared"),
            text(row, "fresh_pages_sharing"),
            text(row, "pages_verified"),
        ]);
    }
    table
}

fn changes(results: &Results) -> Table {
    let mut table = Table::new([
        "arch",
        "topology",
        "nodes",
        "from",
        "to",
        "strict",
        "otherwise",
        "pages to place",
        "mappings to split",
        "split",
        "folded",
        "shared",
        "sharing",
        "shared on a fresh boot",
        "sharing on a fresh boot",
        "pages on their node, %",
        "after unmerge, %",
        "pages verified",
    ]);
    for row in rows(results, SWITCH).filter(|row| is_ours(row)) {
        table.row([
            row.setting("arch"),
            row.setting("topology"),
            row.setting("nodes"),
            row.setting("from"),
            row.setting("to"),
            text(row, "strict"),
            text(row, "while_shared"),
            text(row, "unplaced_at_first"),
            text(row, "spanning_at_first"),
            text(row, "split"),
            text(row, "folded"),
            text(row, "pages_shared"),
            text(row, "pages_sharing"),
            text(row, "fresh_pages_shared"),
            text(row, "fresh_pages_sharing"),
            percent(row, "local_share"),
            percent(row, "local_share_unmerged"),
            text(row, "pages_verified"),
        ]);
    }
    table
}

fn offlines(results: &Results) -> Table {
    let mut table = Table::new([
        "arch",
        "topology",
        "nodes",
        "merged",
        "blocks",
        "merged frames on them",
        "shared before",
        "shared after",
        "excess copies",
        "chains",
        "new pages shared",
        "new pages sharing",
        "pages verified",
    ]);
    for row in rows(results, OFFLINE) {
        table.row([
            row.setting("arch"),
            row.setting("topology"),
            row.setting("nodes"),
            reach(row),
            text(row, "blocks_offlined"),
            text(row, "merged_there"),
            text(row, "pages_shared_before"),
            text(row, "pages_shared"),
            text(row, "excess_copies"),
            text(row, "chains"),
            text(row, "new_shared"),
            text(row, "new_sharing"),
            text(row, "pages_verified"),
        ]);
    }
    table
}

fn costs(results: &Results) -> Table {
    let mut table =
        Table::new(["arch", "topology", "nodes", "merged", "pages scanned", "instructions a page"]);
    for row in rows(results, COST) {
        table.row([
            row.setting("arch"),
            row.setting("topology"),
            row.setting("nodes"),
            reach(row),
            text(row, "scanned"),
            number(row, "instructions_per_page", 1),
        ]);
    }
    table
}

fn stresses(results: &Results) -> Table {
    const COUNTED: [&str; 10] = [
        "seconds",
        "written",
        "verified",
        "forks",
        "unmerged",
        "paged_out",
        "offline",
        "split",
        "folded",
        "moved",
    ];
    let head = ["arch", "config", "nodes", "at first"].into_iter().chain(COUNTED);
    let mut table = Table::new(head.map(|name| name.replace('_', " ")));
    for row in rows(results, STRESS) {
        let first = ["arch", "config", "nodes"].map(|name| row.setting(name));
        let counts = COUNTED.map(|name| text(row, name));
        table.row(first.into_iter().chain([reach(row)]).chain(counts));
    }
    table
}

/// Different values of a setting, in order of appearance.
fn values(results: &Results, event: &str, name: &str) -> Vec<String> {
    let mut values: Vec<String> = Vec::new();
    for row in rows(results, event) {
        let value = row.setting(name);
        if !value.is_empty() && !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// Once merged, by number of nodes.
fn merged<'a>(
    results: &'a Results,
    arch: &'a str,
    across: &'a str,
) -> impl Iterator<Item = &'a Row> {
    rows(results, MERGE).filter(move |row| {
        row.setting("state") == "merged"
            && row.setting("arch") == arch
            && row.setting("topology") == "hypercube"
            && row.setting("merge_across_nodes") == across
    })
}

pub(super) fn against_source(results: &Results) -> (String, Table) {
    let mut table = Table::new(["merge_across_nodes", "figure", "2 nodes", "4 nodes", "8 nodes"]);
    for (across, figures) in SOURCE {
        let mut cells = vec![across.to_owned(), "source, KVM guests, measured".to_owned()];
        cells.extend(figures.iter().map(|(_, figure)| figure.to_string()));
        table.row(cells);
        for arch in values(results, MERGE, "arch") {
            for (name, words) in
                [("access_time_sd_percent", "of workers"), ("page_time_sd_percent", "of pages")]
            {
                let mut cells = vec![across.to_owned(), format!("{words}, {arch}, modelled")];
                cells.extend(figures.iter().map(|(nodes, _)| {
                    let row = merged(results, &arch, across)
                        .find(|row| row.setting("nodes") == nodes.to_string());
                    row.map_or_else(|| "–".to_owned(), |row| number(row, name, 2))
                }));
                table.row(cells);
            }
        }
    }
    ("Standard deviation of access time in percent of the mean, beside the source".into(), table)
}

fn series(results: &Results, arch: &str, metric: &str, scale: f64) -> Vec<Series> {
    let line = |across: &String| Series {
        name: format!("merge_across_nodes={across}"),
        points: merged(results, arch, across)
            .filter_map(|row| {
                Some((row.setting("nodes").parse().ok()?, scale * row.metric(metric)?))
            })
            .collect(),
        reference: false,
    };
    values(results, MERGE, "merge_across_nodes").iter().map(line).collect()
}

/// What merging saves against what it costs: for each number of nodes a curve over
/// the distances, between the two ends that stock has.
fn saved_against_time(results: &Results, arch: &str, topology: &str) -> Panel {
    let of = |ours: bool, nodes: &str| {
        let is = |row: &&Row| {
            row.setting("state") == "merged"
                && row.setting("arch") == arch
                && row.setting("topology") == topology
                && row.setting("nodes") == nodes
                && is_ours(row) == ours
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
                series.push(Series {
                    name: format!("{name}, {nodes} nodes"),
                    points,
                    reference: !ours,
                });
            }
        }
    }
    Panel {
        heading: format!("mean access time in ns, {topology}, {arch}"),
        x_label: "pages saved, %".into(),
        x: Axis::Linear,
        top: 0.0,
        series,
    }
}

pub(super) fn plot(results: &Results) -> Plot {
    let panel = |heading: String, series| Panel {
        heading,
        x_label: "nodes".into(),
        x: Axis::Doublings,
        top: 0.0,
        series,
    };
    let archs = values(results, MERGE, "arch");
    let mut panels = Vec::new();
    for arch in &archs {
        let mut lines = series(results, arch, "access_time_sd_percent", 1.0);
        lines.extend(SOURCE.map(|(across, figures)| Series {
            // The legend has one gray line for both.
            name: format!("source: {}, ={across}", if across == "1" { "upper" } else { "lower" }),
            points: figures.map(|(nodes, figure)| (f64::from(nodes), figure)).to_vec(),
            reference: true,
        }));
        let heading = format!("access time of workers, {arch}: sd in % of the mean");
        panels.push(panel(heading, lines));
    }
    if let Some(arch) = archs.first() {
        for topology in values(results, MERGE, "topology") {
            panels.push(saved_against_time(results, arch, &topology));
        }
    }
    Plot {
        title: "KSM on several nodes".into(),
        caption: format!(
            "Modelled: every access costs its distance. Pages merged: counted. Linux {}",
            results.kernel.version
        ),
        panels,
    }
}
