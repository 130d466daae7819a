// SPDX-License-Identifier: MIT OR Apache-2.0
//! `working-set` as tables.

use super::{CACHE_PAGES, PLACEMENTS, associative, picture, theory};
use crate::results::{Page, Results, Row, Table, cell, distinct, number, thousands};

/// Placements that are the kernel's own choice.
pub(super) const OWN: [&str; 2] = ["fresh", "aged"];
const MACHINE: [&str; 3] = ["arch", "L2 ways", "policy"];

/// What boots differ in.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Machine {
    pub arch: String,
    pub l2_ways: String,
    /// Empty in results from before there were policies.
    pub policy: String,
}

impl Machine {
    fn of(row: &Row) -> Self {
        let [arch, l2_ways, policy] = ["arch", "l2_ways", "policy"].map(|name| row.setting(name));
        Machine { arch, l2_ways, policy }
    }

    fn head(&self) -> [&str; 3] {
        [&self.arch, &self.l2_ways, &self.policy]
    }
}

/// Every one that was run.
pub(super) fn machines(results: &Results) -> Vec<Machine> {
    distinct(results.rows.iter().map(Machine::of))
}

/// One row of a machine.
pub(super) fn find<'a>(
    results: &'a Results,
    machine: &Machine,
    work: &str,
    placement: &str,
    size: &str,
) -> Option<&'a Row> {
    let size_name = if work == "read" { "eighths" } else { "size" };
    let settings = [
        ("arch", machine.arch.as_str()),
        ("l2_ways", &machine.l2_ways),
        ("policy", &machine.policy),
        ("work", work),
        ("placement", placement),
        (size_name, size),
    ];
    results.find(&settings)
}

/// Programs: kind and size, in the order of rows.
pub(super) fn programs(results: &Results) -> Vec<(String, String)> {
    let rows = results.rows.iter().filter(|row| row.setting("work") != "read");
    distinct(rows.map(|row| (row.setting("work"), row.setting("size"))))
}

/// Modelled time beyond that with contiguous frames, in percent.
pub(super) fn beyond_contiguous(
    results: &Results,
    machine: &Machine,
    program: &(String, String),
    placement: &str,
) -> Option<f64> {
    let cycles = |placement| {
        find(results, machine, &program.0, placement, &program.1)?.metric("modelled_cycles")
    };
    Some(100.0 * (cycles(placement)? / cycles("contiguous")? - 1.0))
}

/// What random pages do, by theory: the share of misses at a size.
pub(super) fn random_theory(machine: &Machine, eighths: &str) -> Option<f64> {
    let (ways, eighths): (u64, u64) = (machine.l2_ways.parse().ok()?, eighths.parse().ok()?);
    Some(theory::random_miss_share(CACHE_PAGES * eighths / 8, CACHE_PAGES / ways, ways))
}

/// The cost of a miss that the rows were run with.
pub(super) fn miss_cost(results: &Results) -> f64 {
    results.first("miss_cost").parse().unwrap_or(1.0)
}

fn percent(value: Option<f64>) -> String {
    cell(value, |value| format!("{:.1} %", 100.0 * value))
}

/// The mean over repeats and the standard deviation, in percent.
fn spread(row: Option<&Row>, name: &str) -> String {
    let both =
        row.and_then(|row| Some((row.metric(name)?, row.metric(&format!("{name}_deviation"))?)));
    cell(both, |(mean, deviation)| format!("{:.1} % ± {:.1}", 100.0 * mean, 100.0 * deviation))
}

pub(super) fn page(results: &Results) -> Page {
    Page { source: against_source(results), tables: tables(results), plot: picture::plot(results) }
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
                own.chain(means).chain([percent(theory)]).collect::<Vec<_>>()
            };
            let worst = OWN
                .iter()
                .map(|p| percent(row(p).and_then(|row| row.metric("modelled_peak_share_worst"))));
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
                    percent(row.metric("l2_miss_share")),
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

/// Against contiguous frames, which are colored by construction.
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
