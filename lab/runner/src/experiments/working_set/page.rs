// SPDX-License-Identifier: MIT OR Apache-2.0
//! `working-set` as tables and picture.

use super::{
    FULL, PLACEMENTS, associative,
    find::{Machine, OWN, beyond_contiguous, find, machines, miss_cost, programs, random_theory},
    theory,
};
use crate::results::{
    Axis, Page, Panel, Plot, Results, Row, Series, Table, cell, number, percent, thousands,
};

const MACHINE: [&str; 3] = ["arch", "L2 ways", "policy"];

/// The mean over repeats and the standard deviation, in percent.
fn spread(row: Option<&Row>, name: &str) -> String {
    let both =
        row.and_then(|row| Some((row.metric(name)?, row.metric(&format!("{name}_deviation"))?)));
    cell(both, |(mean, deviation)| format!("{:.1} % ± {:.1}", 100.0 * mean, 100.0 * deviation))
}

pub(super) fn page(results: &Results) -> Page {
    Page { source: against_source(results), tables: tables(results), plot: plot(results) }
}

fn tables(results: &Results) -> Vec<(String, Table)> {
    let head = [&MACHINE[..], &["working set, of L2"], &PLACEMENTS, &["random, theory"]].concat();
    let mut bandwidth = Table::wide(&head, OWN.map(|placement| format!("{placement}, worst")));
    let mut misses = Table::new(head);
    for machine in &machines(results) {
        for eighths in results.values("eighths") {
            let row = |placement: &&str| find(results, machine, "read", placement, &eighths);
            let theory = random_theory(machine, &eighths);
            let size = format!("{eighths}/8");
            let cells = |name: &str, theory: Option<f64>| {
                let own = machine.head().map(str::to_owned).into_iter().chain([size.clone()]);
                let means = PLACEMENTS.iter().map(|p| spread(row(p), name));
                own.chain(means).chain([cell(theory, percent)]).collect::<Vec<_>>()
            };
            let worst = OWN.iter().map(|p| {
                cell(row(p).and_then(|row| row.metric("modelled_peak_share_worst")), percent)
            });
            let peak = theory.map(|share| theory::peak_share(share, miss_cost(results)));
            bandwidth.wide_row(cells("modelled_peak_share", peak), worst);
            misses.row(cells("l2_miss_share", theory));
        }
    }
    let head = ["work", "size", "placement", "repeats", "L2 misses", "deviation", "of L2 accesses"];
    let cycles = ["modelled cycles", "beyond contiguous"];
    let mut work = Table::new([&MACHINE[..], &head, &cycles].concat());
    for machine in &machines(results) {
        for program in &programs(results) {
            for placement in PLACEMENTS {
                let Some(row) = find(results, machine, &program.0, placement, &program.1) else {
                    continue;
                };
                let count = |name: &str| cell(row.metric(name), thousands);
                let beyond = beyond_contiguous(results, machine, program, placement);
                let cells = [
                    program.0.clone(),
                    program.1.parse().map_or(program.1.clone(), thousands),
                    placement.into(),
                    count("repeats"),
                    count("l2_misses"),
                    count("l2_misses_deviation"),
                    cell(row.metric("l2_miss_share"), percent),
                    count("modelled_cycles"),
                    cell(beyond, |beyond| format!("{beyond:+.1} %")),
                ];
                work.wide_row(machine.head(), cells);
            }
        }
    }
    let mut tables = vec![
        ("Reads: modelled bandwidth in percent of the peak (mean ± deviation)".into(), bandwidth),
        ("Reads: share of lines that miss L2 (mean ± deviation)".into(), misses),
        ("Programs (matrix: cycles of one row of the product)".into(), work),
    ];
    tables.extend(associative::table(results));
    tables
}

/// The time compared with contiguous frames, which have all colors equally often.
fn of_colored(results: &Results, machine: &Machine, placement: &str, eighths: &str) -> String {
    let share = |placement: &str| {
        find(results, machine, "read", placement, eighths)?.metric("modelled_peak_share")
    };
    number(share(placement).zip(share("contiguous")).map(|(this, colored)| this / colored), 2)
}

fn against_source(results: &Results) -> (String, Table) {
    let head = ["figure", "arch", "L2 ways", "policy", "source, measured: uncolored", "colored"];
    let mut table = Table::wide(&head, PLACEMENTS.map(|p| format!("{p}, modelled")));
    let machines = machines(results);
    let mut add = |figure: &str, source: [&str; 2], ours: &dyn Fn(&Machine, &str) -> String| {
        for machine in &machines {
            // The source's machine for the headline was an Alpha with a
            // direct-mapped L2.
            let source = if machine.l2_ways == "1" { source } else { ["–", "–"] };
            let first = [&[figure][..], &machine.head(), &source].concat();
            table.wide_row(first, PLACEMENTS.map(|p| ours(machine, p)));
        }
    };
    for eighths in ["1", "2", "4", "8"] {
        let source = if eighths == "1" { "1.00" } else { "0.38 to 0.63" };
        let figure = format!("bandwidth at {eighths}/8 of L2, of colored");
        add(&figure, [source, "1.00"], &|machine, p| of_colored(results, machine, p, eighths));
    }
    for program in &programs(results) {
        let (figure, source) = match (program.0.as_str(), program.1.as_str()) {
            ("matrix", n) => {
                (format!("matrix {n}×{n}, time beyond colored"), "10 % (1000×1000, 512 kB L2)")
            }
            (_, "65536") => ("FFT of 64k points, time beyond colored".into(), "30 %"),
            (_, "1048576") => ("FFT of 1M points, time beyond colored".into(), "20 %"),
            (_, n) => (format!("FFT of {n} points, time beyond colored"), "–"),
        };
        add(&figure, [source, "0 %"], &|machine, p| {
            cell(beyond_contiguous(results, machine, program, p), |b| format!("{b:+.1} %"))
        });
    }
    let heading = "Against the source (2003: Alpha with a direct-mapped L2 of 2 MB, Athlon)";
    (heading.into(), table)
}

fn plot(results: &Results) -> Plot {
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
