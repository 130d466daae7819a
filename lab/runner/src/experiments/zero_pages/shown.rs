// SPDX-License-Identifier: MIT OR Apache-2.0
//! `zero-pages` as tables and words.

use crate::results::{Results, Row, Table, thousands};

/// What the figures mean.
pub(super) const REMARKS: &str = "\
All counts are exact, of real kernels under a modelled hierarchy with lines of 64 bytes: where L2 \
is fought over, an L1 of 32 KiB and 8 ways (LRU) and an L2 of 256 KiB and 8 ways, so 8 colors; \
where L1 is, one of 32 KiB and 2 ways, so 4 colors. In the regions counted the program accesses \
nothing but what it reads, so `kernel's accesses` are those of timer ticks; they account for the \
misses beyond the multiples of the rounds.

`zeros` is `stock` for the stock kernel, which has one zero page, else what `zero_pages=` asks \
for. The rows `control` are not the kernel's doing: on the stock kernel the program maps frames of \
zeros of its own, one of each color, in the order of virtual pages.

**Fought over**: a round is as many hot frames of one color as the cache has ways, and then the \
next page, or pages, of an area of zeros. The hot color is each of them in turn: `worst` is where \
it is one that most zero pages have. One zero page fights with one color and with no other; \
several fight with more colors, less often. So they end the worst case and do not change the \
mean of an LRU; with random replacement the mean gets worse. Who cannot know which color is hot, \
and wants the same speed each time, takes as many as there are colors; who wants the best mean \
keeps one.

**A partition**: the neighbor's frames fill three quarters of the colors, and somebody who may use \
the last quarter reads an area of zeros. Mapped before he was given the set, the area has the zero \
pages of its addresses; within it, those of the set. Only the latter leave the neighbor alone. With \
fewer zero pages than colors the set may have none of its own, and then it gets a foreign one.

**What they cost**: whole pages of zeros that are read line by line stay in L1 if they are one \
page, and do not if they are eight (`scan`). Where own data fill the cache already it does not \
matter how many there are: each page of zeros that is read pushes out as much (`full`).

The source's L1 missed more with eight zero pages (4.48 and 5.33 times a round) \
while its time fell; here L1 misses as often with both, since hot frames of one color of L2 \
share their sets of L1 too, which eight ways and a zero page more than fill with LRU.

The source's second program is described in words only; its L2 was measured on a machine whose \
replacement is not stated: LRU is the worst case of a cyclic pattern, random replacement the mild \
one. Times are modelled: an instruction costs a cycle, a hit or miss its latency, and nothing \
overlaps, so ratios of cycles overstate what a core that reorders would feel. Left out: TLBs, page \
walks, prefetchers, instruction fetches (a real L2 holds those too), memory controllers.";

/// A metric as a table has it.
fn cell(row: &Row, name: &str, decimals: usize) -> String {
    match row.metric(name) {
        Some(value) if decimals == 0 => thousands(value),
        Some(value) => format!("{value:.decimals$}"),
        None => "–".into(),
    }
}

/// Misses a round of the cache that is fought over.
fn fought_misses(row: &Row) -> Option<f64> {
    match row.setting("fought").as_str() {
        "l1" => row.metric("l1_misses_per_round"),
        _ => row.metric("l2_misses_per_round"),
    }
}

/// The settings that tell boots apart, as cells.
const BOOT: [&str; 4] = ["arch", "fought", "replacement", "zeros"];

fn boot(row: &Row) -> Vec<String> {
    BOOT.iter().map(|name| row.setting(name)).collect()
}

fn with_boot(more: &[&str]) -> Table {
    Table::new(BOOT.iter().chain(more).copied())
}

/// Worst, mean and best over the hot colors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub worst: f64,
    pub mean: f64,
    pub best: f64,
}

impl Spread {
    fn of(values: &[f64]) -> Option<Self> {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (!values.is_empty()).then(|| Spread {
            worst: values.iter().copied().fold(f64::MIN, f64::max),
            mean,
            best: values.iter().copied().fold(f64::MAX, f64::min),
        })
    }
}

/// Over all hot colors, the misses a round of `thrash` under these settings.
pub(super) fn spread(results: &Results, settings: &[(&str, &str)]) -> Option<Spread> {
    let settings: Vec<_> = [("table", "thrash")].iter().chain(settings).copied().collect();
    let values: Vec<f64> = results.with(&settings).filter_map(fought_misses).collect();
    Spread::of(&values)
}

