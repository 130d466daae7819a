// SPDX-License-Identifier: MIT OR Apache-2.0
//! `thirty-days` as tables and picture.

use super::days::{Line, SHOWN, day, lines, of, on, over_days};
use crate::{
    experiments::aging::{gbs, random_share},
    results::{
        Axis, Boots, Figures, Page, Panel, Plot, Results, Series, Table, cell, change, number,
        percent, percent_within, table_by, thousands,
    },
};

/// The source's rates of hits and misses.
const HIT: f64 = 336.0;
const MISS: f64 = 85.0;

/// Days that the table has; the picture has all.
const DAYS: [u64; 10] = [0, 1, 2, 3, 5, 7, 10, 15, 20, 30];

pub fn page(results: &Results) -> Page {
    let mut tables = Vec::new();
    for (metric, heading, little_is_good) in SHOWN {
        let several = "mean of boots, least and most";
        tables.push((format!("{heading} ({several})"), summary(results, metric, little_is_good)));
        tables.push((format!("{heading}, by day (mean of boots)"), by_day(results, metric)));
    }
    tables.push(("Faults of 2 MiB that got a huge page, last day".into(), last_day(results)));
    tables.push(("Instructions of touching a page, mean of days".into(), touching(results)));
    Page { source: against_source(results), tables, plot: plot(results) }
}

fn summary(results: &Results, metric: &str, little_is_good: bool) -> Table {
    let mut table = Table::new([
        "arch",
        "days",
        "policy",
        "boots",
        "fresh",
        "mean of days",
        "95 % of it",
        "last day",
        "worst day of any boot",
    ]);
    for line in lines(results) {
        let last = of(results, &line).map(day).max().unwrap_or_default();
        let means = over_days(results, &line, metric);
        let means = Boots::of(&means);
        let aged = Boots::of(of(results, &line).filter(|row| day(row) > 0)).values(metric);
        let worst = match little_is_good {
            true => aged.iter().copied().reduce(f64::max),
            false => aged.iter().copied().reduce(f64::min),
        };
        let cells = [
            means.values(metric).len().to_string(),
            on(results, &line, 0).text(metric, percent),
            cell(means.mean(metric), percent),
            cell(means.interval(metric), percent_within),
            on(results, &line, last).text(metric, percent),
            cell(worst, percent),
        ];
        table.wide_row(&line, cells);
    }
    table
}

/// Means over seeds on some of the days.
fn by_day(results: &Results, metric: &str) -> Table {
    let there = results.values("day");
    let days: Vec<u64> = DAYS.into_iter().filter(|day| there.contains(&day.to_string())).collect();
    let head = days.iter().map(|day| format!("day {day}"));
    let mut table = Table::wide(&["arch", "days", "policy"], head);
    for line in lines(results) {
        let mean = |day: &u64| cell(on(results, &line, *day).mean(metric), percent);
        table.wide_row(&line, days.iter().map(mean));
    }
    table
}

fn last_day(results: &Results) -> Table {
    let mut table = Table::new(["arch", "days", "policy", "at once", "if the kernel may compact"]);
    for line in lines(results) {
        let last = of(results, &line).filter(|row| row.metric("thp_compacting").is_some());
        let boots = Boots::of(last);
        let cells = ["thp_success", "thp_compacting"].map(|metric| boots.text(metric, percent));
        table.wide_row(&line, cells);
    }
    table
}

/// Of the string instruction that clears a page on x86_64: the emulator counts each
/// byte.
const CLEARING: f64 = 4096.0;

fn touching(results: &Results) -> Table {
    let mut table = Table::new([
        "arch",
        "days",
        "policy",
        "mean of boots, least and most",
        "against stock",
        "the clearing left out",
    ]);
    let name = "touch_instructions";
    for line in lines(results) {
        let [arch, kind, _] = &line;
        let stock = over_days(results, &[arch, kind, "stock"].map(str::to_owned), name);
        let stock = Boots::of(&stock).mean(name);
        let means = over_days(results, &line, name);
        let means = Boots::of(&means);
        let here = means.mean(name);
        let rest =
            |mean: Option<f64>| mean.filter(|_| arch == "x86_64").map(|mean| mean - CLEARING);
        let cells =
            [means.text(name, thousands), change(here, stock), change(rest(here), rest(stock))];
        table.wide_row(&line, cells);
    }
    table
}

fn against_source(results: &Results) -> (String, Table) {
    // Rates fresh, in the mean of all days and on the worst day.
    let rates = lines(results).into_iter().map(|line| {
        let rate = |share: Option<f64>| share.map(|share| gbs(share, HIT, MISS));
        let fresh = on(results, &line, 0).mean("conflict_share");
        let aged = of(results, &line).filter(|row| day(row) > 0);
        let aged = Figures::of(Boots::of(aged).values("conflict_share"));
        let rates = [fresh, aged.map(|aged| aged.mean), aged.map(|aged| aged.most)].map(rate);
        (line, rates)
    });
    let table = table_by::<(Line, [Option<f64>; 3])>(
        &[
            ("days", &|([_, kind, _], _)| kind.clone()),
            ("policy", &|([.., policy], _)| policy.clone()),
            ("modelled GB/s, fresh", &|(_, [fresh, ..])| number(*fresh, 0)),
            ("mean of days", &|(_, [_, mean, _])| number(*mean, 0)),
            ("worst day of any boot", &|(_, [.., worst])| number(*worst, 0)),
            ("worst against fresh", &|(_, [fresh, _, worst])| {
                cell(worst.zip(*fresh), |(worst, fresh)| percent(worst / fresh - 1.0))
            }),
            ("source", &|([.., policy], _)| match policy.as_str() {
                "stock" => "336, then 117 (−65 %)".into(),
                "on" => "within 1.5 % of fresh".into(),
                _ => "–".into(),
            }),
        ],
        rates,
    );
    ("Against the source (S1), which had a fill of 1 and more".into(), table)
}

/// Each metric by day, a panel for each kind of days.
fn plot(results: &Results) -> Plot {
    let kinds = results.values("kind");
    let arch = results.first("arch");
    let last = results.rows.iter().map(day).max().unwrap_or_default();
    let fill: Option<f64> = results.first("fill").parse().ok();
    let series = |kind: &str, metric: &str| -> Vec<Series> {
        let by_policy = |policy: String| {
            let line = [arch.clone(), kind.to_owned(), policy];
            let point =
                |day: u64| Some((day as f64, on(results, &line, day).mean(metric)? * 100.0));
            let points = (0..=last).filter_map(point).collect();
            let [_, _, name] = line;
            Series::new(name, points)
        };
        let mut series: Vec<Series> = results.values("policy").into_iter().map(by_policy).collect();
        if let (Some(fill), "conflict_share") = (fill, metric) {
            let random = random_share(fill) * 100.0;
            series.push(Series::reference("at random", vec![(0.0, random), (last as f64, random)]));
        }
        series
    };
    let panels = SHOWN.into_iter().flat_map(|(metric, heading, _)| {
        let series = &series;
        kinds.iter().map(move |kind| {
            let heading = format!("{heading} (%), {kind} days");
            Panel::new(heading, "day", Axis::Linear, series(kind, metric)).up_to(100.0)
        })
    });
    Plot {
        title: "A machine day after day".into(),
        caption: format!(
            "Linux {}, {arch}, cache of {}, {} of memory; mean of {} boots",
            results.kernel.version,
            results.values("cache").join(", "),
            results.values("memory").join(", "),
            results.values("seed").len(),
        ),
        panels: panels.collect(),
    }
}
