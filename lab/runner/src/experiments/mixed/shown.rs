// SPDX-License-Identifier: MIT OR Apache-2.0
//! `mixed` as tables and words.

use super::figures::{Figures, HEAD, Kind, kinds, of, of_day};
use crate::results::{Results, Table};

pub(super) const REMARKS: &str = "\
A page is in conflict *within* a process if another page of the same process has its color, and \
*across* if one of any process of the load has it; a frame that processes share is one page. \
Counts come from the frame numbers that the kernel shows when all pages are there; nothing is \
priced, and no cache is simulated. *fill* is the pages of the program, or of all processes of \
the load together, by the colors of a direct-mapped cache. Random placement would have 1 − \
e^(−fill) in conflict: 61 % at 0.94. Above fill 1 some pages always conflict; *spread* is the \
most pages of one process on a color less the fewest.

A load: `alone` touches pages in order, `alone-random` at random. Beside a neighbor that maps, \
touches and unmaps 1 to 48 pages (`anon-churn`), cuts and writes files in memory of 1 to 64 pages \
(`file-churn`), forks children that touch 40 pages (`forks`), reads a disk of which a quarter of \
memory stays in the page cache (`stream`), or compacts all of memory (`compaction`); the program \
gives way after every 16 pages, to a neighbor on its CPU or for as long to one on the other. \
`half-huge` and `mthp` have half of their pages in pages of 2 MiB and 64 KiB, in turn with small \
ones; `thp-always` has what `transparent_hugepage=always` gives; `collapse` makes a quarter \
into huge pages afterward, and with `khugepaged` the kernel does that by itself. In `offlining` \
(x86_64) the block of memory with the most of the program's pages goes offline. `refault` gives back half of its pages at random and touches them \
again, six times; `shrunk` was twice as large as the cache and kept an eighth before it took what \
it has now. `processes-2`, `-4` and `-8` run at once, the eight as large as 1, 2, 3, 5, 8, \
13, 21 and 34 parts; `copy-on-write` is a parent and a child that writes to all of its pages, \
`server` a parent whose four children write to a quarter each, `threads` one process of four \
threads. `tmpfs` is a file in memory, mapped; in `three-kinds` pages of a file in memory and of a \
disk come in turn with the anonymous ones, of which is told. `swap` writes all pages to a disk and \
touches them in random order, `ksm` has half of its pages merged and unmerged, `memcg` reads a \
disk in a group whose limit is an eighth above the program. `thp-faults` has no colors: it faults \
pages of 2 MiB until nine tenths of free memory are used, and most of their time is clearing them. `idle` is the time before the loads of a day in \
which the kernel compacts memory by itself.

A day is other work: six processes touch three quarters of memory in random order and free it in \
another one, and write 1,200 files of 1 to 12 pages, of which one in eight stays. The loads \
themselves age memory too. A disk answers when the host does. So two \
runs of a seed are the same only if none of `stream`, `three-kinds`, `swap` and `memcg` is among \
their loads; with one of them in it a boot is another draw each time.

A limit that is missed stands under *What failed*, with the worst row. `nodes-2` runs on a machine \
of its own, with two nodes that have half of the memory and a CPU each, alone and bound to one \
node and then to the other; `numa-balancing` has its pages on one node and goes on at the other \
one, to which the kernel moves them; those that it has not moved after half a minute, some 0.2 %, \
are not counted.";

fn share(value: f64) -> String {
    format!("{:.2}", value * 100.0)
}

fn whole(value: f64) -> String {
    format!("{value:.0}")
}

