// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage bench`: measures what placement gains on this machine.

mod exec;

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, bail};
use clap::{Args, Subcommand, value_parser};
use huepage::{
    color::{ColorOracle, choose, palette::PaletteOptions},
    mapping::page_size,
    topology::{CacheGeometry, Pinned},
};

use huepage_present::destination::{Destination, check_file};

use super::cache_options::CacheOptions;
use crate::bench::{
    BenchReport, CacheShare, Host, LOOK, Placement, Placements, Plain, Plan, Preparation, SCHEMA,
    Samples, Suite, Workbench, command_line, measure, memory, moments, rows, verdict, write_all,
};

/// Options of `huepage bench`.
#[derive(Args)]
#[command(after_help = "Examples:
  huepage bench working-set -o chase.svg -o chase.json -o -
  huepage bench repeat --placements default,balanced
  huepage bench matmul --cache-share 1/4 --json
  huepage bench exec -- ./program

Exit codes: 0 done, 1 failed, 2 usage, 3 time was up before all visits")]
pub struct Options {
    #[command(subcommand)]
    what: What,
}

const EXIT_CODES: &str = "\
Allocations of all placements exist at the same time and are measured in turns.
Speeds are given for quiet moments and for all moments. A moment is quiet if no
other program was seen to use CPU or cache and the CPU was not slower; the speed
measured in it does not matter. Each figure has its 95 % interval.

Exit codes: 0 done, 1 failed, 2 usage, 3 time was up before all visits";

#[derive(Subcommand)]
enum What {
    /// Pointer chase and sequential read, from 1/8 to 12/8 of the cache
    #[command(after_help = EXIT_CODES)]
    WorkingSet(Common),
    /// Multiply 1000x1000 doubles in blocks that fill the cache
    #[command(after_help = EXIT_CODES)]
    Matmul(Common),
    /// Transform 64k and 1M points, and as many as fit the cache
    #[command(after_help = EXIT_CODES)]
    Fft(Common),
    /// Repeat a small program; compare its times between allocations
    #[command(after_help = EXIT_CODES)]
    Repeat(Common),
    /// Compare runs of any program with and without placement
    Exec(exec::Options),
}

#[derive(Args)]
struct Common {
    /// Allocations of each placement; all exist at the same time [default: 15;
    /// matmul, fft: 8]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=10_000))]
    allocations: Option<u32>,

    /// Visits (measurements) of each allocation; more follow while time is left,
    /// until each allocation had N in quiet moments
    #[arg(long, value_name = "N", default_value_t = 12,
          value_parser = value_parser!(u32).range(2..=100_000))]
    visits: u32,

    #[command(flatten)]
    cache: CacheOptions,

    /// Use the palette that programs share (huepage palette), which is made if there
    /// is none, instead of finding the colors anew
    #[arg(long)]
    palette: bool,

    /// Use only a part of the cache, such as 1/4: the pages of all placements then
    /// come from a pool with this part of the colors
    #[arg(long, value_name = "N/M")]
    cache_share: Option<CacheShare>,

    /// Placements to compare [default: those of the benchmark that work here]
    #[arg(long, value_name = "LIST", value_enum, value_delimiter = ',')]
    placements: Vec<Placement>,

    /// Begin no round of visits after this time
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    time_limit: u64,

    /// Print JSON (schema huepage.bench/2) instead of text
    #[arg(long)]
    json: bool,

    /// Write to FILE.svg, .png, .json or .txt, or - for standard output; can be
    /// given more than once
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: Vec<Destination>,

    /// Write each timed slice as a line of JSON (schema huepage.bench-samples/1)
    #[arg(long, value_name = "FILE")]
    samples_file: Option<PathBuf>,

    /// Overwrite files that exist
    #[arg(short, long)]
    force: bool,
}

