// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage bench exec`: measures what placement gains for an unmodified program.

use std::{ffi::OsString, path::PathBuf, process::ExitCode, time::Duration};

use anyhow::Context;
use clap::{Args, value_parser};
use huepage::{
    color::palette::{Palette, PaletteOptions, PaletteState},
    list,
    topology::{Pinned, allowed_cpus},
};

use huepage_present::destination::Destination;

use crate::{
    bench::{
        Host, command_line,
        exec::{
            Arm, ExecReport, LOOK, Launcher, Plan, Program, SCHEMA, arms, measure, moments, shell,
            verdict,
        },
        words, write_all,
    },
    commands::{
        self,
        cache_options::{ResolvedCache, WhichCache},
    },
    usage::UsageError,
};

#[derive(Args)]
#[command(after_help = "\
The program runs in three arms: default, placed, and default once more as a
control. In each round all arms run once, in another order each time. Before
each run free memory is stirred, since a default run would get the frames of
the placed run before it. A run is quiet if no other program was seen to use
CPU or cache and the CPU was not slower; the time of the run does not matter.
Each figure has its 95 % interval.

A program of less than two seconds ends before it is placed. With
--run-option=--budget=100% it is placed at once; this costs CPU time, which
makes short programs slower.

Examples:
  huepage bench exec -- ./program --with options
  huepage bench exec --runs 40 -o run.svg -o run.json -o - -- sort file
  huepage bench exec --run-option=--share=1/4 -- ./program

Exit codes: 0 done, 1 this command or the program failed, 2 usage, 3 time was up
before all runs")]
pub struct Options {
    /// Runs of each arm; more follow while time is left, until each arm had N
    /// quiet runs. A verdict needs six
    #[arg(long, value_name = "N", default_value_t = 20,
          value_parser = value_parser!(u32).range(1..=100_000))]
    runs: u32,

    /// Warm-up runs of each arm, which do not count: they find the colors and the
    /// amount of memory of the program
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true,
          value_parser = value_parser!(u32).range(0..=1000))]
    warm: u32,

    /// Begin no round of runs after this time
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    time_limit: u64,

    /// Leave out the arm control
    #[arg(long)]
    no_control: bool,

    /// An option of 'huepage run' for placed runs; can be given more than once
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    run_option: Vec<OsString>,

    /// The CPU to run on [default: the last one available]
    #[arg(long, value_name = "N", conflicts_with = "all_cpus")]
    cpu: Option<u32>,

    /// Run on all available CPUs, for programs with several threads
    #[arg(long)]
    all_cpus: bool,

    /// Seed of all random choices [default: random]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Standard input of the program [default: empty]
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,

    /// Show what the program prints, on standard error
    #[arg(long)]
    show_output: bool,

    /// Go on if the program fails
    #[arg(short, long)]
    ignore_failure: bool,

    /// Have a shell run this before the first run
    #[arg(long, value_name = "COMMAND")]
    setup: Option<OsString>,

    /// Have a shell run this before each run
    #[arg(long, value_name = "COMMAND")]
    prepare: Option<OsString>,

    /// Print JSON (schema huepage.bench-exec/1) instead of text
    #[arg(long)]
    json: bool,

    /// Write to FILE.svg, .png, .json or .txt, or - for standard output; can be
    /// given more than once
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: Vec<Destination>,

    /// Overwrite files that exist
    #[arg(short, long)]
    force: bool,

    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Runs the arms and writes the report. Exit code 3 if time ran out before all runs.
///
/// # Errors
/// If the program cannot be run or placed, or a report cannot be written.
pub fn run(mut options: Options) -> anyhow::Result<ExitCode> {
    Destination::prepare(&mut options.output, options.json, options.force)?;
    let placed_by = placed_by(&options.run_option)?;
    let which = WhichCache { cpu: options.cpu, cache: None, seed: options.seed };
    let resolved = which.resolve()?;
    let cpus = if options.all_cpus { allowed_cpus()? } else { vec![resolved.cpu] };
    // Programs started here inherit the affinity.
    let _pinned = (!options.all_cpus).then(|| Pinned::to(resolved.cpu)).transpose()?;
    if let Some(setup) = &options.setup {
        shell("--setup", setup, options.show_output)?;
    }
    let seed = resolved.measure_options().seed;
    let (palette, looks) = palette(&resolved);
    let program = Program {
        command: options.program.clone(),
        placed_by: placed_by.clone(),
        input: options.input.clone(),
        show_output: options.show_output,
        ignore_failure: options.ignore_failure,
        prepare: options.prepare.clone(),
        cpus: cpus.clone(),
    };
    let mut launcher = Launcher::new(program, palette, seed)?;
    let plan = Plan {
        runs: options.runs as usize,
        warm: options.warm as usize,
        arms: Arm::ALL.into_iter().filter(|&a| a != Arm::Control || !options.no_control).collect(),
        time_limit: Duration::from_secs(options.time_limit),
        seed,
    };
    let (runs, interrupted) = measure(&mut launcher, &plan)?;
    let arms = arms(&runs, seed);
    let moments = moments(&runs);
    let report = ExecReport {
        schema: SCHEMA,
        kind: "measured",
        command: command_line(),
        program: words(&options.program),
        placed_by: std::iter::once("huepage".to_owned()).chain(words(&placed_by[1..])).collect(),
        machine: Host::here(resolved.cpu),
        cpus: list::format(&cpus),
        cache: resolved.geometry,
        looks,
        memory: launcher.memory().0,
        stirred: launcher.memory().1,
        warm: plan.warm,
        rounds: runs.last().map_or(0, |run| run.round + 1),
        verdict: verdict("elapsed time", &arms, |arm| &arm.elapsed, &moments),
        verdict_user: verdict("user time", &arms, |arm| &arm.user, &moments),
        moments,
        placing: launcher.placing,
        arms,
        runs,
    };
    write_all(&report, &LOOK, &options.output, options.json, options.force)?;
    Ok(super::in_part(report.rounds, plan.runs, "runs", options.time_limit, interrupted))
}

/// The palette for looks at the cache before and after each run, which is the one that
/// `huepage run` places by; it is made now if there is none. Also a sentence about it.
fn palette(resolved: &ResolvedCache) -> (Option<Palette>, String) {
    match Palette::open(&resolved.measure_options(), &PaletteOptions::new()) {
        Ok(palette) => {
            let state = match palette.state() {
                PaletteState::Found => "found",
                PaletteState::Repaired => "repaired",
                _ => "made",
            };
            let looks = format!(
                "a palette of {}, {state} on CPU {}",
                { huepage::color::ColorOracle::count(&palette) },
                palette.cpu()
            );
            (Some(palette), looks)
        }
        Err(why) => {
            eprintln!("huepage: runs are not checked for use of the cache by others: {why}");
            (None, format!("nothing ({why})"))
        }
    }
}

/// This command as `huepage run`; a program that cannot be placed is an error there.
fn placed_by(options: &[OsString]) -> anyhow::Result<Vec<OsString>> {
    let own = std::env::current_exe().context("cannot find the path of this command")?;
    let words = [own.into_os_string(), "run".into(), "--must".into()];
    let words: Vec<OsString> = words.into_iter().chain(options.iter().cloned()).collect();
    let program = ["--".into(), "program".into()];
    commands::run::Options::augment_args(clap::Command::new("huepage run"))
        .try_get_matches_from(words[1..].iter().cloned().chain(program))
        .map_err(|error| {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            UsageError(format!("--run-option: {}", first.trim_start_matches("error: ")))
        })?;
    Ok(words)
}