pub(super) fn tables(results: &Results) -> Vec<(String, Table)> {
    vec![
        (
            "Fought over: misses a round, over all colors the hot frames can have".into(),
            fought(results),
        ),
        ("A partition: the neighbor's misses a round".into(), partition(results)),
        ("scan: 16 KiB of own data and whole pages of zeros".into(), whole_pages(results, "scan")),
        (
            "full: own data that fill the cache, and whole pages of zeros".into(),
            whole_pages(results, "full"),
        ),
        ("frames: 4 bytes at the same offset of contiguous frames".into(), frames(results)),
    ]
}

fn fought(results: &Results) -> Table {
    let mut table = with_boot(&["backing", "zeros a round", "worst", "mean", "best"]);
    let mut last = Vec::new();
    for row in results.with(&[("table", "thrash")]) {
        let mut cells = boot(row);
        cells.extend([row.setting("backing"), row.setting("zero_reads")]);
        // Rows of one boot follow each other, but backings take turns.
        if last.contains(&cells) {
            continue;
        }
        last.push(cells.clone());
        let names = BOOT.iter().chain(&["backing", "zero_reads"]);
        let settings: Vec<(&str, &str)> =
            names.copied().zip(cells.iter().map(String::as_str)).collect();
        if let Some(Spread { worst, mean, best }) = spread(results, &settings) {
            cells.extend([worst, mean, best].map(|value| format!("{value:.3}")));
            table.row(cells);
        }
    }
    table
}

fn partition(results: &Results) -> Table {
    let mut table = with_boot(&["mapped", "zero pages met", "L1 misses", "L2 misses"]);
    for row in results.with(&[("table", "partition")]) {
        let mut cells = boot(row);
        cells.extend([
            row.setting("mapped"),
            cell(row, "zero_frames", 0),
            cell(row, "l1_misses_per_round", 2),
            cell(row, "l2_misses_per_round", 2),
        ]);
        table.row(cells);
    }
    table
}

fn whole_pages(results: &Results, name: &str) -> Table {
    let mut table = with_boot(&[
        "backing",
        "zero pages met",
        "L1 misses a round",
        "L2 misses a round",
        "modelled cycles a round",
    ]);
    for row in results.with(&[("table", name)]) {
        let mut cells = boot(row);
        cells.extend([
            row.setting("backing"),
            cell(row, "zero_frames", 0),
            cell(row, "l1_misses_per_round", 2),
            cell(row, "l2_misses_per_round", 2),
            cell(row, "modelled_cycles_per_round", 1),
        ]);
        table.row(cells);
    }
    table
}

fn frames(results: &Results) -> Table {
    let mut table = Table::new([
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
    let first = results.values("replacement").remove(0);
    for row in
        results.with(&[("table", "frames")]).filter(|row| row.setting("replacement") == first)
    {
        table.row([
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
    table
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
    for replacement in results.values("replacement") {
        let row = |arch: &str, zeros: &str, hot: &str| {
            results.find(&[
                ("arch", arch),
                ("table", "thrash"),
                ("fought", "l2"),
                ("replacement", &replacement),
                ("zeros", zeros),
                ("backing", "kernel"),
                ("hot", hot),
                ("zero_reads", "1"),
            ])
        };
        for (hot, which) in [("0", "the hot color"), ("1", "another color")] {
            let figure = format!(
                "zero_pages=8, time against stock with the zero page of {which}, L2 {replacement}"
            );
            let source = if hot == "0" { "-19.2 % (2.60 s, 2.10 s)" } else { "–" };
            add(&figure, source, &|arch| change(row(arch, "8", hot), row(arch, "stock", hot)));
        }
        let figure = format!("L1 misses a round, stock and zero_pages=8, L2 {replacement}");
        let misses = |row: Option<&Row>| {
            let count = row.and_then(|row| row.metric("l1_misses_per_round"));
            count.map_or("–".into(), |count| format!("{count:.2}"))
        };
        add(&figure, "4.48 and 5.33", &|arch| {
            ["stock", "8"].map(|zeros| misses(row(arch, zeros, "0"))).join(" and ")
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
