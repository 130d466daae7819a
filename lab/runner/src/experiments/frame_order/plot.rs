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
            series.push(Series {
                name: "direct, huge page, aged".into(),
                points: points(&main.pairs(results, "direct-huge"), metric, |p| &p.aged),
                reference: true,
            });
        }
        let values = series.iter().flat_map(|series| &series.points).map(|(_, value)| *value);
        Panel {
            heading: heading.into(),
            x_label: "parallel readers".into(),
            x: Axis::Doublings,
            top: values.fold(0.0, f64::max),
            series,
        }
    });
    let settings = results.rows.first();
    let setting = |name: &str| settings.map(|row| row.setting(name)).unwrap_or_default();
    Plot {
        title: "Order of frames: what a disk controller merges".into(),
        caption: format!(
            "Linux {}, {}; means of all seeds; counts exact; modelled: {} µs per \
             request, {} µs per segment, link of {} MB/s",
            results.kernel.version,
            main.unwrap_or_default(),
            setting("request_us"),
            setting("segment_us"),
            setting("link_mbs")
        ),
        panels: panels.into(),
    }
}

/// Reads through the page cache.
fn fresh_and_aged(results: &Results, group: &Group, metric: &str) -> [Series; 2] {
    let pairs = group.pairs(results, "cached");
    let series = |age: &str, points| Series {
        name: format!("{}, {age}", group.policy),
        points,
        reference: false,
    };
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