/// Measures and writes the report. Exit code 3 if time ran out before all visits.
///
/// # Errors
/// If memory cannot be placed as asked, or a report cannot be written.
pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    let (suite, mut common) = match options.what {
        What::WorkingSet(common) => (Suite::WorkingSet, common),
        What::Matmul(common) => (Suite::Matmul, common),
        What::Fft(common) => (Suite::Fft, common),
        What::Repeat(common) => (Suite::Repeat, common),
        What::Exec(options) => return exec::run(options),
    };
    Destination::prepare(&mut common.output, common.json, common.force)?;
    if let Some(path) = &common.samples_file {
        check_file(path, common.force)?;
    }
    let resolved = common.cache.which.resolve()?;
    let _pinned = Pinned::to(resolved.cpu)?;
    let seed = resolved.measure_options().seed;
    let allocations = common.allocations.unwrap_or(suite.allocations()) as usize;
    let plan = Plan {
        placements: common.placements.clone(),
        allocations,
        visits: common.visits as usize,
        time_limit: Duration::from_secs(common.time_limit),
        cpu: resolved.cpu,
        seed,
    };
    if !common.placements.is_empty() && common.placements.iter().all(|p| p.is_plain()) {
        if common.cache_share.is_some() {
            bail!("--cache-share needs placements from a pool, such as random,balanced");
        }
        let cache = resolved.geometry.context(
            "working sets are measured against the size of the L2, which is not declared here: \
             give it with --cache size=SIZE,ways=N",
        )?;
        let mut plain = Plain::probe(seed);
        let jobs = suite.jobs(cache, &common.placements);
        memory::check(memory::plain(&jobs, &common.placements, allocations), allocations)?;
        return run_on(&mut plain, suite, cache, plan, &common);
    }
    let mut options = resolved.measure_options();
    options.palette = common.palette.then(PaletteOptions::new);
    let preparation = Preparation::new("finding the colors of the cache");
    let mut chosen = choose(common.cache.colors_by, &options)
        .context("no colors to place by (--placements default,thp needs none)")?;
    let whole = resolved.geometry_or_measured(&mut chosen.oracle)?;
    let cache = common.cache_share.map_or(Ok(whole), |share| share.of(whole))?;
    let count = match common.cache_share {
        Some(_) => cache.colors(page_size()),
        None => chosen.oracle.count(),
    };
    let placements = chosen_placements(&common.placements, suite, &Placement::ALL);
    let jobs = suite.jobs(cache, &placements);
    preparation.next("placing the allocations that are compared");
    let mut workbench = Placements::new(chosen, &jobs, &placements, allocations, count, seed)?;
    drop(preparation);
    run_on(&mut workbench, suite, cache, plan, &common)
}

fn run_on<W: Workbench>(
    workbench: &mut W,
    suite: Suite,
    cache: CacheGeometry,
    plan: Plan,
    common: &Common,
) -> anyhow::Result<ExitCode> {
    let placements = chosen_placements(&plan.placements, suite, &workbench.offers());
    let plan = Plan { placements, ..plan };
    let (report, samples) = report(workbench, suite, cache, common.cache_share, &plan)?;
    let written = write_all(&report, &LOOK, &common.output, common.json, common.force);
    if let Some(path) = &common.samples_file {
        write_samples(&samples, path).with_context(|| format!("writing {}", path.display()))?;
    }
    written?;
    let (done, wanted) = (samples.blocks, plan.visits);
    Ok(in_part(done, wanted, "visits", common.time_limit, samples.interrupted))
}

/// The reason why a run ended before all was done, and its exit code.
fn in_part(done: usize, wanted: usize, what: &str, time_limit: u64, interrupted: bool) -> ExitCode {
    if done >= wanted {
        return ExitCode::SUCCESS;
    }
    let why = match interrupted {
        true => "interrupted".to_owned(),
        false => format!("in {time_limit} s; give more with --time-limit"),
    };
    eprintln!("huepage: done in part: {done} of {wanted} {what}, {why}");
    ExitCode::from(3)
}

/// Runs a suite, and reports the result with machine and method. `share` is the part of
/// the machine's cache that `cache` is.
///
/// # Errors
/// If memory cannot be placed.
pub fn report<W: Workbench>(
    workbench: &mut W,
    suite: Suite,
    cache: CacheGeometry,
    share: Option<CacheShare>,
    plan: &Plan,
) -> anyhow::Result<(BenchReport, Samples)> {
    let jobs = suite.jobs(cache, &plan.placements);
    let samples = measure(workbench, &jobs, cache, plan)?;
    let rows = rows(&samples, plan.seed);
    let moments = moments(&samples);
    let report = BenchReport {
        schema: SCHEMA,
        kind: "measured",
        command: command_line(),
        machine: Host::here(plan.cpu),
        cache,
        cache_share: share.map(|share| share.to_string()),
        memory: workbench.describe(),
        allocations: plan.allocations,
        visits: samples.blocks,
        quiet_share: moments.quiet,
        verdict: verdict(&rows, cache, &moments),
        moments,
        ceilings: samples.ceilings.clone(),
        rows,
    };
    Ok((report, samples))
}

fn write_samples(samples: &Samples, path: &Path) -> anyhow::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    samples.write(&mut out)?;
    Ok(out.flush()?)
}

/// The placements asked for, each once, in the order of tables; by default the suite's
/// own choice.
fn chosen_placements(asked: &[Placement], suite: Suite, offered: &[Placement]) -> Vec<Placement> {
    if asked.is_empty() {
        return suite.placements(offered);
    }
    Placement::ALL.into_iter().filter(|placement| asked.contains(placement)).collect()
}
