// SPDX-License-Identifier: MIT OR Apache-2.0
//! The picture.

use super::pairs::{Group, Pair};
use crate::results::{Axis, Boots, Panel, Plot, Results, Series};

/// What is drawn, and whether reads past the page cache stand beside it.
const METRICS: [(&str, &str, bool); 3] = [
    ("requests per GiB read", "requests_per_gib", true),
    ("pages per segment", "pages_per_segment", true),
    ("modelled throughput (MB/s)", "modelled_mbs", false),
];

/// Of the machine that was booted with all seeds.
pub(super) fn plot(results: &Results) -> Plot {
    let mut groups = Group::all(results);
    let main = groups.first().map(Group::machine);
    groups.retain(|group| Some(group.machine()) == main);
    let panels = METRICS.map(|(heading, metric, direct)| {
        let mut series: Vec<Series> =
            groups.iter().flat_map(|group| fresh_and_aged(results, group, metric)).collect();
        if let Some(main) = groups.first().filter(|_| direct) {
            let points = points(&main.pairs(results, "direct-huge"), metric, |p| &p.aged);
            series.push(Series::reference("direct, huge page, aged", points));
        }
        Panel::new(heading, "parallel readers", Axis::Doublings, series)
    });
    Plot {
        title: "Order of frames: what a disk controller merges".into(),
        caption: format!(
            "Linux {}, {}; means of all seeds; counts exact; modelled: {} µs per \
             request, {} µs per segment, link of {} MB/s",
            results.kernel.version,
            main.unwrap_or_default(),
            results.first("request_us"),
            results.first("segment_us"),
            results.first("link_mbs")
        ),
        panels: panels.into(),
    }
}

/// Reads through the page cache.
fn fresh_and_aged(results: &Results, group: &Group, metric: &str) -> [Series; 2] {
    let pairs = group.pairs(results, "cached");
    let series = |age: &str, points| Series::new(format!("{}, {age}", group.policy), points);
    [
        series("fresh", points(&pairs, metric, |p| &p.fresh)),
        series("aged", points(&pairs, metric, |p| &p.aged)),
    ]
}

fn points<'a>(
    pairs: &[Pair<'a>],
    metric: &str,
    side: for<'p> fn(&'p Pair<'a>) -> &'p Boots<'a>,
) -> Vec<(f64, f64)> {
    pairs.iter().filter_map(|p| Some((p.readers, side(p).mean(metric)?))).collect()
}
