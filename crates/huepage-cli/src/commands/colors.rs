// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage colors`: finds the colors of a cache and classifies many pages.

use std::{process::ExitCode, time::Duration};

use anyhow::{Context, bail};
use huepage::{
    available_memory,
    color::{
        Chosen, Color, ColorError, ColorOracle, Evidence, FrameNumberCheck, FrameNumberOracle,
        MeasuredOracle, Method, Oracle, Survey, choose, pair_agreement,
    },
    list,
    mapping::{Mapping, PageAddr, PageKind, page_size},
    topology::CacheGeometry,
    units::Bytes,
};
use indicatif::ProgressBar;
use serde::Serialize;

use huepage_present::{
    number::{counted, percent_in_column},
    paragraph::wrap,
};

use crate::commands::cache_options::{CacheOptions, cache_of_cpu};

/// Find the colors of the cache and show how reliable they are
///
/// Two independent measurements must agree. If the colors cannot be trusted, none are
/// printed: a message lists what each attempt found, and the exit code is 1.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  huepage colors
  huepage colors --cpu 2 --pages 65536 --json
  huepage colors --cache size=2M,ways=16    if the machine declares none
  huepage colors --colors-by frame-number   needs CAP_SYS_ADMIN

Exit codes: 0 done, 1 no colors that can be trusted, or failed, 2 usage")]
pub struct Options {
    #[command(flatten)]
    cache: CacheOptions,

    /// How many pages to find the colors of
    #[arg(long, value_name = "N", default_value_t = 16384,
          value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    pages: u32,

    /// Print JSON (schema huepage.colors/1)
    #[arg(long)]
    json: bool,
}

/// What `--json` prints (schema huepage.colors/1).
#[derive(Debug, Serialize)]
pub struct ColorsReport {
    schema: &'static str,
    kind: &'static str,
    cpu: u32,
    pub method: Method,
    reason: String,
    cache: Option<CacheGeometry>,
    page_size: Bytes,
    expected_colors: Option<u32>,
    pub colors: u32,
    /// Null where colors come from frame numbers.
    measured_ways: Option<u32>,
    pub pages: usize,
    assigned: usize,
    /// Null if colors come from frame numbers, which are not measured twice.
    pub agreement: Option<f64>,
    class_sizes: Vec<usize>,
    pub seconds: Seconds,
    /// Null where frame numbers are hidden.
    pub frame_number_agreement: Option<f64>,
    /// The agreement of frame numbers that are unrelated to the colors.
    frame_number_agreement_by_chance: f64,
    attempts: usize,
    evidence: Evidence,
}

#[derive(Debug, Default, Serialize)]
pub struct Seconds {
    pub discover: f64,
    pub assign: f64,
    pub verify: f64,
}

/// Runs the command.
pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    let cache = options.cache.which.resolve()?;
    check_memory(options.pages)?;
    let mut chosen = choose(options.cache.colors_by, &cache.measure_options())
        .with_context(|| format!("colors of {}", options.cache.which.of_cpu(cache.cpu)))?;
    let report = survey(&mut chosen, cache.cpu, cache.geometry, options.pages as usize)?;
    super::print_report(&report, options.json, text)?;
    Ok(ExitCode::SUCCESS)
}

/// The kernel grants any mapping, and when pages run out it kills a process, maybe
/// another one: so this is checked first.
fn check_memory(pages: u32) -> anyhow::Result<()> {
    let wanted = Bytes(u64::from(pages) * page_size().0);
    match available_memory() {
        Some(available) if available < wanted => bail!(
            "{pages} pages are {wanted}, and {available} of memory are available: give fewer \
             with --pages"
        ),
        _ => Ok(()),
    }
}

/// Classifies `pages` fresh pages, and measures how reliable that is.
///
/// # Errors
/// If there are no pages, or they cannot be classified.
pub fn survey(
    chosen: &mut Chosen,
    cpu: u32,
    geometry: Option<CacheGeometry>,
    pages: usize,
) -> anyhow::Result<ColorsReport> {
    let mapping = Mapping::populated(pages, PageKind::Base)
        .with_context(|| format!("allocate {pages} pages"))?;
    let addresses: Vec<PageAddr> = mapping.iter().collect();
    let Chosen { oracle, check, reason, .. } = chosen;
    let mut seconds = Seconds::default();
    let mut agreement = None;
    let mut evidence = Evidence::default();
    let mut measured_ways = None;
    let colors = match oracle {
        Oracle::Measured(measured) => {
            let survey = survey_in_parts(measured, &addresses)?;
            let as_seconds = Duration::as_secs_f64;
            seconds = Seconds {
                discover: as_seconds(&measured.discover_time()),
                assign: as_seconds(&survey.assign),
                verify: as_seconds(&(measured.verify_time() + survey.verify)),
            };
            agreement = Some(survey.agreement);
            evidence = measured.evidence().clone();
            measured_ways = Some(measured.measured_ways()?);
            survey.colors
        }
        _ => {
            let begin = std::time::Instant::now();
            // SAFETY: the pages are those of `mapping`, which outlives the call.
            let colors = unsafe { oracle.classify(&addresses) }?;
            seconds.assign = begin.elapsed().as_secs_f64();
            colors
        }
    };
    let count = oracle.count();
    let mut class_sizes = vec![0; count.get() as usize];
    for color in colors.iter().flatten() {
        class_sizes[color.index()] += 1;
    }
    Ok(ColorsReport {
        schema: "huepage.colors/1",
        kind: "measured",
        cpu,
        method: oracle.method(),
        reason: reason.clone(),
        cache: geometry,
        page_size: page_size(),
        expected_colors: geometry.map(|cache| cache.colors(page_size()).get()),
        colors: count.get(),
        measured_ways,
        pages,
        assigned: class_sizes.iter().sum(),
        agreement,
        class_sizes,
        seconds,
        frame_number_agreement: frame_number_agreement(oracle, *check, &addresses, &colors),
        frame_number_agreement_by_chance: 1.0 / f64::from(count.get()),
        attempts: evidence.attempts.len(),
        evidence,
    })
}

