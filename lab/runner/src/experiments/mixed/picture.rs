// SPDX-License-Identifier: MIT OR Apache-2.0
//! `mixed` as a picture.

use super::figures::fill;
use crate::results::{Figures, Panel, Plot, Results};

/// Names that fit below one panel.
const PER_PANEL: usize = 5;

/// Pages in conflict within a process by load, a few loads to a panel.
pub(super) fn plot(results: &Results) -> Plot {
    let (arch, cache) = (results.first("arch"), results.first("cache"));
    // Seeds, days and CPUs of the neighbor together.
    let mean = |load: &str, policy: &str| {
        let set = [("arch", &*arch), ("cache", &*cache), ("load", load), ("policy", policy)];
        // Of refault both fills are there.
        let rows = results.with(&set).filter(|row| fill(row) == 0.94);
        Figures::of(rows.filter_map(|row| row.metric("conflict_within")))
    };
    let policies = results.values("policy");
    let measured = |load: &String| policies.iter().any(|policy| mean(load, policy).is_some());
    let loads: Vec<String> = results.values("load").into_iter().filter(measured).collect();
    let heading = "pages in conflict within a process (%)";
    let panel = |names: &[String]| {
        let point = |policy: &str, x: usize| Some(mean(&names[x], policy)?.mean * 100.0);
        Panel::of_names(heading, "load, fill 0.94", names, &policies, point).up_to(100.0)
    };
    Plot {
        title: "Pages of a program that share a color while other things run".into(),
        caption: format!(
            "Linux {}, {arch}, direct-mapped cache of {cache}; mean of all seeds and days",
            results.kernel.version
        ),
        panels: loads.chunks(PER_PANEL).map(panel).collect(),
    }
}
