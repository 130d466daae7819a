// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage man`: the man pages.

use std::{path::PathBuf, process::ExitCode};

use huepage_present::man;

/// Write the man pages into a directory
///
/// One page per command: huepage.1, huepage-colors.1, … The directory is made
/// if it does not exist.
#[derive(clap::Args)]
#[command(after_help = "Example:
  huepage man /usr/local/share/man/man1")]
pub struct Options {
    /// The directory for the pages
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Overwrite pages that exist
    #[arg(short, long)]
    force: bool,
}

/// Writes the pages of `command` and of all its subcommands.
///
/// # Errors
/// As [`man::write`].
pub fn run(options: &Options, command: clap::Command) -> anyhow::Result<ExitCode> {
    man::write(command, &options.directory, options.force)?;
    Ok(ExitCode::SUCCESS)
}
