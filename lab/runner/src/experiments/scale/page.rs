// SPDX-License-Identifier: MIT OR Apache-2.0
//! `scale` as tables and picture.

use huepage::units::Bytes;

use crate::{
    experiment::PAGE,
    experiments::working_set::random_miss_share,
    results::{
        Axis, Boots, Page, Panel, Plot, Results, Series, Table, cell, change, percent, thousands,
    },
};

/// The state of the machine, and whether that is the day on which it boots.
const STATES: [(&str, bool); 2] = [("fresh", true), ("aged", false)];
/// The settings of a point, before its figures.
const HEAD: [&str; 4] = ["arch", "cache", "ways", "colors"];

/// A point of the grid; its boots differ only in their seed.
#[derive(Clone, Copy)]
struct Point<'a> {
    arch: &'a str,
    cache: &'a str,
    ways: &'a str,
    policy: &'a str,
}

impl Point<'_> {
    fn bytes(&self) -> u64 {
        self.cache.parse().map_or(0, |cache: Bytes| cache.0)
    }

    fn ways(&self) -> u64 {
        self.ways.parse().unwrap_or(1)
    }

    fn colors(&self) -> u64 {
        self.bytes() / PAGE / self.ways()
    }

    fn head(&self) -> [String; 4] {
        let colors = thousands(self.colors() as f64);
        [self.arch.into(), self.cache.into(), self.ways.into(), colors]
    }

    /// The boots of the day on which the machine boots, or of all days after it.
    fn boots<'r>(&self, results: &'r Results, fresh: bool) -> Boots<'r> {
        let Point { arch, cache, ways, policy } = *self;
        let set = [("arch", arch), ("cache", cache), ("ways", ways), ("policy", policy)];
        Boots::of(results.with(set).filter(|row| (row.setting("day") == "0") == fresh))
    }
}

pub fn page(results: &Results) -> Page {
    let tables = vec![
        ("Pages in conflict (mean of boots, least and most)".into(), conflicts(results)),
        ("Instructions for a page that is touched (mean of boots)".into(), costs(results)),
    ];
    Page { source: against_source(results), tables, plot: plot(results) }
}

/// Calls for each cache and number of ways that there is.
fn each(results: &Results, mut call: impl FnMut(Point)) {
    for arch in results.values("arch") {
        for ways in results.values("ways") {
            for cache in results.values("cache") {
                call(Point { arch: &arch, cache: &cache, ways: &ways, policy: "" });
            }
        }
    }
}

/// The share in conflict for as many pages at random.
fn at_random(results: &Results, point: &Point) -> Option<f64> {
    let fill: f64 = results.first("fill").parse().ok()?;
    let pages = (fill * (point.bytes() / PAGE) as f64) as u64;
    Some(random_miss_share(pages, point.colors(), point.ways()))
}

fn conflicts(results: &Results) -> Table {
    let policies = results.values("policy");
    let head = policies.iter().flat_map(|p| STATES.map(|(state, _)| format!("{p}, {state}")));
    let mut table = Table::wide(&HEAD, head.chain(["at random".to_owned()]));
    each(results, |point| {
        let mut cells = Vec::new();
        for policy in &policies {
            for (_, fresh) in STATES {
                let boots = Point { policy, ..point }.boots(results, fresh);
                cells.push(boots.text("conflict_share", percent));
            }
        }
        cells.push(cell(at_random(results, &point), percent));
        table.wide_row(point.head(), cells);
    });
    table
}

fn costs(results: &Results) -> Table {
    let head = STATES.iter().flat_map(|(state, _)| {
        ["stock", "on", "change"].map(|column| format!("{column}, {state}"))
    });
    let mut table = Table::wide(&HEAD, head);
    each(results, |point| {
        let mut cells = Vec::new();
        for (_, fresh) in STATES {
            let mean = |policy: &str| {
                Point { policy, ..point }.boots(results, fresh).mean("touch_instructions")
            };
            let (stock, on) = (mean("stock"), mean("on"));
            cells.extend([cell(stock, thousands), cell(on, thousands), change(on, stock)]);
        }
        table.wide_row(point.head(), cells);
    });
    table
}

fn against_source(results: &Results) -> (String, Table) {
    let mut table = Table::wide(&HEAD, ["on, worst of all boots", "source"].map(str::to_owned));
    each(results, |point| {
        let on = Point { policy: "on", ..point };
        let shares =
            STATES.map(|(_, fresh)| on.boots(results, fresh).values("conflict_share")).concat();
        let source = if point.ways == "1" { "within 1.5 % of fresh at 16 GB" } else { "–" };
        let cells = [cell(shares.into_iter().reduce(f64::max), percent), source.to_owned()];
        table.wide_row(point.head(), cells);
    });
    ("Against the source (S1), which measured bandwidth".into(), table)
}

fn plot(results: &Results) -> Plot {
    let panel = |ways: &String, metric: &str, heading: &str, times: f64| {
        let mut series = Vec::new();
        for policy in results.values("policy") {
            for (state, fresh) in STATES {
                let mut points = Vec::new();
                each(results, |point| {
                    let boots = Point { policy: &policy, ..point }.boots(results, fresh);
                    if let (true, Some(mean)) = (point.ways == *ways, boots.mean(metric)) {
                        points.push(((point.bytes() >> 20) as f64, mean * times));
                    }
                });
                series.push(Series::new(format!("{policy}, {state}"), points));
            }
        }
        let ways = if ways == "1" { "direct-mapped".to_owned() } else { format!("{ways} ways") };
        Panel::new(format!("{ways}: {heading}"), "cache (MiB)", Axis::Doublings, series)
    };
    let ways = results.values("ways");
    let shown = [
        ("conflict_share", "pages in conflict (%)", 100.0),
        ("touch_instructions", "instructions for a page", 1.0),
    ];
    let panels = shown.iter().flat_map(|&(metric, heading, times)| {
        let panel = &panel;
        ways.iter().map(move |ways| panel(ways, metric, heading, times))
    });
    Plot {
        title: "Conflicts and cost by the size of the cache".into(),
        caption: format!(
            "Linux {}, {}; mean of {} boots",
            results.kernel.version,
            results.values("arch").join(", "),
            results.values("seed").len(),
        ),
        panels: panels.collect(),
    }
}
