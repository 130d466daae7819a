// SPDX-License-Identifier: MIT OR Apache-2.0
//! `zero-pages` as tables and words.

use crate::results::{Results, Row, Table, thousands};

/// What the figures mean.
pub(super) const REMARKS: &str = "\
All counts are exact, of real kernels under a modelled 8-way L1 of 32 KiB (LRU) and an 8-way L2 \
of 256 KiB (LRU or random replacement), lines of 64 bytes. In the regions counted the program \
accesses nothing but what it reads, so `kernel's accesses` are those of timer ticks; they account \
for the misses beyond the multiples of the rounds.

The source's second program is described in words only. Here a round is 8 hot frames, one way of \
L2 apart, and then the next page of the area of zeros; with 8 pages of zeros to a round instead, \
colored zero pages gain nothing and cost more.

The kernel's zero page has one color. Only hot frames of that very color fight with it (`same`); \
those of the other 7 colors never do (`other`). Colored zero pages fight with every color, an \
eighth of the time: with LRU, that is the average over the colors of what one zero page does, so \
they end the worst case and not the cost. And they take more room: whole pages of zeros that are \
read line by line stay in L1 if they are one page, and do not if they are eight (`scan`).

The stock kernel has one zero page. The rows `control` are not the kernel's doing: the program \
maps 8 frames of zeros of its own, one of each color of L2, in the order of virtual pages, as \
the source's patches do inside the kernel.

Times are modelled: an instruction costs a cycle, a hit or miss its latency, and nothing \
overlaps, so ratios of cycles overstate what a core that reorders would feel. The source's L2 was \
measured on a machine whose replacement is not stated; LRU is the worst case of a cyclic \
pattern, random replacement the mild one. Left out: TLBs, page walks, prefetchers, instruction \
fetches (a real L2 holds those too), memory controllers.";

/// A metric as a table has it.
fn cell(row: &Row, name: &str, decimals: usize) -> String {
    match row.metric(name) {
        Some(value) if decimals == 0 => thousands(value),
        Some(value) => format!("{value:.decimals$}"),
        None => "–".into(),
    }
}

pub(super) fn tables(results: &Results) -> Vec<(String, Table)> {
    let mut frames = Table::new([
        "arch",
        "frames",
        "rounds",
        "L1 misses",
        "a round",
        "L2 misses",
        "kernel's accesses",
        "modelled cycles a round",
    ]);
    // L1 is the same whatever L2 does.
    let first = results.values("l2_replacement").remove(0);
    for row in
        results.with(&[("table", "frames")]).filter(|row| row.setting("l2_replacement") == first)
    {
        frames.row([
            row.setting("arch"),
            row.setting("frames"),
            cell(row, "rounds", 0),
            cell(row, "l1_misses", 0),
            cell(row, "l1_misses_per_round", 3),
            cell(row, "l2_misses", 0),
            cell(row, "other_accesses", 0),
            cell(row, "modelled_cycles_per_round", 1),
        ]);
    }
    let mut thrash = Table::new([
        "arch",
        "L2",
        "zeros",
        "hot frames",
        "pages of zeros",
        "read a round",
        "L2 misses",
        "a round",
        "L1 misses a round",
        "kernel's accesses",
        "modelled cycles a round",
    ]);
    for row in results.with(&[("table", "thrash")]) {
        thrash.row([
            row.setting("arch"),
            row.setting("l2_replacement"),
            row.setting("backing"),
            row.setting("hot"),
            cell(row, "zero_frames", 0),
            row.setting("zero_reads"),
            cell(row, "l2_misses", 0),
            cell(row, "l2_misses_per_round", 3),
            cell(row, "l1_misses_per_round", 3),
            cell(row, "other_accesses", 0),
            cell(row, "modelled_cycles_per_round", 1),
        ]);
    }
    let mut scan = Table::new([
        "arch",
        "L2",
        "zeros",
        "pages of zeros",
        "rounds",
        "L1 misses",
        "a round",
        "L2 misses",
        "kernel's accesses",
        "modelled cycles a round",
    ]);
    for row in results.with(&[("table", "scan")]) {
        scan.row([
            row.setting("arch"),
            row.setting("l2_replacement"),
            row.setting("backing"),
            cell(row, "zero_frames", 0),
            cell(row, "rounds", 0),
            cell(row, "l1_misses", 0),
            cell(row, "l1_misses_per_round", 3),
            cell(row, "l2_misses", 0),
            cell(row, "other_accesses", 0),
            cell(row, "modelled_cycles_per_round", 1),
        ]);
    }
    vec![
        ("frames: 4 bytes at the same offset of contiguous frames".into(), frames),
        ("thrash: 8 hot frames of one color and an area of zeros".into(), thrash),
        ("scan: 16 KiB of own data and whole pages of zeros".into(), scan),
    ]
}

