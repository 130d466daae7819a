// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables, and what they mean.

use super::pairs::{self, Group, Pair};
use crate::results::{Boots, Results, Table, percent, thousands};

fn hundredths(value: f64) -> String {
    format!("{value:.2}")
}

pub(super) fn tables(results: &Results) -> Vec<(String, Table)> {
    let groups = Group::all(results);
    let mut machines: Vec<String> = groups.iter().map(Group::machine).collect();
    machines.dedup();
    let mut tables = Vec::new();
    for machine in machines {
        let those: Vec<&Group> = groups.iter().filter(|group| group.machine() == machine).collect();
        let of = |mode: &str, head: &[&str], row: &dyn Fn(&Pair<'_>) -> Vec<String>| {
            let mut table = Table::new(["readers", "policy"].iter().chain(head).copied());
            for group in &those {
                for pair in group.pairs(results, mode) {
                    let first = [thousands(pair.readers), group.policy.clone()];
                    table.row(first.into_iter().chain(row(&pair)));
                }
            }
            table
        };
        let requests = of(
            "cached",
            &[
                "requests per GiB, fresh",
                "aged",
                "modelled MB/s, fresh",
                "aged",
                "lost by age",
                "if only requests cost",
            ],
            &|pair| {
                let both = [&pair.fresh, &pair.aged];
                let mut cells =
                    both.map(|boots| boots.text("requests_per_gib", thousands)).to_vec();
                cells.extend(both.map(|boots| boots.text("modelled_mbs", thousands)));
                cells.extend([percent(pair.loss()), percent(pair.loss_by_requests())]);
                cells
            },
        );
        let frames = of(
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
            &|pair| {
                let both = [&pair.fresh, &pair.aged];
                let mut cells =
                    both.map(|boots| boots.text("pages_per_segment", hundredths)).to_vec();
                cells.extend(both.map(|boots| boots.text("pages_per_segment_first", hundredths)));
                for name in ["ascending_share", "descending_share"] {
                    cells.extend(both.map(|boots| boots.mean(name).map_or("–".into(), percent)));
                }
                cells
            },
        );
        let direct = |mode| {
            of(mode, &["requests per GiB, fresh", "aged", "lost by age"], &|pair| {
                let both = [&pair.fresh, &pair.aged];
                let mut cells =
                    both.map(|boots| boots.text("requests_per_gib", thousands)).to_vec();
                cells.push(percent(pair.loss()));
                cells
            })
        };
        let mut add = |what: &str, table: Table| {
            if !table.is_empty() {
                tables.push((format!("{machine}: {what}"), table));
            }
        };
        add("requests through the page cache", requests);
        add("frames of the page cache", frames);
        add("direct reads into a huge page, as control", direct("direct-huge"));
        add("direct reads into pages of 4 KiB", direct("direct"));
    }
    tables.extend(against_stock(results));
    tables.push(("Limits, and what the controller's time is made of".into(), limits(results)));
    tables
}

/// What another order does to merging; nothing if there is none.
fn against_stock(results: &Results) -> Option<(String, Table)> {
    let mut table = Table::new([
        "boots",
        "readers",
        "requests, fresh",
        "requests, aged",
        "segments, fresh",
        "segments, aged",
        "spread of seeds",
    ]);
    for group in Group::all(results) {
        let Some(stock) = group.stock() else { continue };
        let all = stock.pairs(results, "cached");
        for pair in group.pairs(results, "cached") {
            let Some(stock) = all.iter().find(|stock| stock.readers == pair.readers) else {
                continue;
            };
            let change = |here: &Boots<'_>, there: &Boots<'_>, name: &str| {
                let ratio = here.mean(name).zip(there.mean(name)).map(|(h, t)| h / t - 1.0);
                ratio.map_or("–".into(), |ratio| format!("{:+.1} %", 100.0 * ratio))
            };
            let boots = [&pair.fresh, &pair.aged, &stock.fresh, &stock.aged];
            let spreads = boots.map(|boots| boots.mean("spread"));
            table.row([
                group.name(),
                thousands(pair.readers),
                change(&pair.fresh, &stock.fresh, "requests"),
                change(&pair.aged, &stock.aged, "requests"),
                change(&pair.fresh, &stock.fresh, "segments"),
                change(&pair.aged, &stock.aged, "segments"),
                percent(spreads.into_iter().flatten().fold(f64::NAN, f64::max)),
            ]);
        }
    }
    let heading = "Against stock: requests and segments (less is better)";
    (!table.is_empty()).then(|| (heading.into(), table))
}

