// SPDX-License-Identifier: MIT OR Apache-2.0
//! Placements beside a fully associative cache of the same size, which no placement
//! can spoil.

use super::{
    FULL,
    find::{Machine, OWN, find, machines, programs},
};
use crate::results::{Results, Row, Table, cell, thousands};

/// Misses of the kernel's own placements; nothing if no such cache was run.
pub(super) fn table(results: &Results) -> Option<(String, Table)> {
    let all = machines(results);
    let mut table = Table::new([
        "arch",
        "work",
        "placement",
        "L2 ways",
        "policy",
        "L2 misses",
        "fully associative",
        "more",
    ]);
    let reads = results.values("eighths").into_iter().map(|size| ("read".to_owned(), size));
    let works: Vec<(String, String)> = reads.chain(programs(results)).collect();
    let full = |arch: &str| all.iter().find(|m| m.arch == arch && m.l2_ways == FULL);
    full(&all.first()?.arch)?;
    for work in &works {
        for placement in OWN {
            for machine in all.iter().filter(|machine| machine.l2_ways != FULL) {
                let Some(full) = full(&machine.arch) else { continue };
                let row = |machine: &Machine| find(results, machine, &work.0, placement, &work.1);
                let (Some(here), Some(best)) = (row(machine), row(full)) else { continue };
                table.row(cells(machine, work, placement, here, best));
            }
        }
    }
    Some(("Beside a fully associative L2 (misses, mean of repeats)".into(), table))
}

fn cells(
    machine: &Machine,
    work: &(String, String),
    placement: &str,
    here: &Row,
    best: &Row,
) -> [String; 8] {
    let misses = |row: &Row| row.metric("l2_misses");
    let count = |row| cell(misses(row), thousands);
    let more = match (misses(here), misses(best)) {
        (Some(here), Some(best)) if best > 0.0 => {
            format!("{:+.1} %", 100.0 * (here / best - 1.0))
        }
        (Some(here), Some(_)) => format!("{} lines", thousands(here)),
        _ => "–".into(),
    };
    let size = match work.0.as_str() {
        "read" => format!("read {}/8", work.1),
        program => format!("{program} {}", work.1),
    };
    [
        machine.arch.clone(),
        size,
        placement.to_owned(),
        machine.l2_ways.clone(),
        machine.policy.clone(),
        count(here),
        count(best),
        more,
    ]
}
