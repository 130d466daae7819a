// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds rows of `working-set`, and computes figures from one or two of them.

use super::{CACHE_PAGES, theory};
use crate::results::{Results, Row, distinct};

/// Placements that the kernel chooses.
pub(super) const OWN: [&str; 2] = ["fresh", "aged"];
/// The settings in which boots differ.
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

    /// In the columns of tables.
    pub fn head(&self) -> [&str; 3] {
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

/// The theory of random pages: the share of misses at a size.
pub(super) fn random_theory(machine: &Machine, eighths: &str) -> Option<f64> {
    let (ways, eighths): (u64, u64) = (machine.l2_ways.parse().ok()?, eighths.parse().ok()?);
    Some(theory::random_miss_share(CACHE_PAGES * eighths / 8, CACHE_PAGES / ways, ways))
}

/// The cost of a miss in these rows.
pub(super) fn miss_cost(results: &Results) -> f64 {
    results.first("miss_cost").parse().unwrap_or(1.0)
}
