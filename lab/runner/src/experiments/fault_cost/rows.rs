// SPDX-License-Identifier: MIT OR Apache-2.0
//! Computes instructions per page from regions.

use anyhow::{Context, ensure};
use serde::Deserialize;

use super::{WORKS, functions::Functions, is_late};
use crate::{
    boot::Report,
    experiment::{Found, map},
    results::{Figures, Row, rounded},
};

/// The guest's lines.
#[derive(Debug, Deserialize)]
struct Said {
    work: String,
    pages: u64,
}

/// One row for each kind of work; rounds become means.
pub(super) fn of(report: &Report) -> anyhow::Result<Vec<Found>> {
    let (said, seen) = (report.results.len(), report.records.len());
    ensure!(said == seen, "the model saw {seen} regions, the guest tells of {said}");
    let mut of_work: Vec<Vec<f64>> = vec![Vec::new(); WORKS.len()];
    let mut functions: Vec<Functions> = vec![Functions::default(); WORKS.len()];
    for (number, (said, record)) in report.said::<Said>().zip(&report.records).enumerate() {
        let said = said?;
        let work = WORKS.iter().position(|(name, _)| *name == said.work);
        let work = work.with_context(|| format!("the guest did '{}'", said.work))?;
        ensure!(
            WORKS[work].1 == record.region,
            "region {} where the guest tells of '{}'",
            record.region,
            said.work
        );
        of_work[work].push(record.instructions as f64 / said.pages as f64);
        if let Some(executed) = report.functions.get(number) {
            functions[work].add(executed, said.pages);
        }
    }
    let works = WORKS.iter().zip(of_work).zip(functions);
    let done = works.filter(|(((work, _), rounds), _)| !is_late(work) || !rounds.is_empty());
    let rows = done.map(|(((work, _), rounds), functions)| {
        let figures = Figures::of(rounds).with_context(|| format!("the guest did not '{work}'"))?;
        let mut metrics = map([
            ("instructions_per_page", rounded(figures.mean).into()),
            ("least", rounded(figures.least).into()),
            ("most", rounded(figures.most).into()),
        ]);
        if let Some(functions) = functions.per_page() {
            metrics.insert("functions".into(), functions);
        }
        Ok((map([("work", (*work).into())]), metrics))
    });
    rows.collect()
}

/// Adds the instructions of each row beyond the stock kernel's, as a share of the
/// latter.
pub(super) fn beside_stock(rows: &mut [Row]) {
    let cost = |row: &Row| row.metric("instructions_per_page");
    let all = rows.to_vec();
    for row in rows.iter_mut().filter(|row| row.setting("policy") != "stock") {
        let mut settings = row.settings.clone();
        settings.insert("policy".into(), "stock".into());
        let stock = all.iter().find(|other| other.settings == settings).and_then(cost);
        if let Some((here, stock)) = cost(row).zip(stock) {
            row.metrics.insert("beyond_stock".into(), rounded(here / stock - 1.0).into());
        }
    }
}