/// Modelled time of one row against another, as a change in percent.
fn change(to: Option<&Row>, from: Option<&Row>) -> String {
    let cycles = |row: Option<&Row>| row?.metric("modelled_cycles_per_round");
    match (cycles(to), cycles(from)) {
        (Some(to), Some(from)) => format!("{:+.1} %", 100.0 * (to / from - 1.0)),
        _ => "–".into(),
    }
}

pub(super) fn against_source(results: &Results) -> (String, Table) {
    let archs = results.values("arch");
    let head = ["figure".to_owned(), "source: measured on arm64, 2020".to_owned()];
    let ours = archs.iter().map(|arch| format!("{arch}, modelled"));
    let mut table = Table::new(head.into_iter().chain(ours));
    let mut add = |figure: &str, source: &str, ours: &dyn Fn(&str) -> String| {
        let cells = [figure.to_owned(), source.to_owned()];
        table.row(cells.into_iter().chain(archs.iter().map(|arch| ours(arch))));
    };
    let frames = |arch: &str, frames: &str| {
        results.find(&[("arch", arch), ("table", "frames"), ("frames", frames)])
    };
    let scaled = |row: Option<&Row>| {
        let count = |row: &Row| Some(row.metric("l1_misses")? * row.metric("times_source_rounds")?);
        row.and_then(count).map_or("–".into(), thousands)
    };
    add("N=8, L1 misses in a million rounds", "43,429", &|arch| scaled(frames(arch, "8")));
    add("N=9, L1 misses in a million rounds", "9,038,460", &|arch| scaled(frames(arch, "9")));
    add("N=9, time against N=8", "+141.4 % (0.299 s, 0.722 s)", &|arch| {
        change(frames(arch, "9"), frames(arch, "8"))
    });
    for replacement in results.values("l2_replacement") {
        let row = |arch: &str, backing: &str, hot: &str| {
            let settings = [
                ("arch", arch),
                ("table", "thrash"),
                ("l2_replacement", &replacement),
                ("backing", backing),
                ("hot", hot),
                ("zero_reads", "1"),
            ];
            results.find(&settings)
        };
        let figure =
            format!("8 colored zero pages, time against one of the hot color, L2 {replacement}");
        add(&figure, "-19.2 % (2.60 s, 2.10 s)", &|arch| {
            change(row(arch, "control", "same"), row(arch, "kernel", "same"))
        });
        let figure = format!("the same against one of another color, L2 {replacement}");
        add(&figure, "–", &|arch| {
            change(row(arch, "control", "same"), row(arch, "kernel", "other"))
        });
    }
    let scales: Vec<String> = SCALED
        .iter()
        .filter_map(|name| results.find(&[("table", name)]))
        .filter_map(|row| {
            let factor = row.metric("times_source_rounds")?;
            Some(format!("{} ×{factor}", row.setting("table")))
        })
        .collect();
    (format!("Against the source (counts scaled to its rounds: {})", scales.join(", ")), table)
}

/// Tables of which the source states the number of rounds.
const SCALED: [&str; 2] = ["frames", "thrash"];
