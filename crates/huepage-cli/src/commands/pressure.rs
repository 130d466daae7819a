// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage pressure`: how much of the cache other programs use.

mod bins;
mod clocks;
mod output;
mod pace;
mod picture;
mod report;
mod scale;
mod shares;
mod tally;
mod text;
mod watch;

#[cfg(test)]
mod sample;

use std::{io, process::ExitCode, time::Duration};

use anyhow::{Context, anyhow};
use huepage::{
    color::{ColorError, MeasuredOracle},
    topology::Pinned,
};
pub use report::PressureReport;
use report::Subject;
use watch::Plan;

use huepage_present::destination::Destination;

use crate::{
    commands::cache_options::{ResolvedCache, WhichCache},
    seconds::seconds,
    signals::Interrupted,
};

/// Show how much of the cache other programs take, now or over time
///
/// Some ten times a second, a look reads lines of known colors into the cache, waits
/// 0.3 ms and times them again. Lines that are gone were evicted by other programs,
/// which ran on another hyperthread of the core (maybe in another virtual machine) or
/// interrupted the look. A program that runs on this CPU between two looks is not
/// seen. A look is quiet if no more lines are gone than on a quiet machine. Colors are
/// always measured, never taken from frame numbers.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  huepage pressure                        three seconds, then a summary
  huepage pressure --watch 1              a line every second, end with Ctrl-C
  huepage pressure --watch 60 >> log      plain lines, flushed one by one
  huepage pressure --watch 1 --count 60 -o pressure.png

What each column of --watch means:
  seconds       since the beginning
  looks         number of looks, and how many of them were quiet
  evicted       share of lines that others evicted: mean, median, p95 of looks
  most (color)  the same mean for the color that lost the most lines
  steal         share of the CPU's time that the hypervisor took, as in mpstat
  lost          looks during which other programs had the CPU for a while
  own           this program's own share of the CPU, always below 2 %

Exit codes: 0 done, 1 no colors that can be trusted, or failed, 2 usage")]
pub struct Options {
    /// Print a line every SECONDS, until Ctrl-C or --count
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    watch: Option<Duration>,

    /// End after N lines of --watch
    #[arg(long, value_name = "N", requires = "watch",
          value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,

    #[command(flatten)]
    cache: WhichCache,

    /// Print JSON (schema huepage.pressure/1); with --watch one object on each
    /// line, the last one for the whole run
    #[arg(long)]
    json: bool,

    /// Write the figures of the whole run to FILE.svg, .png, .json or .txt, or - for
    /// standard output; can be given more than once
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: Vec<Destination>,

    /// Overwrite files that exist
    #[arg(short, long)]
    force: bool,
}

/// How long it looks without `--watch`.
const ONCE: Duration = Duration::from_secs(3);
/// After this time a message says that others disturb the search for colors.
const UNHURRIED: Duration = Duration::from_secs(4);
/// How long the search then goes on: users who watch a neighbor have one.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs the command.
///
/// # Errors
/// If colors cannot be measured here, or a result cannot be written.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let mut outputs = options.output.clone();
    // The final report goes where lines or JSON went.
    let on_stdout = options.json || options.watch.is_some();
    Destination::prepare(&mut outputs, on_stdout, options.force)?;
    let cache = options.cache.resolve()?;
    let plan = Plan {
        interval: options.watch.unwrap_or(ONCE),
        count: options.watch.map_or(Some(1), |_| options.count),
        seed: options.cache.seed,
    };
    let mut lines = output::Lines::new(options.json);
    let report = observe(&cache, &plan, |interval| match options.watch {
        Some(_) => lines.print(interval),
        None => Ok(true),
    })?;
    output::write(&report, &outputs, options)?;
    Ok(ExitCode::SUCCESS)
}

/// Measures for `interval` what others evict from a cache.
///
/// # Errors
/// If colors cannot be measured here; [`Interrupted`] if a signal came before the end.
pub fn once(cache: &ResolvedCache, interval: Duration) -> anyhow::Result<PressureReport> {
    let mut over = false;
    let report = observe(cache, &Plan { interval, count: Some(1), seed: cache.seed }, |_| {
        over = true;
        Ok(true)
    })?;
    if over { Ok(report) } else { Err(Interrupted.into()) }
}

/// Finds the colors and watches; `each` gets the results of each interval.
fn observe(
    cache: &ResolvedCache,
    plan: &Plan,
    each: impl FnMut(&PressureReport) -> io::Result<bool>,
) -> anyhow::Result<PressureReport> {
    // For the whole run, so that no time is spent on a CPU with other caches.
    let _pinned = Pinned::to(cache.cpu)?;
    let mut oracle = discover(cache)?;
    let subject = Subject::new(cache, &oracle);
    watch::watch(&mut oracle, &subject, plan, each)
}

/// Finds the colors; if that fails, the error says that pressure cannot be measured.
fn discover(cache: &ResolvedCache) -> anyhow::Result<MeasuredOracle> {
    let mut measure = cache.measure_options();
    measure.time_limit = UNHURRIED;
    let found = match MeasuredOracle::discover(&measure) {
        Err(ColorError::NotTrusted(seen)) if !seen.is_unanimous() => {
            eprintln!(
                "huepage: other programs disturb the search for colors; it goes on for up to 30 s"
            );
            measure.time_limit = PATIENCE;
            MeasuredOracle::discover(&measure)
        }
        found => found,
    };
    found
        .map_err(|error| match error {
            // The error advises frame numbers, which help to place but not to watch.
            ColorError::NotAvailable(architecture) => anyhow!(
                "measuring colors is not available on {architecture}: evictions by others are \
                 found by timing, which needs the time stamp counter of x86_64"
            ),
            ColorError::NoTimeStamp => anyhow!(
                "measuring colors needs the rdtscp instruction, which this CPU or hypervisor does \
                 not offer: evictions by others are found by timing"
            ),
            other => other.into(),
        })
        .with_context(|| format!("pressure on the cache of CPU {}", cache.cpu))
}
