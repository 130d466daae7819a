// SPDX-License-Identifier: MIT OR Apache-2.0
//! The command `huepage-lab`: reads options, runs one subcommand, prints errors
//! in one place.

mod commands;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use huepage_present::options;

/// Boot real kernels under a modelled memory hierarchy and measure where pages land
///
/// Counts are exact and repeatable; times are modelled from stated latencies.
#[derive(Parser)]
#[command(name = "huepage-lab", version, max_term_width = 80)]
#[command(after_help = "Exit codes:
  0  done
  1  failed; the message says why and what to do
  2  usage: an option is wrong
  3  done in part; the message says which part is missing and why")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Cases(commands::cases::Options),
    Exec(commands::exec::Options),
    Kernel(commands::kernel::Options),
    Man(commands::man::Options),
    Merge(commands::merge::Options),
    Report(commands::report::Options),
    Run(commands::run::Options),
}

fn main() -> ExitCode {
    let cli: Cli = match options::read() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    match run(cli.command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("huepage-lab: {error:#}");
            ExitCode::from(if error.is::<commands::Usage>() { 2 } else { 1 })
        }
    }
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Cases(options) => commands::cases::run(options),
        Command::Exec(options) => commands::exec::run(options),
        Command::Kernel(options) => commands::kernel::run(options),
        Command::Man(options) => commands::man::run(&options, Cli::command()),
        Command::Merge(options) => commands::merge::run(options),
        Command::Report(options) => commands::report::run(options),
        Command::Run(options) => commands::run::run(options),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_their_attributes_fit_together() {
        Cli::command().debug_assert();
    }
}
