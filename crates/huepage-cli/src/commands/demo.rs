// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage demo`: all of it on the machine at hand, in under a minute.

mod verdict;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, bail};
use huepage::{
    color::choose,
    topology::{CacheGeometry, Pinned},
};

use super::{bench, cache_options::CacheOptions, colors, topology};
use crate::{
    bench::{Placements, Plan, Report, Suite, Workbench, text, write_all},
    destination::Destination,
    output,
    wrap::wrap,
};

/// Find the colors, place memory by them, show the difference
///
/// Writes the figures and pictures into a directory of its own and replaces
/// those of an earlier demo there.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  huepage demo
  huepage demo --samples 30 --out /tmp/demo

Exit codes: 0 done, 1 no colors that can be trusted, or failed, 2 usage")]
pub struct Options {
    #[command(flatten)]
    cache: CacheOptions,

    /// Directory for the pictures and the JSON reports
    #[arg(long, value_name = "DIR", default_value = "out")]
    out: PathBuf,

    /// Fresh allocations per placement and size
    #[arg(long, value_name = "N", default_value_t = 15,
          value_parser = clap::value_parser!(u32).range(3..=10_000))]
    samples: u32,
}

/// Pages whose colors are told.
const PAGES: usize = 16384;
/// No round of a benchmark begins after this time: the demo as a whole is to
/// end within a minute.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Runs the demo.
///
/// # Errors
/// Whatever keeps colors from being found or memory from being placed.
pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    let cache = options.cache.resolve()?;
    make_directory(&options.out)?;
    let working_set_files = files(&options.out, "working-set")?;
    let repeat_files = files(&options.out, "repeat")?;
    section("topology", &topology::overview(cache.cpu, options.cache.cache)?)?;

    let _pinned = Pinned::to(cache.cpu)?;
    let measured = cache.measure_options();
    let mut chosen = choose(options.cache.colors_by, &measured)
        .with_context(|| format!("colors of CPU {}", cache.cpu))?;
    let survey = colors::survey(&mut chosen, cache.cpu, cache.geometry, PAGES)?;
    section("colors", &colors::text(&survey))?;

    let geometry = cache.geometry_or_measured(&mut chosen.oracle)?;
    let largest = Suite::WorkingSet.jobs(geometry).iter().map(|job| job.bytes).max();
    let largest = largest.context("a suite without jobs")?;
    let all = crate::bench::Placement::ALL;
    let mut workbench = Placements::new(chosen, largest, &all, measured.seed)?;
    let working_set =
        measure(&mut workbench, Suite::WorkingSet, options.samples, cache.cpu, geometry)?;
    section("working set", &text(&working_set))?;
    let repeat = measure(&mut workbench, Suite::Repeat, 2 * options.samples, cache.cpu, geometry)?;
    section("repeat", &text(&repeat))?;

    write_all(&working_set, &working_set_files, false, true)?;
    write_all(&repeat, &repeat_files, false, true)?;
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

/// The picture in both formats and the figures, to be written over those of an
/// earlier demo. What keeps them from being written is told before minutes are
/// spent on measuring.
fn files(directory: &Path, name: &str) -> anyhow::Result<Vec<Destination>> {
    let files = ["svg", "png", "json"].map(|suffix| directory.join(name).with_extension(suffix));
    let outputs: Vec<Destination> = files.into_iter().filter_map(Destination::to_file).collect();
    outputs.iter().try_for_each(|output| output.check(true))?;
    Ok(outputs)
}

/// Before anything is measured, since minutes would be lost after it.
fn make_directory(path: &Path) -> anyhow::Result<()> {
    if path.exists() && !path.is_dir() {
        bail!("{} is no directory: choose another with --out", path.display());
    }
    fs::create_dir_all(path)
        .with_context(|| format!("cannot make the directory {}", path.display()))
}

fn measure<W: Workbench>(
    workbench: &mut W,
    suite: Suite,
    samples: u32,
    cpu: u32,
    cache: CacheGeometry,
) -> anyhow::Result<Report> {
    let placements = suite.placements(&workbench.offers());
    bench::report(
        workbench,
        suite,
        &Plan { placements, samples, time_limit: TIME_LIMIT },
        cpu,
        cache,
    )
}

fn section(title: &str, body: &str) -> std::io::Result<()> {
    output::print(format!("== {title} ==\n{}\n\n", body.trim_end()))
}
