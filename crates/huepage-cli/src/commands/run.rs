// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage run`: places the memory of an unmodified program.

pub mod backend;
mod library;
mod parts;
mod program;

use std::{
    ffi::{OsStr, OsString},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::{Context, bail, ensure};
use clap::ValueEnum;
use huepage::{
    color::{
        MeasureOptions,
        palette::{Palette, PaletteOptions},
    },
    mapping::page_size,
    run::{CONFIG, Config, Order, Way},
    topology::CacheOverride,
};

use huepage_present::{
    destination,
    replace::{Named, named},
};

use crate::commands::{cache_options::WhichCache, recording};
use backend::{Backend, Chosen};

/// Run a program with its memory placed by color
///
/// The program is executed in place of this command: process, exit code, signals,
/// terminal and streams are those of the program. If the kernel places pages by color,
/// it places the program's. Otherwise a further thread in the program exchanges the
/// frames behind its pages while it runs, which needs CAP_SYS_PTRACE. Without this
/// capability the program gets another malloc, whose memory is placed before the
/// program gets it; its other memory is not placed. If nothing can be placed, a
/// message says so and the program runs unplaced; with --must, --colors or --share
/// it does not run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  huepage run -- ./program --with options
  huepage run -v --report run.json -- sort file
  huepage run --colors 0-7 -- ./noisy       use only a part of the cache
  huepage run --share 1/4 -- ./server       a quarter that no other share has
  huepage run --must -- ./program           fail if it cannot be placed
  huepage run --backend heap -- ./program   malloc's memory, without privilege

Exit codes: the program's own; 125 this command failed, 126 the program
cannot be executed, 127 it was not found, 2 usage")]
pub struct Options {
    /// How the color of a page is chosen
    #[arg(long, value_enum, value_name = "HOW", default_value = "balanced")]
    policy: Policy,

    /// Use only these colors, such as 0-7,16
    #[arg(long, value_name = "LIST", value_parser = parts::listed)]
    colors: Option<String>,

    /// Use a part of the colors, such as 1/4, that no other program with --share or
    /// --colors has
    #[arg(long, value_name = "PART", value_parser = parts::part, conflicts_with = "colors")]
    share: Option<f64>,

    /// List the programs that use --colors or --share, and their colors
    #[arg(long, exclusive = true)]
    list: bool,

    /// Place only this memory
    #[arg(long, value_enum, value_name = "WHAT", default_value = "anonymous")]
    only: Only,

    /// Split transparent huge pages and place them too; for virtual machines whose
    /// host does not back them by huge pages
    #[arg(long)]
    split_huge: bool,

    /// How colors are found and pages placed
    #[arg(long, value_enum, value_name = "HOW", default_value = "auto")]
    backend: Backend,

    /// Share of a CPU's time that placing may take, without the time to find the
    /// colors. Placing begins once this share covers the first pages: by default
    /// after two seconds. With the backend heap, memory of twice the cache is placed
    /// in any case
    #[arg(long, value_name = "SHARE", default_value = "1%", value_parser = parts::share)]
    budget: f64,

    /// Find the colors before the program starts
    #[arg(long)]
    wait: bool,

    /// Write a report to FILE while the program runs and at its end, as JSON (schema
    /// huepage.run/1); an existing file is replaced. Processes that the program forks
    /// or executes write to FILE.PID. A program that ends within 20 ms has no report
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Also place the processes that the program forks or executes (the default)
    #[arg(long, overrides_with = "no_follow_forks")]
    follow_forks: bool,

    /// Place only the program itself
    #[arg(long)]
    no_follow_forks: bool,

    /// Fail if the program cannot be placed, instead of running it unplaced
    #[arg(long)]
    must: bool,

    /// Print how pages are placed and why, and at the end how many were placed
    ///
    /// The last message goes to the standard error of the program. If the program closes
    /// it before its end, as sort and ls do, only --report shows how many were placed.
    #[arg(short, long)]
    verbose: bool,

    /// Geometry of the cache, in place of the declared one
    #[arg(long, value_name = "size=S,ways=W[,line=L][,level=N]")]
    cache: Option<CacheOverride>,

    /// The program and its arguments
    #[arg(required_unless_present = "list", trailing_var_arg = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

impl Options {
    /// Options given that have no effect with this backend.
    fn unheeded(&self, backend: Chosen) -> Vec<&'static str> {
        let kernel = backend == Chosen::Kernel;
        let asked = [
            (kernel && self.policy == Policy::Sequence, "--policy sequence"),
            (kernel && self.only == Only::Heap, "--only heap"),
            ((kernel || backend == Chosen::Heap) && self.split_huge, "--split-huge"),
            (kernel && self.report.is_some(), "--report"),
            (kernel && self.no_follow_forks, "--no-follow-forks"),
        ];
        asked.into_iter().filter_map(|(asked, name)| asked.then_some(name)).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Policy {
    /// All colors equally often in each window of addresses as large as the cache
    Balanced,
    /// The colors in turn, in the order in which pages are found
    Sequence,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Only {
    /// All private anonymous memory
    Anonymous,
    /// The heap that grows by brk
    Heap,
}

/// Exit codes of commands that execute others, as in env(1).
const FAILED: u8 = 125;
const CANNOT_EXECUTE: u8 = 126;
const NOT_FOUND: u8 = 127;

/// Runs the command: returns only if the program is not executed.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    if options.list {
        return parts::list();
    }
    let path = std::env::var_os("PATH");
    let name = &options.program[0];
    let file = match program::find(name, path.as_deref()) {
        Ok(file) => file,
        Err(program::NotRunnable::NotFound) => {
            return Ok(fail(NOT_FOUND, &format!("{}: not found", name.display())));
        }
        Err(program::NotRunnable::NoPermission(file)) => {
            return Ok(fail(CANNOT_EXECUTE, &format!("{}: not executable", file.display())));
        }
    };
    let report = match options.report.as_deref().map(report_file).transpose() {
        Ok(report) => report,
        Err(why) => return Ok(fail(FAILED, &format!("--report: {why:#}"))),
    };
    let mut command = Command::new(&file);
    command.arg0(name).args(&options.program[1..]);
    match prepare(options, &file, report, &mut command) {
        Ok(()) => {}
        // A part of the cache was asked for: without placing, the program would use all
        // of it.
        Err(why) if options.must || options.colors.is_some() || options.share.is_some() => {
            return Ok(fail(FAILED, &format!("{why:#}")));
        }
        Err(why) => {
            say(&format!("the program runs but is not placed: {why:#}"));
        }
    }
    let error = command.exec();
    Ok(fail(CANNOT_EXECUTE, &format!("{}: {error}", file.display())))
}

/// The file for the report, whatever directory the program changes to.
///
/// # Errors
/// If it cannot be written, before the program runs without a report.
fn report_file(path: &Path) -> anyhow::Result<PathBuf> {
    ensure!(!recording::is_dash(path), "standard output belongs to the program: name a file");
    destination::check_file(path, true)?;
    match named(path)? {
        Named::File(file) => Ok(std::path::absolute(file)?),
        Named::Stream => {
            bail!("{} is no regular file: name one, which the report can replace", path.display())
        }
    }
}

fn say(what: &str) {
    eprint!("{}", huepage_present::escape::lines(&format!("huepage: {what}\n")));
}

fn fail(code: u8, why: &str) -> ExitCode {
    say(why);
    ExitCode::from(code)
}

/// Sets up a program that can be placed.
///
/// # Errors
/// Why it cannot be placed.
fn prepare(
    options: &Options,
    file: &Path,
    report: Option<PathBuf>,
    command: &mut Command,
) -> anyhow::Result<()> {
    let cache = WhichCache { cpu: None, cache: options.cache, seed: None }.resolve()?;
    let geometry = cache.geometry.context("no cache is declared: give one with --cache")?;
    let (backend, reason) = backend::choose(options.backend, cache.cpu, geometry)?;
    // A message always says that memory is left unplaced.
    let less = backend == Chosen::Heap && options.backend == Backend::Auto;
    if options.verbose || less {
        say(&reason);
    }
    let unheeded = options.unheeded(backend);
    if !unheeded.is_empty() {
        let who = if backend == Chosen::Kernel { "the kernel places" } else { "malloc places" };
        let why = format!("{who}, so there is no effect of {}", unheeded.join(", "));
        ensure!(!options.must, "{why}: leave it out, or use --backend measure");
        say(&why);
    }
    if backend == Chosen::Kernel {
        let count = backend::kernel_colors()?;
        let colors =
            parts::colors(options.colors.as_deref(), options.share, count, &options.program[0])?;
        return backend::color_by_kernel(colors.as_deref());
    }
    program::check(file)?;
    let library = match backend {
        Chosen::Heap => library::find(Way::Heap).with_context(|| reason.clone())?,
        _ => {
            let library = library::find(Way::Live)?;
            backend::may_place()?;
            library
        }
    };
    let palettes = PaletteOptions::new();
    // Memory that malloc gives before there is a palette stays unplaced.
    let missing = backend == Chosen::Heap && !Palette::is_there(&geometry, &palettes);
    if missing || options.wait && backend != Chosen::FrameNumber {
        Palette::open(&MeasureOptions::new(cache.cpu, Some(geometry)), &palettes)?;
    }
    let count = geometry.colors(page_size());
    let colors =
        parts::colors(options.colors.as_deref(), options.share, count, &options.program[0])?;
    let config = Config {
        first: std::process::id(),
        follow: !options.no_follow_forks,
        geometry,
        palettes: palettes.own,
        by_frame_number: backend == Chosen::FrameNumber,
        reason,
        order: match options.policy {
            Policy::Balanced => Order::Balanced,
            Policy::Sequence => Order::Sequence,
        },
        colors,
        heap_only: options.only == Only::Heap,
        split_huge: options.split_huge,
        budget: options.budget,
        delay: delay(),
        report,
        verbose: options.verbose,
        restless: std::env::var_os("HUEPAGE_RUN_RESTLESS").is_some(),
        remap: std::env::var_os("HUEPAGE_RUN_REMAP").is_some(),
    };
    command.env(CONFIG, config.encode());
    command.env("LD_PRELOAD", first(library.as_os_str(), std::env::var_os("LD_PRELOAD")));
    Ok(())
}

/// Milliseconds in which the program is not looked at, since many programs end within
/// them. The variable is for tests.
fn delay() -> u32 {
    const DELAY: u32 = 20;
    std::env::var("HUEPAGE_RUN_DELAY").ok().and_then(|text| text.parse().ok()).unwrap_or(DELAY)
}

/// The library before those that were to be loaded in any case.
fn first(library: &OsStr, others: Option<OsString>) -> OsString {
    let mut list = library.to_owned();
    if let Some(others) = others.filter(|others| !others.is_empty()) {
        list.push(":");
        list.push(others);
    }
    list
}
