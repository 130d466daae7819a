// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage demo`: topology, colors and benchmarks on this machine, in under two
//! minutes.

mod verdict;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, bail};
use huepage::{
    color::{ColorOracle, choose},
    topology::Pinned,
};

use huepage_present::{destination::Destination, paragraph::wrap, stdout};

use super::{bench, cache_options::CacheOptions, colors, topology};
use crate::{
    bench::{LOOK, Placement, Placements, Plan, Suite, Workbench, text, write_all},
    signals::Interrupted,
};

/// Find the colors, place memory by them, show the difference
///
/// Writes figures and pictures into a directory, in place of those of an earlier
/// demo.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  huepage demo
  huepage demo --time-limit 300 --out /tmp/demo

Exit codes: 0 done, 1 no colors that can be trusted, or failed, 2 usage")]
pub struct Options {
    #[command(flatten)]
    cache: CacheOptions,

    /// Directory for the pictures and the JSON reports
    #[arg(long, value_name = "DIR", default_value = "out")]
    out: PathBuf,

    /// Allocations of each placement; all exist at the same time
    #[arg(long, value_name = "N", default_value_t = 15,
          value_parser = clap::value_parser!(u32).range(6..=10_000))]
    allocations: u32,

    /// Seconds for the benchmarks; on a quiet machine they end sooner
    #[arg(long, value_name = "SECONDS", default_value_t = 80,
          value_parser = clap::value_parser!(u64).range(1..))]
    time_limit: u64,
}

/// Pages that are classified.
const PAGES: usize = 16384;
/// Visits to each allocation of the working sets, while time is left; the small
/// program of the second benchmark gets twice as many.
const VISITS: usize = 10;
/// The part of the time that the working sets get.
const WORKING_SET: f64 = 0.75;

/// Runs the demo.
///
/// # Errors
/// Any error of finding colors or placing memory.
pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    let cache = options.cache.which.resolve()?;
    make_directory(&options.out)?;
    let working_set_files = files(&options.out, "working-set")?;
    let repeat_files = files(&options.out, "repeat")?;
    section("topology", &topology::overview(cache.cpu, options.cache.which.cache)?)?;

    let _pinned = Pinned::to(cache.cpu)?;
    let measured = cache.measure_options();
    let mut chosen = choose(options.cache.colors_by, &measured)
        .with_context(|| format!("colors of CPU {}", cache.cpu))?;
    let survey = colors::survey(&mut chosen, cache.cpu, cache.geometry, PAGES)?;
    section("colors", &colors::text(&survey))?;

    let geometry = cache.geometry_or_measured(&mut chosen.oracle)?;
    let allocations = options.allocations as usize;
    let jobs = Suite::WorkingSet.jobs(geometry, &Placement::ALL);
    let count = chosen.oracle.count();
    let mut workbench =
        Placements::new(chosen, &jobs, &Placement::ALL, allocations, count, measured.seed)?;
    let mut measure = |suite: Suite, visits: usize, share_of_time: f64| {
        let plan = Plan {
            placements: suite.placements(&workbench.offers()),
            allocations,
            visits,
            time_limit: Duration::from_secs(options.time_limit).mul_f64(share_of_time),
            cpu: cache.cpu,
            seed: measured.seed,
        };
        let (report, samples) = bench::report(&mut workbench, suite, geometry, None, &plan)?;
        anyhow::Ok((report, samples.interrupted))
    };
    let (working_set, interrupted) = measure(Suite::WorkingSet, VISITS, WORKING_SET)?;
    section("working set", &text(&working_set))?;
    write_all(&working_set, &LOOK, &working_set_files, false, true)?;
    if interrupted {
        return Err(Interrupted.into());
    }
    let (repeat, _) = measure(Suite::Repeat, 2 * VISITS, 1.0 - WORKING_SET)?;
    section("repeat", &text(&repeat))?;
    write_all(&repeat, &LOOK, &repeat_files, false, true)?;
    let written: Vec<String> =
        working_set_files.iter().chain(&repeat_files).filter_map(Destination::file_name).collect();
    let verdict = verdict::verdict(&survey, &working_set, &repeat);
    section(
        "verdict",
        &format!(
            "{verdict}\n{}",
            wrap(&format!("Pictures and figures: {}", written.join(", ")), "  ")
        ),
    )?;
    Ok(ExitCode::SUCCESS)
}

/// The picture in both formats and the figures, which replace those of an earlier demo.
/// If they cannot be written, the error is printed before minutes are spent on
/// measuring.
fn files(directory: &Path, name: &str) -> anyhow::Result<Vec<Destination>> {
    let files = ["svg", "png", "json"].map(|suffix| directory.join(name).with_extension(suffix));
    let outputs: Vec<Destination> = files.into_iter().filter_map(Destination::to_file).collect();
    outputs.iter().try_for_each(|output| output.check(true))?;
    Ok(outputs)
}

/// Before anything is measured, since an error after it would waste minutes.
fn make_directory(path: &Path) -> anyhow::Result<()> {
    if path.exists() && !path.is_dir() {
        bail!("{} is no directory: choose another with --out", path.display());
    }
    fs::create_dir_all(path)
        .with_context(|| format!("cannot make the directory {}", path.display()))
}

fn section(title: &str, body: &str) -> std::io::Result<()> {
    stdout::print(format!("== {title} ==\n{}\n\n", body.trim_end()))
}
