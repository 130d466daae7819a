// SPDX-License-Identifier: MIT OR Apache-2.0
//! `thirty-days` as a picture.

use super::days::{SHOWN, day, on};
use crate::{
    experiments::aging::random_share,
    results::{Axis, Panel, Plot, Results, Series},
};

/// Each metric by day, a panel for each kind of days.
pub fn plot(results: &Results) -> Plot {
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
