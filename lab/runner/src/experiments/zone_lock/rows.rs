// SPDX-License-Identifier: MIT OR Apache-2.0
//! Computes figures per page from the guest's lines.

use anyhow::ensure;
use serde::Deserialize;

use super::WORKS;
use crate::{
    boot::{NS_PER_INSTRUCTION, Report},
    experiment::{Found, map},
};

/// The guest's lines: one for each kind of work in each round.
#[derive(Debug, Deserialize)]
struct Said {
    work: String,
    pages: f64,
    acquired: f64,
    held_ns: f64,
    longest_ns: f64,
}

/// One row for each kind of work; rounds become means. The longest hold of all is given
/// if there is one CPU: with more, a hold may contain another CPU's instructions.
pub(super) fn of(report: &Report, cpus: u32) -> anyhow::Result<Vec<Found>> {
    let said: Vec<Said> = report.said().collect::<anyhow::Result<_>>()?;
    let ns = f64::from(NS_PER_INSTRUCTION);
    let row = |work: &str| {
        let rounds: Vec<&Said> = said.iter().filter(|said| said.work == work).collect();
        ensure!(!rounds.is_empty(), "the guest did not '{work}'");
        let sum = |of: fn(&Said) -> f64| rounds.iter().map(|said| of(said)).sum::<f64>();
        let pages = sum(|said| said.pages);
        let acquired = sum(|said| said.acquired);
        let held = sum(|said| said.held_ns) / ns;
        let longest = rounds.iter().map(|said| said.longest_ns / ns).fold(0.0, f64::max);
        let mut metrics = map([
            ("acquired_per_page", rounded(acquired / pages).into()),
            ("held_per_page", rounded(held / pages).into()),
            ("held_at_once", rounded(held / acquired.max(1.0)).into()),
        ]);
        if cpus == 1 {
            metrics.insert("longest".into(), longest.round().into());
        }
        Ok((map([("work", work.into())]), metrics))
    };
    WORKS.iter().map(|work| row(work)).collect()
}

fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
