// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables, and what they mean.

use super::pairs::{Group, Pair};
use crate::results::{Results, Row, Table};

fn both(pair: &Pair<'_>, name: &str, show: impl Fn(f64) -> String) -> String {
    let text = |row: &Row| row.metric(name).map_or("–".to_owned(), &show);
    format!("{} → {}", text(pair.fresh), text(pair.aged))
}

fn percent(share: f64) -> String {
    let text = format!("{:.1} %", 100.0 * share);
    if !share.is_finite() { "–".into() } else { text.replace("-0.0 %", "0.0 %") }
}

fn whole(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn tenths(value: f64) -> String {
    format!("{value:.1}")
}

fn hundredths(value: f64) -> String {
    format!("{value:.2}")
}

pub(super) fn tables(results: &Results) -> Vec<(String, Table)> {
    let mut tables = Vec::new();
    for group in Group::all(results) {
        let pairs = group.pairs(results, "cached");
        if pairs.is_empty() {
            continue;
        }
        let heading = format!("{}: requests through the page cache, fresh → aged", group.name());
        tables.push((heading, requests(&pairs)));
        let heading = format!("{}: frames of the page cache, fresh → aged", group.name());
        tables.push((heading, frames(&pairs)));
        let heading = format!("{}: direct reads as control, fresh → aged", group.name());
        tables.push((heading, direct(&group, results)));
    }
    tables.extend(against_stock(results));
    tables.push(("Limits, and what the controller's time is made of".into(), limits(results)));
    tables
}

/// What coloring does to merging; nothing if there is no coloring.
fn against_stock(results: &Results) -> Option<(String, Table)> {
    let mut table = Table::new([
        "policy, to stock",
        "readers",
        "requests, fresh",
        "requests, aged",
        "segments, fresh",
        "segments, aged",
        "spread of repeats",
    ]);
    let mut any = false;
    for group in Group::all(results) {
        let Some(stock) = group.stock() else { continue };
        let all = stock.pairs(results, "cached");
        for pair in group.pairs(results, "cached") {
            let Some(stock) = all.iter().find(|stock| stock.readers == pair.readers) else {
                continue;
            };
            let change = |here: &Row, there: &Row, name: &str| {
                let ratio = here.metric(name).zip(there.metric(name)).map(|(h, t)| h / t - 1.0);
                ratio.map_or("–".into(), |ratio| format!("{:+.1} %", 100.0 * ratio))
            };
            let of_row = |row: &Row| row.metric("spread");
            let spreads = [pair.fresh, pair.aged, stock.fresh, stock.aged].map(of_row);
            table.row([
                group.name(),
                whole(pair.readers),
                change(pair.fresh, stock.fresh, "requests"),
                change(pair.aged, stock.aged, "requests"),
                change(pair.fresh, stock.fresh, "segments"),
                change(pair.aged, stock.aged, "segments"),
                percent(spreads.into_iter().flatten().fold(f64::NAN, f64::max)),
            ]);
            any = true;
        }
    }
    any.then(|| ("Coloring against stock: requests and segments (less is better)".into(), table))
}

fn requests(pairs: &[Pair<'_>]) -> Table {
    let mut table = Table::new([
        "readers",
        "requests per GiB",
        "KiB per request",
        "segments per request",
        "modelled MB/s",
        "lost (modelled)",
        "lost if only requests cost",
        "spread of repeats",
    ]);
    for pair in pairs {
        let spread = |row: &Row| row.metric("spread");
        let spreads = [spread(pair.fresh), spread(pair.aged)].into_iter().flatten();
        table.row([
            whole(pair.readers),
            both(pair, "requests_per_gib", whole),
            both(pair, "bytes_per_request", |bytes| tenths(bytes / 1024.0)),
            both(pair, "segments_per_request", hundredths),
            both(pair, "modelled_mbs", whole),
            percent(pair.loss()),
            percent(pair.loss_by_requests()),
            percent(spreads.fold(f64::NAN, f64::max)),
        ]);
    }
    table
}

fn frames(pairs: &[Pair<'_>]) -> Table {
    let mut table = Table::new([
        "readers",
        "pages per segment",
        "first quarter",
        "last quarter",
        "next page in next frame",
        "next page in frame before",
    ]);
    for pair in pairs {
        table.row([
            whole(pair.readers),
            both(pair, "pages_per_segment", hundredths),
            both(pair, "pages_per_segment_first", hundredths),
            both(pair, "pages_per_segment_last", hundredths),
            both(pair, "ascending_share", percent),
            both(pair, "descending_share", percent),
        ]);
    }
    table
}

fn direct(group: &Group, results: &Results) -> Table {
    let mut table = Table::new([
        "readers",
        "huge page: requests per GiB",
        "huge page: lost (modelled)",
        "4 KiB pages: requests per GiB",
        "4 KiB pages: lost (modelled)",
    ]);
    let pages = group.pairs(results, "direct");
    for (huge, pages) in group.pairs(results, "direct-huge").iter().zip(&pages) {
        table.row([
            whole(huge.readers),
            both(huge, "requests_per_gib", whole),
            percent(huge.loss()),
            both(pages, "requests_per_gib", whole),
            percent(pages.loss()),
        ]);
    }
    table
}

fn limits(results: &Results) -> Table {
    let mut table = Table::new(["what", "value"]);
    let Some(row) = results.rows.iter().find(|row| row.setting("mode") == "cached") else {
        return table;
    };
    let metric = |name: &str| row.metric(name).map_or("–".into(), |value| format!("{value}"));
    table.row(["segments of a request, at most".to_owned(), metric("max_segments")]);
    table.row(["bytes of a segment, at most".to_owned(), metric("max_segment_size")]);
    table.row(["KiB of a request, at most".to_owned(), metric("max_sectors_kb")]);
    table.row(["KiB read ahead".to_owned(), metric("read_ahead_kb")]);
    table.row(["µs for a request (assumed)".to_owned(), row.setting("request_us")]);
    table.row(["µs for a segment (assumed)".to_owned(), row.setting("segment_us")]);
    table.row(["MB/s of the link (assumed)".to_owned(), row.setting("link_mbs")]);
    table
}

pub(super) fn against_source(results: &Results) -> (String, Table) {
    let heading = "Against the source (2009; measured: two kernels on a machine with 256 MB. \
                   Here modelled: aged against fresh memory on one kernel)";
    let mut table = Table::new(["throughput lost", "source, measured", "here, modelled"]);
    let groups = Group::all(results);
    let Some(main) = groups.first() else { return (heading.into(), table) };
    let pairs = main.pairs(results, "cached");
    let name = main.name();
    let mean = |pairs: &[Pair<'_>], loss: fn(&Pair<'_>) -> f64| {
        percent(pairs.iter().map(loss).sum::<f64>() / pairs.len() as f64)
    };
    let sixteen = pairs.iter().find(|pair| pair.readers == 16.0);
    let of_sixteen =
        |loss: fn(&Pair<'_>) -> f64| sixteen.map_or("–".into(), |p| percent(loss(p)));
    table.row([format!("16 readers ({name})"), "76 %".into(), of_sixteen(|p| p.loss())]);
    let only = "16 readers, if only requests cost".to_owned();
    table.row([only, "–".into(), of_sixteen(|p| p.loss_by_requests())]);
    table.row([format!("mean of all ({name})"), "40 %".into(), mean(&pairs, |p| p.loss())]);
    let only = "mean of all, if only requests cost".to_owned();
    table.row([only, "–".into(), mean(&pairs, |p| p.loss_by_requests())]);
    for group in &groups[1..] {
        let more = group.policy == main.policy && group.arch == main.arch && group.fs == main.fs;
        let source = if more { "none" } else { "–" };
        let pairs = group.pairs(results, "cached");
        let what = format!("mean of all ({})", group.name());
        table.row([what, source.into(), mean(&pairs, |p| p.loss())]);
    }
    for (mode, what) in [("direct-huge", "into a huge page"), ("direct", "into 4 KiB pages")] {
        let pairs = main.pairs(results, mode);
        let what = format!("direct reads {what}, mean of all");
        table.row([what, "none".into(), mean(&pairs, |p| p.loss())]);
    }
    (heading.into(), table)
}

pub(super) const REMARKS: &str = "\
Requests, segments and bytes are exact counts of what the kernel asked of the disks, seen by \
the emulator and checked against the kernel's own counters in every phase. They vary \
between boots, as reads complete when the host lets them: the spread of repeated boots (of \
requests, largest less smallest, as a share of the mean) is shown, and differences smaller than \
it, such as most of those between numbers of readers, mean nothing. \
The readers share a stated amount of reading: the more readers, the shorter the file of each \
(the source: 2 GB per reader). It is more than the memory, so that the later part of each run \
reads into pages that reclaim has just freed: the first quarter shows what the allocator's free \
lists give, the last one what reclaim leaves. Aging is one day of the kind that the experiment `aging` has, with 60 % of \
free memory faulted and freed in random order, twice, of which one page of 16 stays.

The source compares a kernel that reversed frames with one that did not; here one kernel is \
compared with itself on fresh and on aged memory. A frame before the page's predecessor \
(descending) is what its report was about: controllers cannot merge it.

The controller's time is a straight line through three stated numbers, which are assumptions, \
not measurements: one controller for all disks serves one request after another. It knows no \
seeks, no queues, no caches of disks and no processor time; with a faster link or slower \
requests the loss tends to the column where only requests cost, with a slower link to none. \
Direct reads go into memory taken after aging: a huge page is contiguous however old memory is, \
4 KiB pages are not. The source's direct reads did not suffer, as its two kernels differed in \
refills for cold pages only. No cache, TLB or memory controller is modelled here, and none \
enters a count.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_told_apart() {
        assert_eq!(
            [0.0, 999.0, 1000.0, 1_234_567.4].map(whole),
            ["0", "999", "1,000", "1,234,567"]
        );
    }
}