/// Pages surveyed between two steps of the progress bar: a second or so.
const PART: usize = 1 << 16;

/// Surveys the pages, of a mapping that outlives the call, with progress on stderr if
/// that takes long and stderr is a terminal.
fn survey_in_parts(
    measured: &mut MeasuredOracle,
    pages: &[PageAddr],
) -> Result<Survey, ColorError> {
    let progress = match pages.len() > PART {
        true => ProgressBar::new(pages.len() as u64),
        false => ProgressBar::hidden(),
    };
    let mut all = Survey {
        colors: Vec::with_capacity(pages.len()),
        agreement: 0.0,
        assign: Duration::ZERO,
        verify: Duration::ZERO,
    };
    for part in pages.chunks(PART) {
        // SAFETY: the pages are mapped for the whole survey.
        let survey = unsafe { measured.survey(part) }?;
        all.agreement += survey.agreement * part.len() as f64 / pages.len() as f64;
        all.assign += survey.assign;
        all.verify += survey.verify;
        all.colors.extend(survey.colors);
        progress.inc(part.len() as u64);
    }
    progress.finish_and_clear();
    Ok(all)
}

/// From the pages surveyed if colors were measured; from the earlier check if frame
/// numbers were chosen, or if few pages were surveyed, since these have few pairs of
/// one color.
fn frame_number_agreement(
    oracle: &Oracle,
    check: Option<FrameNumberCheck>,
    pages: &[PageAddr],
    measured: &[Option<Color>],
) -> Option<f64> {
    let few = pages.len() < FrameNumberCheck::PAGES;
    if matches!(oracle, Oracle::FrameNumber(_)) || few && check.is_some() {
        return check.map(|check| check.agreement);
    }
    let mut frames = FrameNumberOracle::with_colors(oracle.count()).ok()?;
    // SAFETY: the caller's pages are mapped for the whole survey.
    let by_frame = unsafe { frames.classify(pages) }.ok()?;
    Some(pair_agreement(measured, &by_frame))
}

/// The report as text.
pub fn text(report: &ColorsReport) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    let percent = |share: f64| percent_in_column(Some(share), 2);
    let _ = writeln!(out, "{}", cache_of_cpu(report.cache.as_ref(), report.cpu));
    out.push_str(&wrap(&format!("by {}", report.reason), "  "));
    let _ = match report.expected_colors {
        Some(expected) => writeln!(out, "colors     {} of {expected} expected", report.colors),
        None => writeln!(out, "colors     {}", report.colors),
    };
    if let Some(ways) = report.measured_ways {
        let declared = report.cache.as_ref().map(|cache| cache.ways());
        let _ = match declared {
            None => writeln!(
                out,
                "ways       {ways} measured, so the cache holds {}",
                Bytes(u64::from(report.colors * ways) * report.page_size.0)
            ),
            Some(declared) if declared.abs_diff(ways) * 4 > declared => {
                writeln!(out, "ways       {ways} measured, {declared} declared: check the geometry")
            }
            Some(declared) => writeln!(out, "ways       {ways} measured, {declared} declared"),
        };
    }
    let _ = writeln!(
        out,
        "pages      {} of {} assigned ({})",
        report.assigned,
        report.pages,
        percent(report.assigned as f64 / report.pages as f64)
    );
    if let Some(agreement) = report.agreement {
        let _ = writeln!(
            out,
            "agreement  {} of pages, with an independent run at held-out lines",
            percent(agreement)
        );
    }
    if let Some(agreement) = report.frame_number_agreement {
        let _ = writeln!(
            out,
            "frame nos. {} of same-color pairs, {} by chance",
            percent(agreement),
            percent(report.frame_number_agreement_by_chance)
        );
    }
    let _ = writeln!(
        out,
        "time       {:.3} s discover, {:.3} s assign, {:.3} s verify, {}",
        report.seconds.discover,
        report.seconds.assign,
        report.seconds.verify,
        counted(report.attempts as u64, "attempt")
    );
    let _ = writeln!(out, "pages per color:");
    out + &rows_of_colors(report.class_sizes.iter().map(usize::to_string))
}

/// A cell for each color, eight in a row behind the range of their numbers.
pub fn rows_of_colors(cells: impl Iterator<Item = String>) -> String {
    let cells: Vec<String> = cells.map(|cell| format!("{cell:>8}")).collect();
    let rows = (0u32..).step_by(8).zip(cells.chunks(8)).map(|(first, row)| {
        let range: Vec<u32> = (first..first + row.len() as u32).collect();
        format!("{:>8} {}\n", list::format(&range), row.concat())
    });
    rows.collect()
}
