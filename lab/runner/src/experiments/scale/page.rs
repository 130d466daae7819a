// SPDX-License-Identifier: MIT OR Apache-2.0
//! `scale` as tables and picture.

use huepage::units::Bytes;

use crate::results::{
    Axis, Boots, Page, Panel, Plot, Results, Series, Table, cell, change, percent, thousands,
};

/// Of a page, in bytes.
const PAGE: u64 = 4096;

/// A point of the grid, by which boots differ in their seed only.
#[derive(Clone, Copy)]
struct Point<'a> {
    arch: &'a str,
    cache: &'a str,
    ways: &'a str,
    policy: &'a str,
}

impl Point<'_> {
    fn colors(&self) -> Option<u64> {
        let cache: Bytes = self.cache.parse().ok()?;
        Some(cache.0 / PAGE / self.ways.parse::<u64>().ok()?)
    }

    /// The day that the machine boots, or all after it.
    fn boots<'r>(&self, results: &'r Results, fresh: bool) -> Boots<'r> {
        let set = [
            ("arch", self.arch),
            ("cache", self.cache),
            ("ways", self.ways),
            ("policy", self.policy),
        ];
        let rows = results.with(&set).filter(|row| (row.setting("day") == "0") == fresh);
        Boots::of(rows.collect::<Vec<_>>())
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

/// Of pages at random, how many are of a color that more pages have than there are ways:
/// the pages of a color are a Poisson variable, of which a page sees the others.
pub(super) fn at_random(fill: f64, ways: u32) -> f64 {
    let pages = fill * f64::from(ways);
    let mut term = (-pages).exp();
    let mut fits = 0.0;
    for others in 0..ways {
        fits += term;
        term *= pages / f64::from(others + 1);
    }
    1.0 - fits
}

fn of_theory(results: &Results, ways: &str) -> Option<f64> {
    Some(at_random(results.first("fill").parse().ok()?, ways.parse().ok()?))
}

fn conflicts(results: &Results) -> Table {
    let policies = results.values("policy");
    let states = [("fresh", true), ("aged", false)];
    let head = policies.iter().flat_map(|p| states.map(|(state, _)| format!("{p}, {state}")));
    let head = head.chain(["at random".to_owned()]);
    let mut table = Table::wide(&["arch", "cache", "ways", "colors"], head);
    each(results, |point| {
        let mut cells = Vec::new();
        for policy in &policies {
            for (_, fresh) in states {
                let boots = Point { policy, ..point }.boots(results, fresh);
                cells.push(boots.text("conflict_share", percent));
            }
        }
        cells.push(cell(of_theory(results, point.ways), percent));
        let colors = cell(point.colors(), |colors| thousands(colors as f64));
        table.wide_row([point.arch, point.cache, point.ways, &colors], cells);
    });
    table
}

fn costs(results: &Results) -> Table {
    let states = [("fresh", true), ("aged", false)];
    let head = states.iter().flat_map(|(state, _)| {
        ["stock", "on", "change"].map(|column| format!("{column}, {state}"))
    });
    let mut table = Table::wide(&["arch", "cache", "ways", "colors"], head);
    each(results, |point| {
        let mut cells = Vec::new();
        for (_, fresh) in states {
            let mean = |policy: &str| {
                Point { policy, ..point }.boots(results, fresh).mean("touch_instructions")
            };
            let (stock, on) = (mean("stock"), mean("on"));
            cells.extend([cell(stock, thousands), cell(on, thousands), change(on, stock)]);
        }
        let colors = cell(point.colors(), |colors| thousands(colors as f64));
        table.wide_row([point.arch, point.cache, point.ways, &colors], cells);
    });
    table
}

fn against_source(results: &Results) -> (String, Table) {
    let mut table = Table::new(["cache", "ways", "colors", "on, worst of all boots", "source"]);
    each(results, |point| {
        let mut values = Vec::new();
        for fresh in [true, false] {
            let boots = Point { policy: "on", ..point }.boots(results, fresh);
            values.extend(boots.values("conflict_share"));
        }
        let worst = values.into_iter().reduce(f64::max);
        table.row([
            point.cache.to_owned(),
            point.ways.to_owned(),
            cell(point.colors(), |colors| thousands(colors as f64)),
            cell(worst, percent),
            if point.ways == "1" { "within 1.5 % of fresh at 16 GB" } else { "–" }.to_owned(),
        ]);
    });
    ("Against the source (S1), which measured bandwidth".into(), table)
}

fn plot(results: &Results) -> Plot {
    let panel = |ways: &String, metric: &str, heading: &str, times: f64| {
        let mut series = Vec::new();
        for policy in results.values("policy") {
            for (state, fresh) in [("fresh", true), ("aged", false)] {
                let mut points = Vec::new();
                each(results, |point| {
                    let boots = Point { policy: &policy, ..point }.boots(results, fresh);
                    let size = point.cache.parse::<Bytes>().ok();
                    if let (true, Some(size), Some(mean)) =
                        (point.ways == *ways, size, boots.mean(metric))
                    {
                        points.push((size.0 as f64 / f64::from(1 << 20), mean * times));
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
