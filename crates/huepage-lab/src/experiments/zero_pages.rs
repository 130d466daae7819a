// SPDX-License-Identifier: MIT OR Apache-2.0
//! `zero-pages` (S3): what it costs that all untouched memory is one zero page.
//!
//! L1 has one page to a way, so the same offset of any page is in the same set;
//! L2 has eight pages, so eight colors, to a way.

mod picture;
mod shown;

use std::time::Duration;

use anyhow::{Context, ensure};
use huepage::units::Bytes;
use serde_json::Value;

use crate::{
    boot::{Machine, Report},
    experiment::{Case, Experiment, Found, Scale, map},
    kernel::{Config, Variant},
    model::{Level, Model, Replacement, Scope},
    results::{Plot, Results, Table},
    settings::Settings,
};

/// Pages to a way of the modelled L2, so colors.
const COLORS: u64 = 8;
/// Regions of the tables; the guest warms the caches in region 100.
const TABLES: [(&str, u32); 3] = [("frames", 1), ("thrash", 2), ("scan", 3)];
/// Rounds of the source, by table.
const SOURCE_ROUNDS: [(&str, u64); 2] = [("frames", 1_000_000), ("thrash", 8_000_000)];

/// The experiment.
pub struct ZeroPages;

impl Experiment for ZeroPages {
    fn name(&self) -> &'static str {
        "zero-pages"
    }

    fn about(&self) -> &'static str {
        "Cache sets fought over by contiguous frames and by the one zero page"
    }

    fn settings(&self, scale: Scale) -> Settings {
        let (frames, [frame, thrash, scan]) = match scale {
            Scale::Full => ("1,2,3,4,5,6,7,8,9,10,12,16", ["1000000", "8000000", "100000"]),
            Scale::Quick => ("7,8,9,16", ["10000", "80000", "1000"]),
        };
        Settings::new(&[
            ("arch", "x86_64,arm64"),
            ("l2_replacement", "lru,random"),
            ("frames", frames),
            ("frame_rounds", frame),
            ("thrash_rounds", thrash),
            ("scan_rounds", scan),
        ])
    }

    fn cases(&self, settings: &Settings, variant: Variant) -> anyhow::Result<Vec<Case>> {
        for count in settings.parsed::<u64>("frames")? {
            ensure!(
                (1..=512).contains(&count),
                "setting frames={count}: 1 to 512 frames are contiguous in a huge page"
            );
        }
        let mut arguments = vec![
            ("colors".to_owned(), COLORS.to_string()),
            ("frames".to_owned(), settings.values("frames").join(",")),
        ];
        for name in ["frame_rounds", "thrash_rounds", "scan_rounds"] {
            let rounds: u64 = settings.only(name)?;
            ensure!(rounds > 0, "setting {name}=0: there is nothing to count");
            arguments.push((name.to_owned(), rounds.to_string()));
        }
        let grid = settings.grid(&["arch", "l2_replacement"]);
        let cases = grid.iter().map(|point| {
            Ok(Case {
                arch: point.parsed("arch")?,
                variant,
                config: Config::Plain,
                machine: Machine::plain(1, Bytes(256 << 20)),
                guest: "zero-pages",
                arguments: arguments.clone(),
                model: Some(model(replacement(point.text("l2_replacement"))?)),
                regions: TABLES.iter().map(|(_, region)| *region).collect(),
                settings: point.json(),
                limit: Duration::from_secs(1800),
            })
        });
        cases.collect()
    }

    fn rows(&self, _: &Case, report: &Report) -> anyhow::Result<Vec<Found>> {
        let regions = TABLES.map(|(_, region)| region);
        let records: Vec<_> =
            report.records.iter().filter(|record| regions.contains(&record.region)).collect();
        ensure!(
            records.len() == report.results.len(),
            "the model saw {} regions, the guest tells of {}",
            records.len(),
            report.results.len()
        );
        report
            .results
            .iter()
            .zip(records)
            .map(|(told, record)| {
                let table = told["table"].as_str().context("a result without a table")?;
                ensure!(
                    TABLES.contains(&(table, record.region)),
                    "region {} where the guest tells of {table}",
                    record.region
                );
                let number = |name: &str| {
                    told[name]
                        .as_u64()
                        .with_context(|| format!("a result of {table} without {name}"))
                };
                let (rounds, reads) = (number("rounds")?, number("reads")?);
                let (l1, l2) = match record.levels.as_slice() {
                    [l1, l2] => (l1, l2),
                    levels => anyhow::bail!("{} levels in a record, not two", levels.len()),
                };
                let others = record.accesses.checked_sub(reads).with_context(|| {
                    format!("{} accesses, but {reads} reads of the guest alone", record.accesses)
                })?;
                let mut settings = map([("table", table.into())]);
                for name in ["frames", "backing", "hot", "zero_reads"] {
                    if let Some(value) = told.get(name) {
                        settings.insert(name.into(), value.clone());
                    }
                }
                let per_round = |count: u64| Value::from(count as f64 / rounds as f64);
                let mut metrics = map([
                    ("rounds", rounds.into()),
                    ("reads", reads.into()),
                    ("other_accesses", others.into()),
                    ("instructions", record.instructions.into()),
                    ("l1_misses", l1.misses.into()),
                    ("l2_misses", l2.misses.into()),
                    ("modelled_cycles", record.cycles.into()),
                    ("l1_misses_per_round", per_round(l1.misses)),
                    ("l2_misses_per_round", per_round(l2.misses)),
                    ("modelled_cycles_per_round", per_round(record.cycles)),
                ]);
                if let Some(zero_frames) = told.get("zero_frames") {
                    metrics.insert("zero_frames".into(), zero_frames.clone());
                }
                if let Some((_, theirs)) = SOURCE_ROUNDS.iter().find(|(name, _)| *name == table) {
                    let factor = *theirs as f64 / rounds as f64;
                    metrics.insert("times_source_rounds".into(), factor.into());
                }
                Ok((settings, metrics))
            })
            .collect()
    }

    fn tables(&self, results: &Results) -> Vec<(String, Table)> {
        shown::tables(results)
    }

    fn plot(&self, results: &Results) -> Plot {
        picture::plot(results)
    }

    fn against_source(&self, results: &Results) -> (String, Table) {
        shown::against_source(results)
    }

    fn remarks(&self) -> &'static str {
        shown::REMARKS
    }
}

fn replacement(name: &str) -> anyhow::Result<Replacement> {
    match name {
        "lru" => Ok(Replacement::Lru),
        "tree-plru" => Ok(Replacement::TreePlru),
        "random" => Ok(Replacement::Random),
        _ => anyhow::bail!("setting l2_replacement={name}: lru, tree-plru or random"),
    }
}

fn model(l2_replacement: Replacement) -> Model {
    let level = |name: &str, size, replacement, latency| Level {
        name: name.into(),
        size: Bytes(size),
        ways: 8,
        line: Bytes(64),
        replacement,
        scope: Scope::Private,
        latency,
    };
    Model {
        levels: vec![
            level("L1", 32 << 10, Replacement::Lru, 4),
            level("L2", COLORS * 8 * 4096, l2_replacement, 15),
        ],
        ..Model::uncached(100)
    }
}

#[cfg(test)]
mod tests;
