// SPDX-License-Identifier: MIT OR Apache-2.0
//! `working-set` as a picture.

use super::{
    FULL, PLACEMENTS,
    shown::{Machine, beyond_contiguous, find, machines, miss_cost, programs, random_theory},
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
    let mut series: Vec<Series> = PLACEMENTS
        .iter()
        .map(|placement| Series {
            name: (*placement).into(),
            points: curve(&|eighths| {
                find(results, machine, "read", placement, eighths)?.metric("modelled_peak_share")
            }),
            reference: false,
        })
        .collect();
    series.push(Series {
        name: "random, theory".into(),
        points: curve(&|eighths| {
            Some(theory::peak_share(random_theory(machine, eighths)?, miss_cost(results)))
        }),
        reference: true,
    });
    Panel {
        heading: format!("{}, {}: bandwidth (% of peak)", machine.arch, kind(machine)),
        x_label: "working set / L2".into(),
        x: Axis::Linear,
        top: 0.0,
        series,
    }
}

fn works(results: &Results, machine: &Machine) -> Panel {
    let programs = programs(results);
    let point = |x: usize, program, placement| {
        Some((x as f64, beyond_contiguous(results, machine, program, placement)?))
    };
    let series = PLACEMENTS.iter().map(|placement| Series {
        name: (*placement).into(),
        points: programs
            .iter()
            .enumerate()
            .filter_map(|(x, program)| point(x, program, placement))
            .collect(),
        reference: false,
    });
    Panel {
        heading: format!("{}, {}: time beyond contiguous (%)", machine.arch, kind(machine)),
        x_label: "program".into(),
        x: Axis::Names(programs.iter().map(|(work, size)| format!("{work} {size}")).collect()),
        top: 0.0,
        series: series.collect(),
    }
}
