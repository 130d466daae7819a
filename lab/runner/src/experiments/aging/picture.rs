// SPDX-License-Identifier: MIT OR Apache-2.0
//! The picture.

use super::{
    POLICIES,
    lines::{Group, at, fill, fills, groups, lines},
    theory,
};
use crate::results::{Axis, Panel, Plot, Results, Series};

/// Lines in conflict by fill, a panel per form and policy.
pub fn plot(results: &Results) -> Plot {
    let arch = groups(results).first().map(|group| group.arch.clone()).unwrap_or_default();
    let mut panels = Vec::new();
    for form in ["memory-side", "flat"] {
        for policy in POLICIES.into_iter().filter(|policy| *policy != "random") {
            let here = |group: &Group| group.arch == arch && group.form == form;
            let mut series: Vec<Series> = lines(results)
                .into_iter()
                .filter(|(group, ..)| here(group) && group.policy == policy)
                .map(|(group, age, state)| curve(results, &group, age, state))
                .collect();
            if series.is_empty() {
                continue;
            }
            let control =
                groups(results).into_iter().find(|group| here(group) && group.policy == "random");
            if let Some(group) = control {
                let name = "random pages (the control)".to_owned();
                series.push(curve(results, &group, 0, name));
            }
            series.push(theory_curve(results, form));
            let heading = format!("{form}, {policy}: lines in conflict, triad (%)");
            panels.push(Panel::new(heading, "arrays / cache", Axis::Linear, series).up_to(100.0));
        }
    }
    Plot {
        title: "STREAM behind a direct-mapped cache, fresh and aged".into(),
        caption: format!(
            "modelled; Linux {}, {arch}; dashed: random in theory",
            results.kernel.version
        ),
        panels,
    }
}

fn curve(results: &Results, group: &Group, age: u64, name: String) -> Series {
    let point = |fill: &f64| {
        let row = at(results, group, age, *fill, "triad")?;
        Some((*fill, row.metric("conflict_share")? * 100.0))
    };
    Series::new(name, fills(results).iter().filter_map(point).collect())
}

/// Without rounding of the fill, in steps fine enough for a curve.
fn theory_curve(results: &Results, form: &str) -> Series {
    let rows = || results.rows.iter().filter(|row| row.setting("form") == form);
    let (low, high) = rows()
        .map(fill)
        .fold((f64::INFINITY, 0.0_f64), |(low, high), fill| (low.min(fill), high.max(fill)));
    // Two frames to a color: the other one is taken with the share of memory in use.
    let share = |fill: f64| match form {
        "flat" => fill / 2.0,
        _ => theory::random_share(fill),
    };
    let points = (0..=40)
        .map(|step| low + (high - low) * f64::from(step) / 40.0)
        .map(|fill| (fill, share(fill) * 100.0))
        .collect();
    let name = match form {
        "flat" => "fill / 2 (two frames to a color)",
        _ => "1 − e^(−fill)",
    };
    Series::reference(name, points)
}
