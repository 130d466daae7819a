// SPDX-License-Identifier: MIT OR Apache-2.0
//! `zero-pages` (S3): the cost of a single zero page behind all untouched memory, and
//! the effect of several zero pages.
//!
//! The cache that hot frames and zero pages compete for is an L2 of eight colors behind
//! an L1 of one, where the same offset of any page is in the same set, or an L1 of four
//! colors.

mod page;

use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use huepage::units::Bytes;
use serde_json::Value;

use crate::{
    boot::{Machine, Report},
    experiment::{self, Case, Experiment, Found, PAGE, map},
    kernel::Variant,
    model::{Level, Model, Replacement},
    settings::Settings,
};

/// Regions of the tables; the guest warms the caches in region 100.
const TABLES: [(&str, u32); 5] =
    [("frames", 1), ("thrash", 2), ("scan", 3), ("full", 4), ("partition", 5)];
/// Rounds of the source, by table.
const SOURCE_ROUNDS: [(&str, u64); 2] = [("frames", 1_000_000), ("thrash", 8_000_000)];

/// The cache that hot frames and zero pages compete for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fought {
    /// 32 KiB of 2 ways.
    L1,
    /// 256 KiB of 8 ways, behind an L1 of 32 KiB and 8 ways.
    L2,
}

impl Fought {
    fn ways(self) -> u32 {
        match self {
            Fought::L1 => 2,
            Fought::L2 => 8,
        }
    }

    fn size(self) -> u64 {
        match self {
            Fought::L1 => 32 << 10,
            Fought::L2 => 256 << 10,
        }
    }

    /// Pages to a way.
    fn colors(self) -> u64 {
        self.size() / u64::from(self.ways()) / PAGE
    }
}

impl std::str::FromStr for Fought {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "l1" => Ok(Fought::L1),
            "l2" => Ok(Fought::L2),
            _ => Err(format!("no cache '{name}' is fought over; there are l1, l2")),
        }
    }
}

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "zero-pages",
    about: "Cache sets fought over by contiguous frames and by zero pages (S3)",
    remarks: include_str!("zero_pages.md"),
    settings: &[
        ("arch", "x86_64,arm64", "x86_64,arm64"),
        ("fought", "l2,l1", "l2,l1"),
        ("replacement", "lru,random", "lru,random"),
        ("zeros", "stock,1,2,4,8", "stock,1,2,4,8"),
        ("frames", "1,2,3,4,5,6,7,8,9,10,12,16", "7,8,9,16"),
        ("frame_rounds", "1000000", "10000"),
        ("thrash_rounds", "400000", "8000"),
        ("scan_rounds", "20000", "1000"),
    ],
    cases,
    rows,
    finish: |_| Ok(()),
    page: page::page,
};

fn cases(settings: &Settings, variant: Variant) -> anyhow::Result<Vec<Case>> {
    for count in settings.parsed::<u64>("frames")? {
        ensure!(
            (1..=512).contains(&count),
            "setting frames={count}: 1 to 512 frames are contiguous in a huge page"
        );
    }
    let mut arguments = Vec::new();
    for name in ["frame_rounds", "thrash_rounds", "scan_rounds"] {
        let rounds: u64 = settings.only(name)?;
        ensure!(rounds > 0, "setting {name}=0: there is nothing to count");
        arguments.push((name.to_owned(), rounds.to_string()));
    }
    let grid = settings.grid(&["arch", "fought", "replacement", "zeros"]);
    let cases = grid.iter().map(|point| {
        let fought: Fought = point.parsed("fought")?;
        let zeros = point.text("zeros");
        let mut machine = Machine::plain(1, Bytes(256 << 20));
        let mut arguments = arguments.clone();
        let frames = match has_table("frames", zeros, fought) {
            true => settings.values("frames").join(","),
            false => String::new(),
        };
        arguments.extend(experiment::arguments([
            ("colors", fought.colors().to_string()),
            ("ways", fought.ways().to_string()),
            ("zeros", zeros.to_owned()),
            ("frames", frames),
        ]));
        if zeros != "stock" {
            let _: u32 = point.parsed("zeros")?;
            // Color sets are for the cache that the kernel is given.
            machine.kernel_options = vec![
                format!("zero_pages={zeros}"),
                format!("page_color={}K,ways={}", fought.size() >> 10, fought.ways()),
            ];
        }
        Ok(Case {
            arch: point.parsed("arch")?,
            variant: if zeros == "stock" { variant } else { Variant::Huepage },
            arguments,
            model: Some(model(fought, replacement(point.text("replacement"))?)),
            regions: regions(zeros, fought),
            settings: point.json(),
            limit: Duration::from_secs(1800),
            ..Case::of("zero-pages", machine)
        })
    });
    cases.collect()
}

fn rows(_: &Case, report: &Report) -> anyhow::Result<Vec<Found>> {
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
                told[name].as_u64().with_context(|| format!("a result of {table} without {name}"))
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
            for name in ["frames", "backing", "hot", "zero_reads", "mapped"] {
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

/// The table of contiguous frames does not depend on zero pages, and the stock kernel
/// has no partitions.
fn has_table(table: &str, zeros: &str, fought: Fought) -> bool {
    match table {
        "frames" => zeros == "stock" && fought == Fought::L2,
        "partition" => zeros != "stock",
        _ => true,
    }
}

fn regions(zeros: &str, fought: Fought) -> Vec<u32> {
    let tables = TABLES.iter().filter(|(table, _)| has_table(table, zeros, fought));
    tables.map(|(_, region)| *region).collect()
}

fn replacement(name: &str) -> anyhow::Result<Replacement> {
    serde_json::from_value(name.into())
        .map_err(|_| anyhow!("setting replacement={name}: lru, tree-plru, random or qlru"))
}

/// Random replacement, if chosen, is in the cache that is competed for; the other one
/// is an LRU.
fn model(fought: Fought, replacement: Replacement) -> Model {
    let [(l1_ways, l1), (l2_ways, l2)] = match fought {
        Fought::L1 => [(fought.ways(), replacement), (8, Replacement::Lru)],
        Fought::L2 => [(8, Replacement::Lru), (fought.ways(), replacement)],
    };
    Model {
        levels: vec![
            Level::private("L1", Bytes::kib(32), l1_ways, l1, 4),
            Level::private("L2", Bytes::kib(256), l2_ways, l2, 15),
        ],
        ..Model::uncached(100)
    }
}

#[cfg(test)]
mod tests;
