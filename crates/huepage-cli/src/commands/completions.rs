// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage completions`: prints scripts by which a shell completes options.

use huepage_present::stdout;
use std::process::ExitCode;

use clap_complete::{Shell, generate};

/// Print completions for a shell
#[derive(clap::Args)]
#[command(after_help = "Examples:
  huepage completions bash > /etc/bash_completion.d/huepage
  huepage completions fish > ~/.config/fish/completions/huepage.fish")]
pub struct Options {
    /// The shell to complete in
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the completions of `command`.
///
/// # Errors
/// If standard output cannot be written.
pub fn run(options: &Options, mut command: clap::Command) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    generate(options.shell, &mut command, "huepage", &mut script);
    stdout::print(&String::from_utf8(script)?)?;
    Ok(ExitCode::SUCCESS)
}
