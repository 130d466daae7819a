// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage-lab man`: the man pages.

use std::{path::PathBuf, process::ExitCode};

use huepage_present::man;

/// Write the man pages into a directory, which is made if it does not exist
#[derive(clap::Args)]
pub struct Options {
    /// The directory for the pages
    #[arg(value_name = "DIR")]
    directory: PathBuf,

    /// Overwrite pages that exist
    #[arg(short, long)]
    force: bool,
}

/// Writes the pages of `command` and of all its subcommands.
pub fn run(options: &Options, command: clap::Command) -> anyhow::Result<ExitCode> {
    man::write(command, &options.directory, options.force)?;
    Ok(ExitCode::SUCCESS)
}
