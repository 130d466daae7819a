// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command `huepage`: reads options, runs one subcommand, prints errors in
//! one place.

mod bench;
mod commands;
mod output;
mod wrap;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use huepage::{
    color::ColorError,
    topology::{ChoiceError, PinError},
};

/// Decides where physical memory pages land: finds the colors of the cache,
/// places memory by them, shows the difference.
#[derive(Parser)]
#[command(name = "huepage", version, max_term_width = 80)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Topology(commands::topology::Options),
    Colors(commands::colors::Options),
    Demo(commands::demo::Options),
    /// Measure what placement is worth on this machine
    Bench(commands::bench::Options),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli.command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("huepage: {error:#}");
            exit_code(&error)
        }
    }
}

/// 2 for a CPU that is not there: the option is wrong, though only the machine
/// can tell. Else 1.
fn exit_code(error: &anyhow::Error) -> ExitCode {
    let is_usage = error.chain().any(|cause| {
        let no_cpu = |e: &PinError| matches!(e, PinError::NotAllowed { .. });
        cause.downcast_ref().is_some_and(no_cpu)
            || matches!(cause.downcast_ref(), Some(ColorError::Pin(e)) if no_cpu(e))
            || matches!(cause.downcast_ref(), Some(ChoiceError::NoSuchCpu { .. }))
    });
    if is_usage { ExitCode::from(2) } else { ExitCode::FAILURE }
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Topology(options) => commands::topology::run(options),
        Command::Colors(options) => commands::colors::run(options),
        Command::Demo(options) => commands::demo::run(options),
        Command::Bench(options) => commands::bench::run(options),
    }
}
