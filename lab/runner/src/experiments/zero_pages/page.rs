// SPDX-License-Identifier: MIT OR Apache-2.0
//! `zero-pages` as tables and picture.

use super::SOURCE_ROUNDS;
use crate::results::{
    Axis,
    Column::{self, Count, Number, Set},
    Figures, Page, Panel, Plot, Results, Row, Series, Table, cell, change, distinct, number,
    table_of, thousands,
};

/// The settings that distinguish boots.
const BOOT: [(&str, Column); 4] = [
    ("arch", Set("arch")),
    ("fought", Set("fought")),
    ("replacement", Set("replacement")),
    ("zeros", Set("zeros")),
];

/// A table: heading, the guest's table, and columns after those of the boot.
type Described = (&'static str, &'static str, &'static [(&'static str, Column)]);

/// The tables below that of the cache that is competed for.
const TABLES: [Described; 3] = [
    (
        "A partition: the neighbor's misses a round",
        "partition",
        &[
            ("mapped", Set("mapped")),
            ("zero pages met", Count("zero_frames")),
            ("L1 misses", Number("l1_misses_per_round", 2)),
            ("L2 misses", Number("l2_misses_per_round", 2)),
        ],
    ),
    ("scan: 16 KiB of own data and whole pages of zeros", "scan", &WHOLE_PAGES),
    ("full: own data that fill the cache, and whole pages of zeros", "full", &WHOLE_PAGES),
];

const WHOLE_PAGES: [(&str, Column); 5] = [
    ("backing", Set("backing")),
    ("zero pages met", Count("zero_frames")),
    ("L1 misses a round", Number("l1_misses_per_round", 2)),
    ("L2 misses a round", Number("l2_misses_per_round", 2)),
    ("modelled cycles a round", Number("modelled_cycles_per_round", 1)),
];

const FRAMES: [(&str, Column); 8] = [
    ("arch", Set("arch")),
    ("frames", Set("frames")),
    ("rounds", Count("rounds")),
    ("L1 misses", Count("l1_misses")),
    ("a round", Number("l1_misses_per_round", 3)),
    ("L2 misses", Count("l2_misses")),
    ("kernel's accesses", Count("other_accesses")),
    ("modelled cycles a round", Number("modelled_cycles_per_round", 1)),
];

/// Which figure of the hot colors is shown.
type Which = fn(&Figures) -> f64;

const WHICH: [(&str, Which); 3] = [
    ("worst color", |misses| misses.most),
    ("mean", |misses| misses.mean),
    ("best color", |misses| misses.least),
];

pub(super) fn page(results: &Results) -> Page {
    let mut tables = vec![(
        "Fought over: misses a round, over all colors the hot frames can have".into(),
        fought(results),
    )];
    for (heading, name, columns) in TABLES {
        let columns = [&BOOT, columns].concat();
        let table = table_of(&columns, results.with(&[("table", name)]));
        tables.push((heading.into(), table));
    }
    // L1 is the same for all replacements of L2.
    let first = results.first("replacement");
    let frames = table_of(&FRAMES, results.with(&[("table", "frames"), ("replacement", &first)]));
    tables.push(("frames: 4 bytes at the same offset of contiguous frames".into(), frames));
    Page { source: against_source(results), tables, plot: plot(results) }
}

/// Misses per round, of the cache that is competed for.
fn fought_misses(row: &Row) -> Option<f64> {
    match row.setting("fought").as_str() {
        "l1" => row.metric("l1_misses_per_round"),
        _ => row.metric("l2_misses_per_round"),
    }
}

/// The misses per round of `thrash` under these settings, for each hot color.
fn thrash(results: &Results, settings: &[(&str, &str)]) -> Option<Figures> {
    let settings = [&[("table", "thrash")], settings].concat();
    Figures::of(results.with(&settings).filter_map(fought_misses))
}

fn fought(results: &Results) -> Table {
    let names = ["arch", "fought", "replacement", "zeros", "backing", "zero_reads"];
    let head = ["arch", "fought", "replacement", "zeros", "backing", "zeros a round"];
    let mut table = Table::wide(&head, ["worst", "mean", "best"]);
    // Rows of one boot follow each other, but backings take turns.
    let rows = results.with(&[("table", "thrash")]);
    for cells in distinct(rows.map(|row| names.map(|name| row.setting(name)))) {
        let settings: Vec<_> = names.into_iter().zip(cells.iter().map(String::as_str)).collect();
        if let Some(misses) = thrash(results, &settings) {
            table.wide_row(&cells, WHICH.map(|(_, which)| number(Some(which(&misses)), 3)));
        }
    }
    table
}

