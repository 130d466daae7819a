// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command `huepage`: reads options, runs one subcommand, prints errors in
//! one place.

mod advice;
mod bench;
mod commands;
mod cpu_ticks;
mod exit_text;
mod seconds;
mod signals;
mod usage;

use std::{
    io::{IsTerminal, stderr},
    process::ExitCode,
};

use clap::{CommandFactory, Parser, Subcommand};
use huepage::{
    color::ColorError,
    map::MapError,
    topology::{ChoiceError, PinError},
};

use huepage_present::{escape, options, paragraph::wrap};
use signals::Interrupted;
use usage::UsageError;

/// Decide where physical memory pages land
///
/// Finds the colors of the cache, places memory by them, and measures what a program
/// gains. Most commands that report figures have --json.
#[derive(Parser)]
#[command(name = "huepage", version, max_term_width = 80)]
#[command(after_help = "Examples:
  huepage demo              topology, colors, two benchmarks; pictures in out/
  huepage colors            the colors of the cache, and how reliable they are
  huepage map postgres      where the pages of that process are
  huepage pressure          how much of the cache other programs take
  huepage run -- ./program  a program with its memory placed
  huepage bench repeat      how much a program's time varies with its pages
  huepage help colors       the help of one command

Exit codes:
  0  done
  1  failed; the message says why and what to do
  2  usage: an option is wrong, or names a CPU or process that does not
     exist
  3  done in part; the message says which part is missing and why")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Topology(commands::topology::Options),
    Colors(commands::colors::Options),
    Palette(commands::palette::Options),
    Map(commands::map::Options),
    Merged(commands::merged::Options),
    Pressure(commands::pressure::Options),
    Run(commands::run::Options),
    Demo(commands::demo::Options),
    /// Measure what programs gain by placement on this machine
    Bench(commands::bench::Options),
    Export(commands::export::Options),
    Features(commands::features::Options),
    Bugreport(commands::bugreport::Options),
    Completions(commands::completions::Options),
    Man(commands::man::Options),
}

fn main() -> ExitCode {
    let cli: Cli = match options::read() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    match run(cli.command) {
        Ok(code) => code,
        Err(error) => {
            eprint!("{}", message(&error, stderr().is_terminal()));
            exit_code(&error)
        }
    }
}

/// The printed text of an error: within 80 columns on a terminal, unbroken for logs and
/// for searching.
fn message(error: &anyhow::Error, terminal: bool) -> String {
    // Names in it may come from other programs.
    let option = error.chain().find_map(advice::option);
    let option = option.map_or(String::new(), |option| format!(": {option}"));
    let text = escape::lines(&format!("huepage: {error:#}{option}\n"));
    if terminal { text.lines().map(|line| wrap(line, "    ")).collect() } else { text }
}

/// 2 for a CPU or process that does not exist: the option is wrong, though that depends
/// on the machine. Otherwise 1.
fn exit_code(error: &anyhow::Error) -> ExitCode {
    let is_usage = error.chain().any(|cause| {
        let no_cpu = |e: &PinError| matches!(e, PinError::NotAllowed { .. });
        cause.downcast_ref().is_some_and(no_cpu)
            || matches!(cause.downcast_ref(), Some(ColorError::Pin(e)) if no_cpu(e))
            || matches!(cause.downcast_ref(), Some(ChoiceError::NoSuchCpu { .. }))
            || matches!(cause.downcast_ref(), Some(MapError::NoProcess { .. }))
            || cause.is::<UsageError>()
    });
    // As a shell reports a program that a signal ended.
    const BY_CTRL_C: u8 = 128 + libc::SIGINT as u8;
    match () {
        () if error.is::<Interrupted>() => ExitCode::from(BY_CTRL_C),
        () if is_usage => ExitCode::from(2),
        () => ExitCode::FAILURE,
    }
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Topology(options) => commands::topology::run(options),
        Command::Colors(options) => commands::colors::run(options),
        Command::Palette(options) => commands::palette::run(options),
        Command::Map(options) => commands::map::run(options),
        Command::Merged(options) => commands::merged::run(options),
        Command::Pressure(options) => commands::pressure::run(&options),
        Command::Run(options) => commands::run::run(&options),
        Command::Demo(options) => commands::demo::run(options),
        Command::Bench(options) => commands::bench::run(options),
        Command::Export(options) => commands::export::run(&options),
        Command::Features(options) => commands::features::run(&options),
        Command::Bugreport(options) => commands::bugreport::run(&options),
        Command::Completions(options) => commands::completions::run(&options, Cli::command()),
        Command::Man(options) => commands::man::run(&options, Cli::command()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_their_attributes_fit_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn causes_stand_once_and_options_behind_them() {
        let denied = || std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let json = || serde_json::from_str::<u8>("x").unwrap_err();
        let errors: [anyhow::Error; 11] = [
            ColorError::Palette(huepage::color::palette::PaletteError::System {
                action: "read it".into(),
                cause: denied(),
            })
            .into(),
            ColorError::System { action: "read it", source: denied() }.into(),
            MapError::System { action: "read it".into(), source: denied() }.into(),
            huepage::place::PlaceError::System { action: "read it", source: denied() }.into(),
            PinError::System(denied()).into(),
            huepage::topology::MeasureError::Memory(denied()).into(),
            huepage::map::RegisterError::System(denied()).into(),
            huepage::topology::RecordError::Json(json()).into(),
            huepage::map::MapRecordError::Json(json()).into(),
            "size=x,ways=1".parse::<huepage::topology::CacheOverride>().unwrap_err().into(),
            "size=1M,ways=7".parse::<huepage::topology::CacheOverride>().unwrap_err().into(),
        ];
        for error in errors {
            let text = message(&error, false);
            let causes: Vec<String> = error.chain().skip(1).map(ToString::to_string).collect();
            for cause in causes.iter().chain([&error.root_cause().to_string()]) {
                assert_eq!(text.matches(cause.as_str()).count(), 1, "{text}");
            }
        }
        let text = message(&ColorError::FrameNumbersHidden.into(), false);
        assert!(
            text.ends_with("colors can still be measured: --colors-by measurement\n"),
            "{text}"
        );
        assert!(!ColorError::FrameNumbersHidden.to_string().contains("--"));
    }

    #[test]
    fn a_message_is_broken_for_people_only() {
        let error = anyhow::anyhow!("{}\n  attempt 1: {}", "word ".repeat(20), "9 % ".repeat(30));
        let broken = message(&error, true);
        assert!(broken.lines().all(|line| line.chars().count() <= 80), "{broken}");
        assert!(broken.contains("\n  attempt 1: 9 %"), "{broken}");
        assert_eq!(message(&error, false), format!("huepage: {error}\n"));
    }
}
