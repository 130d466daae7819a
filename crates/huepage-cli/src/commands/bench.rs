// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage bench`: what placement is worth on this machine.

use std::{process::ExitCode, time::Duration};

use anyhow::Context;
use clap::{Args, Subcommand, value_parser};
use huepage::{
    color::choose,
    topology::{CacheGeometry, Pinned},
};

use super::cache_options::CacheOptions;
use crate::bench::{
    Kind, Machine, Placement, Placements, Plain, Plan, Report, Schema, Suite, Workbench, measure,
    write_all,
};
use crate::destination::Destination;

/// Options of `huepage bench`.
#[derive(Args)]
#[command(after_help = "Examples:
  huepage bench working-set -o chase.svg -o chase.json -o -
  huepage bench repeat --placements default,balanced
  huepage bench fft --samples 30 --json

Exit codes: 0 done, 1 failed, 2 usage, 3 time was up before all samples")]
pub struct Options {
    #[command(subcommand)]
    what: What,
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 usage, 3 time was up before all samples";

#[derive(Subcommand)]
enum What {
    /// Pointer chase and sequential read, from 1/8 to 12/8 of the cache
    #[command(after_help = EXIT_CODES)]
    WorkingSet(Common),
    /// Multiply 1000x1000 doubles in blocks that fill the cache
    #[command(after_help = EXIT_CODES)]
    Matmul(Common),
    /// Transform 64k and 1M complex doubles
    #[command(after_help = EXIT_CODES)]
    Fft(Common),
    /// Repeat a small program: does it take the same time every time?
    #[command(after_help = EXIT_CODES)]
    Repeat(Common),
}

#[derive(Args)]
struct Common {
    /// Fresh allocations per placement [default: 15; repeat: 30]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=100_000))]
    samples: Option<u32>,

    #[command(flatten)]
    cache: CacheOptions,

    /// Placements to compare [default: what this machine can serve]
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',')]
    placements: Vec<Placement>,

    /// Begin no further round after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    time_limit: u64,

    /// JSON (schema huepage.bench/1) instead of text on standard output
    #[arg(long)]
    json: bool,

    /// Write to FILE.svg, .png, .json or .txt, or - for standard output; can be
    /// given more than once
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: Vec<Destination>,

    /// Overwrite files that exist
    #[arg(short, long)]
    force: bool,
}

/// Measures and writes the report. Exit code 3 if time ran out before all
/// samples were taken.
///
/// # Errors
/// If memory cannot be placed as asked, or a report cannot be written.
pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    let (suite, mut common) = match options.what {
        What::WorkingSet(common) => (Suite::WorkingSet, common),
        What::Matmul(common) => (Suite::Matmul, common),
        What::Fft(common) => (Suite::Fft, common),
        What::Repeat(common) => (Suite::Repeat, common),
    };
    // Asked for on standard output, it goes there beside any file.
    if common.json && !common.output.contains(&Destination::Stdout) {
        common.output.push(Destination::Stdout);
    }
    for output in &common.output {
        output.check(common.force)?;
    }
    let cache = common.cache.resolve()?;
    let _pinned = Pinned::to(cache.cpu)?;
    let needs_colors = |p: &Placement| !matches!(p, Placement::Default | Placement::Thp);
    if !common.placements.is_empty() && !common.placements.iter().any(needs_colors) {
        let geometry = cache.geometry.context(
            "working sets are measured against the size of the L2, which is not declared here: \
             give it with --cache size=SIZE,ways=N",
        )?;
        return run_on(&mut Plain::probe(), suite, &common, cache.cpu, geometry);
    }
    let measured = cache.measure_options();
    let mut chosen = choose(common.cache.colors_by, &measured)
        .context("no colors to place by (--placements default,thp needs none)")?;
    let geometry = cache.geometry_or_measured(&mut chosen.oracle)?;
    let largest = suite.jobs(geometry).iter().map(|job| job.bytes).max().context("no jobs")?;
    let placements = chosen_placements(&common.placements, suite, &Placement::ALL);
    let mut workbench = Placements::new(chosen, largest, &placements, measured.seed)?;
    run_on(&mut workbench, suite, &common, cache.cpu, geometry)
}

fn run_on<W: Workbench>(
    workbench: &mut W,
    suite: Suite,
    common: &Common,
    cpu: u32,
    cache: CacheGeometry,
) -> anyhow::Result<ExitCode> {
    let plan = Plan {
        placements: chosen_placements(&common.placements, suite, &workbench.offers()),
        samples: common.samples.unwrap_or(suite.samples()),
        time_limit: Duration::from_secs(common.time_limit),
    };
    let report = report(workbench, suite, &plan, cpu, cache)?;
    write_all(&report, &common.output, common.json, common.force)?;
    let taken = report.samples_taken();
    if taken < plan.samples as usize {
        eprintln!(
            "huepage: done in part: {taken} of {} rounds in {} s; give more with --time-limit",
            plan.samples, common.time_limit
        );
        return Ok(ExitCode::from(3));
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs a suite and says where and how.
///
/// # Errors
/// If memory cannot be placed.
pub fn report<W: Workbench>(
    workbench: &mut W,
    suite: Suite,
    plan: &Plan,
    cpu: u32,
    cache: CacheGeometry,
) -> anyhow::Result<Report> {
    let rows = measure(workbench, &suite.jobs(cache), plan)?;
    Ok(Report {
        schema: Schema::V1,
        kind: Kind::Measured,
        command: std::env::args().collect::<Vec<_>>().join(" "),
        machine: Machine::here(cpu),
        cache,
        memory: workbench.describe(),
        samples_wanted: plan.samples,
        rows,
    })
}

/// The placements asked for, each once, in the order of tables; the suite's own
/// choice where none is asked for.
fn chosen_placements(asked: &[Placement], suite: Suite, offered: &[Placement]) -> Vec<Placement> {
    if asked.is_empty() {
        return suite.placements(offered);
    }
    Placement::ALL.into_iter().filter(|placement| asked.contains(placement)).collect()
}