/// Modelled time of one row relative to another.
fn slower(to: Option<&Row>, from: Option<&Row>) -> String {
    let cycles = |row: Option<&Row>| row?.metric("modelled_cycles_per_round");
    change(cycles(to), cycles(from))
}

fn against_source(results: &Results) -> (String, Table) {
    let archs = results.values("arch");
    let ours = archs.iter().map(|arch| format!("{arch}, modelled"));
    let mut table = Table::wide(&["figure", "source: measured on arm64, 2020"], ours);
    let mut add = |figure: &str, source: &str, ours: &dyn Fn(&str) -> String| {
        table.wide_row([figure, source], archs.iter().map(|arch| ours(arch)));
    };
    let frames = |arch: &str, frames: &str| {
        results.find(&[("arch", arch), ("table", "frames"), ("frames", frames)])
    };
    let scaled = |row: Option<&Row>| {
        let count = |row: &Row| Some(row.metric("l1_misses")? * row.metric("times_source_rounds")?);
        cell(row.and_then(count), thousands)
    };
    add("N=8, L1 misses in a million rounds", "43,429", &|arch| scaled(frames(arch, "8")));
    add("N=9, L1 misses in a million rounds", "9,038,460", &|arch| scaled(frames(arch, "9")));
    add("N=9, time against N=8", "+141.4 % (0.299 s, 0.722 s)", &|arch| {
        slower(frames(arch, "9"), frames(arch, "8"))
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
            add(&figure, source, &|arch| slower(row(arch, "8", hot), row(arch, "stock", hot)));
        }
        let figure = format!("L1 misses a round, stock and zero_pages=8, L2 {replacement}");
        let misses =
            |row: Option<&Row>| number(row.and_then(|row| row.metric("l1_misses_per_round")), 2);
        add(&figure, "4.48 and 5.33", &|arch| {
            ["stock", "8"].map(|zeros| misses(row(arch, zeros, "0"))).join(" and ")
        });
    }
    // Tables of which the source states the number of rounds.
    let scales: Vec<String> = SOURCE_ROUNDS
        .iter()
        .filter_map(|(name, _)| results.find(&[("table", name)]))
        .filter_map(|row| {
            let factor = row.metric("times_source_rounds")?;
            Some(format!("{} ×{factor}", row.setting("table")))
        })
        .collect();
    (format!("Against the source (counts scaled to its rounds: {})", scales.join(", ")), table)
}

fn plot(results: &Results) -> Plot {
    let archs = results.values("arch");
    let line = |arch: &String| {
        let point = |row: &Row| {
            Some((row.setting("frames").parse().ok()?, row.metric("l1_misses_per_round")?))
        };
        let rows = [("table", "frames"), ("arch", arch)];
        let mut points: Vec<(f64, f64)> = results.with(&rows).filter_map(point).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points.dedup_by(|a, b| a.0 == b.0);
        Series::new(format!("{arch}, L1 LRU"), points)
    };
    let mut frames: Vec<Series> = archs.iter().map(line).collect();
    let source = vec![(8.0, 0.043_429), (9.0, 9.038_46)];
    frames.push(Series::reference("source, measured (N = 8, 9)", source));
    let arch = archs.first().map_or("", String::as_str);
    let mut fought = Vec::new();
    for replacement in results.values("replacement") {
        fought.extend(WHICH.map(|(name, which)| {
            let point = |zeros: &String| {
                let settings = [
                    ("arch", arch),
                    ("fought", "l2"),
                    ("replacement", replacement.as_str()),
                    ("zeros", zeros),
                    ("backing", "kernel"),
                    ("zero_reads", "1"),
                ];
                Some((zeros.parse().ok()?, which(&thrash(results, &settings)?)))
            };
            let points = results.values("zeros").iter().filter_map(point).collect();
            Series::new(format!("{replacement}, {name}"), points)
        }));
    }
    Plot {
        title: "zero-pages: sets that fill up".into(),
        caption: format!(
            "Linux {} ({}), modelled 8-way L1 of 32 KiB and 8-way L2 of 256 KiB; architectures coincide",
            results.kernel.version, results.kernel.variant
        ),
        panels: vec![
            Panel::new(
                "L1 misses a round of N frames at the same offset",
                "N",
                Axis::Linear,
                frames,
            ),
            Panel::new(
                "L2 misses a round of 8 hot frames of one color and a page of zeros",
                format!("zero pages ({arch})"),
                Axis::Linear,
                fought,
            ),
        ],
    }
}
