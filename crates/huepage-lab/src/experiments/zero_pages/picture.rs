// SPDX-License-Identifier: MIT OR Apache-2.0
//! `zero-pages` as a picture.

use crate::results::{Axis, Panel, Plot, Results, Series};

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
    let zeros = [("kernel", "other"), ("kernel", "same"), ("control", "same")];
    let mut thrash = Vec::new();
    for arch in &archs {
        for replacement in results.values("l2_replacement") {
            let point = |(x, (backing, hot)): (usize, &(&str, &str))| {
                let settings = [
                    ("arch", arch.as_str()),
                    ("table", "thrash"),
                    ("l2_replacement", &replacement),
                    ("backing", backing),
                    ("hot", hot),
                    ("zero_reads", "1"),
                ];
                Some((x as f64, results.find(&settings)?.metric("l2_misses_per_round")?))
            };
            thrash.push(Series {
                name: format!("{arch}, L2 {replacement}"),
                points: zeros.iter().enumerate().filter_map(point).collect(),
                reference: false,
            });
        }
    }
    let names = ["one, another color", "one, the hot color", "8 colored (control)"];
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
                heading: "L2 misses a round of 8 hot frames and a page of zeros".into(),
                x_label: "zero pages".into(),
                x: Axis::Names(names.map(str::to_owned).to_vec()),
                top: 0.0,
                series: thrash,
            },
        ],
    }
}
