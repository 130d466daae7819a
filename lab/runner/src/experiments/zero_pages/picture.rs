// SPDX-License-Identifier: MIT OR Apache-2.0
//! `zero-pages` as a picture.

use super::shown::{Spread, spread};
use crate::results::{Axis, Panel, Plot, Results, Series};

/// What is said of the hot colors.
type Which = fn(&Spread) -> f64;

const WHICH: [(&str, Which); 3] = [
    ("worst color", |spread| spread.worst),
    ("mean", |spread| spread.mean),
    ("best color", |spread| spread.best),
];

pub(super) fn plot(results: &Results) -> Plot {
    let archs = results.values("arch");
    let mut frames: Vec<Series> = archs
        .iter()
        .map(|arch| Series {
            name: format!("{arch}, L1 LRU"),
            points: results
                .with(&[("table", "frames")])
                .filter(|row| row.setting("arch") == *arch)
                .filter_map(|row| {
                    Some((row.setting("frames").parse().ok()?, row.metric("l1_misses_per_round")?))
                })
                .collect(),
            reference: false,
        })
        .collect();
    for series in &mut frames {
        series.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        series.points.dedup_by(|a, b| a.0 == b.0);
    }
    frames.push(Series {
        name: "source, measured (N = 8, 9)".into(),
        points: vec![(8.0, 0.043_429), (9.0, 9.038_46)],
        reference: true,
    });
    let arch = archs.first().map_or("", String::as_str);
    let mut fought = Vec::new();
    for replacement in results.values("replacement") {
        let points = |which: Which| {
            let point = |zeros: &String| {
                let settings = [
                    ("arch", arch),
                    ("fought", "l2"),
                    ("replacement", replacement.as_str()),
                    ("zeros", zeros),
                    ("backing", "kernel"),
                    ("zero_reads", "1"),
                ];
                Some((zeros.parse().ok()?, which(&spread(results, &settings)?)))
            };
            results.values("zeros").iter().filter_map(point).collect()
        };
        fought.extend(WHICH.map(|(name, which)| Series {
            name: format!("{replacement}, {name}"),
            points: points(which),
            reference: false,
        }));
    }
    Plot {
        title: "zero-pages: sets that fill up".into(),
        caption: format!(
            "Linux {} ({}), modelled 8-way L1 of 32 KiB and 8-way L2 of 256 KiB; architectures coincide",
            results.kernel.version, results.kernel.variant
        ),
        panels: vec![
            Panel {
                heading: "L1 misses a round of N frames at the same offset".into(),
                x_label: "N".into(),
                x: Axis::Linear,
                top: 0.0,
                series: frames,
            },
            Panel {
                heading: "L2 misses a round of 8 hot frames of one color and a page of zeros"
                    .into(),
                x_label: format!("zero pages ({arch})"),
                x: Axis::Linear,
                top: 0.0,
                series: fought,
            },
        ],
    }
}