fn limits(results: &Results) -> Table {
    let mut table = Table::new(["what", "value"]);
    let Some(row) = results.rows.iter().find(|row| row.setting("mode") == "cached") else {
        return table;
    };
    let metric = |name: &str| row.metric(name).map_or("–".into(), |value| format!("{value}"));
    table.row(["bytes of a segment, at most".to_owned(), metric("max_segment_size")]);
    table.row(["KiB of a request, at most".to_owned(), metric("max_sectors_kb")]);
    table.row(["µs for a request (assumed)".to_owned(), row.setting("request_us")]);
    table.row(["µs for a segment (assumed)".to_owned(), row.setting("segment_us")]);
    table.row(["MB/s of the link (assumed)".to_owned(), row.setting("link_mbs")]);
    table
}

pub(super) fn against_source(results: &Results) -> (String, Table) {
    let heading = "Against what was measured of reversed frames";
    let mut table = Table::new(["what", "measured", "here, fresh", "here, aged"]);
    let groups = Group::all(results);
    for stock in groups.iter().filter(|group| group.policy == "stock") {
        let reverse = Group { policy: "reverse".into(), ..stock.clone() };
        let all = reverse.pairs(results, "cached");
        for pair in stock.pairs(results, "cached") {
            let Some(reverse) = all.iter().find(|other| other.readers == pair.readers) else {
                continue;
            };
            let readers = thousands(pair.readers);
            let machine = stock.machine();
            // A page that follows its predecessor adds no segment.
            let merges = |boots: &Boots<'_>| {
                boots
                    .mean("pages_per_segment")
                    .map_or("–".into(), |pages| hundredths(pages - 1.0))
            };
            table.row([
                format!("merges for each segment, ascending ({machine}, {readers} readers)"),
                "24,007 / 19,513 = 1.23 (2004)".into(),
                merges(&pair.fresh),
                merges(&pair.aged),
            ]);
            table.row([
                format!("merges for each segment, reversed ({machine}, {readers} readers)"),
                "40 / 32,000 = 0.00 (2004)".into(),
                merges(&reverse.fresh),
                merges(&reverse.aged),
            ]);
            table.row([
                format!("throughput lost by reversed frames ({machine}, {readers} readers)"),
                "15 % (2009)".into(),
                percent(pairs::loss(&reverse.fresh, &pair.fresh)),
                percent(pairs::loss(&reverse.aged, &pair.aged)),
            ]);
        }
    }
    (heading.into(), table)
}

pub(super) const REMARKS: &str = "\
What the order of frames is worth to a device that merges what is contiguous in memory: \
`reverse` is the stock kernel with one change, that a refill of a CPU's list gives its frames \
in reverse, as Linux 2.6.24 to 2.6.30 did for pages of files (`lab/kernel`). The device of the \
report of 2009, a memory-mapped OneNAND on an OMAP2430, lost 15 % by that. The counts of 2004 \
are those of one test on an Adaptec controller before and after frames came in ascending order.

Requests, segments and bytes are exact counts of what the kernel asked of the disks, seen by \
the emulator and checked against the kernel's own counters in every phase. They vary \
between boots, as reads complete when the host lets them and aging follows the seed: shown is \
the mean of all seeds and, in parentheses, the least and the most. Differences smaller than \
that mean nothing. Each boot is a row of the JSON file. \
The readers share a stated amount of reading: the more readers, the shorter the file of each. \
It is more than the memory, so that the later part of each run \
reads into pages that reclaim has just freed: the first quarter shows what the allocator's free \
lists give, the whole also what reclaim leaves. Aging is one day of the kind that the experiment \
`aging` has, with 60 % of free memory faulted and freed in random order, twice, of which one \
page of 16 stays. Other file systems, memory, read-ahead and limits of segments are looked at \
one at a time.

The controller's time is a straight line through three stated numbers, which are assumptions, \
not measurements: one controller for all disks serves one request after another. It knows no \
seeks, no queues, no caches of disks and no processor time; with a faster link or slower \
requests the loss tends to the column where only requests cost, with a slower link to none. A \
limit of one segment is set by the driver of `lab/kernel`. \
Direct reads go into memory taken after aging: a huge page is contiguous however old memory is, \
4 KiB pages are not. No cache, TLB or memory controller is modelled here, and none \
enters a count.";
