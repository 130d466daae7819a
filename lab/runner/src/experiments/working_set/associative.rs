// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compares placements with a fully associative cache of the same size, in which
//! placement has no effect.

use super::{
    FULL,
    find::{Machine, OWN, find, machines, programs},
};
use crate::results::{Results, Row, Table, cell, change, table_by, thousands};

/// Misses of the kernel's own placements; nothing if no such cache was run.
pub(super) fn table(results: &Results) -> Option<(String, Table)> {
    let all = machines(results);
    let reads = results.values("eighths").into_iter().map(|size| ("read".to_owned(), size));
    let works: Vec<(String, String)> = reads.chain(programs(results)).collect();
    let full = |arch: &str| all.iter().find(|m| m.arch == arch && m.l2_ways == FULL);
    full(&all.first()?.arch)?;
    let mut rows = Vec::new();
    for (work, size) in &works {
        for placement in OWN {
            for machine in all.iter().filter(|machine| machine.l2_ways != FULL) {
                let Some(full) = full(&machine.arch) else { continue };
                let row = |machine: &Machine| find(results, machine, work, placement, size);
                rows.extend(row(machine).zip(row(full)));
            }
        }
    }
    let table = table_by::<(&Row, &Row)>(
        &[
            ("arch", &|(here, _)| here.setting("arch")),
            ("work", &|(here, _)| match here.setting("work").as_str() {
                "read" => format!("read {}/8", here.setting("eighths")),
                program => format!("{program} {}", here.setting("size")),
            }),
            ("placement", &|(here, _)| here.setting("placement")),
            ("L2 ways", &|(here, _)| here.setting("l2_ways")),
            ("policy", &|(here, _)| here.setting("policy")),
            ("L2 misses", &|(here, _)| cell(misses(here), thousands)),
            ("fully associative", &|(_, best)| cell(misses(best), thousands)),
            ("more", &|(here, best)| match (misses(here), misses(best)) {
                (Some(here), Some(best)) if best > 0.0 => change(Some(here), Some(best)),
                (Some(here), Some(_)) => format!("{} lines", thousands(here)),
                _ => "–".into(),
            }),
        ],
        rows,
    );
    Some(("Beside a fully associative L2 (misses, mean of repeats)".into(), table))
}

fn misses(row: &Row) -> Option<f64> {
    row.metric("l2_misses")
}
