// SPDX-License-Identifier: MIT OR Apache-2.0
//! `working-set` as a picture.

use super::{
    FULL, PLACEMENTS,
    find::{Machine, beyond_contiguous, find, machines, miss_cost, programs, random_theory},
    theory,
};
use crate::results::{Axis, Panel, Plot, Results, Series};

pub(super) fn plot(results: &Results) -> Plot {
    let mut panels = Vec::new();
    for arch in results.values("arch") {
        let machines: Vec<_> =
            machines(results).into_iter().filter(|machine| machine.arch == arch).collect();
        panels.extend(machines.iter().map(|machine| reads(results, machine)));
        panels.extend(machines.first().map(|machine| works(results, machine)));
    }
    Plot {
        title: "working-set: how much of L2 a program gets".into(),
        caption: format!(
            "Linux {} ({}), modelled L2 of 2 MiB, LRU; a miss of a read costs {} hits",
            results.kernel.version,
            results.kernel.variant,
            miss_cost(results)
        ),
        panels,
    }
}

fn kind(machine: &Machine) -> String {
    let ways = match machine.l2_ways.as_str() {
        "1" => "direct-mapped".to_owned(),
        FULL => "fully associative".to_owned(),
        ways => format!("{ways} ways"),
    };
    match machine.policy.as_str() {
        "" | "stock" => ways,
        policy => format!("{ways}, {policy}"),
    }
}

fn reads(results: &Results, machine: &Machine) -> Panel {
    let sizes = results.values("eighths");
    let curve = |share: &dyn Fn(&str) -> Option<f64>| {
        let point =
            |eighths: &String| Some((eighths.parse::<f64>().ok()? / 8.0, 100.0 * share(eighths)?));
        sizes.iter().filter_map(point).collect::<Vec<_>>()
    };
    let line = |placement: &&str| {
        let share = |eighths: &str| {
            find(results, machine, "read", placement, eighths)?.metric("modelled_peak_share")
        };
        Series::new(*placement, curve(&share))
    };
    let mut series: Vec<Series> = PLACEMENTS.iter().map(line).collect();
    let theory = |eighths: &str| {
        Some(theory::peak_share(random_theory(machine, eighths)?, miss_cost(results)))
    };
    series.push(Series::reference("random, theory", curve(&theory)));
    let heading = format!("{}, {}: bandwidth (% of peak)", machine.arch, kind(machine));
    Panel::new(heading, "working set / L2", Axis::Linear, series)
}

fn works(results: &Results, machine: &Machine) -> Panel {
    let programs = programs(results);
    let names: Vec<String> = programs.iter().map(|(work, size)| format!("{work} {size}")).collect();
    Panel::of_names(
        format!("{}, {}: time beyond contiguous (%)", machine.arch, kind(machine)),
        "program",
        &names,
        &PLACEMENTS.map(str::to_owned),
        |placement, x| beyond_contiguous(results, machine, &programs[x], placement),
    )
}