/// The tables with their headings.
pub(super) fn tables(results: &Results) -> Vec<(String, Table)> {
    let heading = "(%; mean of all seeds and days, and worst)";
    let several = |kind: &Kind| {
        kind.load.starts_with("processes") || ["copy-on-write", "server"].contains(&&*kind.load)
    };
    let fits = |kind: &Kind| kind.fill.parse::<f64>().is_ok_and(|fill| fill <= 1.0);
    let has_larger = |kind: &Kind| {
        ["half-huge", "thp-always", "mthp", "collapse", "khugepaged"].contains(&&*kind.load)
    };
    let shares = |figures: Figures| format!("{} ({})", share(figures.mean), share(figures.least));
    let microseconds =
        |figures: Figures| format!("{:.0} ({:.0})", figures.mean / 1e3, figures.most / 1e3);
    let pages = |figures: Figures| format!("{:.0} ({:.0})", figures.mean, figures.most);
    let mut tables = vec![
        (
            format!("Pages in conflict within a process {heading}"),
            by_load(results, "conflict_within", fits, share),
        ),
        (
            format!("Pages in conflict across processes {heading}"),
            by_load(results, "conflict_across", several, share),
        ),
        (
            "Programs larger than the cache: most less fewest pages of a color (mean, and worst)"
                .to_owned(),
            by_load(results, "spread", |kind| !fits(kind), whole),
        ),
        (
            "Pages in larger pages (%; mean, and most)".to_owned(),
            by_load(results, "huge_share", has_larger, share),
        ),
        (
            "Free memory in blocks of the largest order before a load, by day (%; mean, and least)"
                .to_owned(),
            by_day(results, "free_in_largest", shares),
        ),
        (
            "Faults of 2 MiB that got a huge page, by day (%; mean, and least)".to_owned(),
            by_day(results, "thp_success", shares),
        ),
        (
            "Time of a fault that got a huge page, by day (µs of the guest's clock, 8 ns to an \
             instruction; mean, and most)"
                .to_owned(),
            by_day(results, "thp_ns", microseconds),
        ),
        (
            "Pages that the kernel moved while idle, by day (mean, and most)".to_owned(),
            by_day(results, "compact_migrated", pages),
        ),
    ];
    tables.retain(|(_, table)| !table.is_empty());
    tables.extend(skipped(results));
    tables
}

fn by_load(
    results: &Results,
    metric: &str,
    shown: impl Fn(&Kind) -> bool,
    number: fn(f64) -> String,
) -> Table {
    let policies = results.values("policy");
    let columns = policies.iter().flat_map(|policy| [policy.clone(), format!("{policy}, worst")]);
    let mut table = Table::new(HEAD.map(str::to_owned).into_iter().chain(columns));
    for kind in kinds(results.rows.iter(), metric).into_iter().filter(shown) {
        let cells = policies.iter().flat_map(|policy| {
            let figures = of(results, &kind, policy, metric);
            let cell = |value: Option<f64>| value.map_or("–".into(), number);
            [cell(figures.map(|f| f.mean)), cell(figures.map(|f| f.most))]
        });
        table.row(kind.head().into_iter().chain(cells));
    }
    table
}

fn by_day(results: &Results, metric: &str, cell: impl Fn(Figures) -> String) -> Table {
    let days = results.values("day");
    let head = ["arch", "cache", "policy"].map(str::to_owned).into_iter();
    let mut table = Table::new(head.chain(days.iter().map(|day| format!("day {day}"))));
    for arch in results.values("arch") {
        for cache in results.values("cache") {
            for policy in results.values("policy") {
                let figures =
                    |day: &String| of_day(&results.rows, (&arch, &cache, &policy), day, metric);
                let cells: Vec<_> = days.iter().map(figures).collect();
                if cells.iter().any(Option::is_some) {
                    let head = [arch.clone(), cache.clone(), policy].into_iter();
                    let cells = cells.into_iter();
                    table.row(head.chain(cells.map(|c| c.map_or("–".into(), &cell))));
                }
            }
        }
    }
    table
}

/// Loads that a kernel could not do, each once with the reason.
fn skipped(results: &Results) -> Option<(String, Table)> {
    let mut table = Table::new(["arch", "policy", "load", "reason"]);
    let mut seen = Vec::new();
    for row in &results.rows {
        let Some(reason) = row.metrics.get("skipped").and_then(|reason| reason.as_str()) else {
            continue;
        };
        let name = Kind::of(row).name();
        let cells = [row.setting("arch"), row.setting("policy"), name, reason.to_owned()];
        if !seen.contains(&cells) {
            table.row(cells.clone());
            seen.push(cells);
        }
    }
    (!seen.is_empty()).then(|| ("Skipped".to_owned(), table))
}
