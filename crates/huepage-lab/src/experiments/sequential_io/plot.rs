// SPDX-License-Identifier: MIT OR Apache-2.0
//! The picture.

use super::pairs::{Group, Pair};
use crate::results::{Axis, Panel, Plot, Results, Row, Series};

pub(super) fn plot(results: &Results) -> Plot {
    let panel = |heading: &str, metric: &str, cached_only: bool| {
        let mut series = Vec::new();
        let groups = Group::all(results);
        for group in &groups {
            let pairs = group.pairs(results, "cached");
            type Side = for<'a, 'b> fn(&'b Pair<'a>) -> &'a Row;
            let sides: [(&str, Side); 2] = [("fresh", |p| p.fresh), ("aged", |p| p.aged)];
            for (age, row) in sides {
                let points = pairs.iter().filter_map(|p| Some((p.readers, row(p).metric(metric)?)));
                let name = format!("{}, {age}", group.name());
                series.push(Series { name, points: points.collect(), reference: false });
            }
        }
        if let Some(main) = groups.first().filter(|_| !cached_only) {
            let pairs = main.pairs(results, "direct-huge");
            let points =
                pairs.iter().filter_map(|p| Some((p.readers, p.aged.metric(metric)?))).collect();
            let name = "direct, huge page, aged".into();
            series.push(Series { name, points, reference: true });
        }
        Panel {
            heading: heading.into(),
            x_label: "parallel readers".into(),
            x: Axis::Doublings,
            series,
        }
    };
    let settings = results.rows.first();
    let setting = |name: &str| settings.map(|row| row.setting(name)).unwrap_or_default();
    Plot {
        title: "Sequential reads: what scattered pages cost a disk controller".into(),
        caption: format!(
            "Linux {}, at most {} segments per request; counts exact; modelled: {} µs per \
             request, {} µs per segment, link of {} MB/s",
            results.kernel.version,
            setting("segments"),
            setting("request_us"),
            setting("segment_us"),
            setting("link_mbs")
        ),
        panels: vec![
            panel("requests per GiB read", "requests_per_gib", false),
            panel("pages per segment", "pages_per_segment", false),
            panel("modelled throughput (MB/s)", "modelled_mbs", true),
        ],
    }
}
