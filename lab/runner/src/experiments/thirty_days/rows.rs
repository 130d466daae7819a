// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes rows of the guest's lines, one for each day.

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::json;

use crate::{
    boot::{NS_PER_INSTRUCTION, Report},
    experiment::{Case, Found, map},
};

/// The guest's line of a day.
#[derive(Debug, Deserialize)]
struct Said {
    day: u32,
    conflict_share: f64,
    touch_ns: f64,
    free_in_largest: f64,
    thp_success: f64,
    thp_compacting: Option<f64>,
}

/// A row for each day.
///
/// # Errors
/// A day that is missing, or out of order.
pub fn of(case: &Case, report: &Report) -> anyhow::Result<Vec<Found>> {
    let days: usize = case.argument("days")?.parse().context("days")?;
    let rows = report.said::<Said>().enumerate().map(|(next, said)| {
        let said = said?;
        ensure!(said.day as usize == next, "day {} where day {next} should be", said.day);
        let mut metrics = map([
            ("conflict_share", json!(said.conflict_share)),
            ("free_in_largest", json!(said.free_in_largest)),
            ("thp_success", json!(said.thp_success)),
            ("touch_instructions", json!((said.touch_ns / f64::from(NS_PER_INSTRUCTION)).round())),
        ]);
        if let Some(success) = said.thp_compacting {
            metrics.insert("thp_compacting".into(), json!(success));
        }
        Ok((map([("day", json!(said.day))]), metrics))
    });
    let rows: Vec<Found> = rows.collect::<anyhow::Result<_>>()?;
    ensure!(rows.len() == days + 1, "{} days of {}", rows.len(), days + 1);
    Ok(rows)
}
