// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage-lab man`: the man pages, made from the options and their help.

use std::{fs, path::PathBuf, process::ExitCode};

use anyhow::Context;

/// Write the man pages into a directory, which is made if it does not exist
#[derive(clap::Args)]
pub struct Options {
    /// Where to write them
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Writes the pages of `command` and of all its subcommands.
pub fn run(options: &Options, command: clap::Command) -> anyhow::Result<ExitCode> {
    let context = || format!("writing man pages to {}", options.directory.display());
    fs::create_dir_all(&options.directory).with_context(context)?;
    clap_mangen::generate_to(command.disable_help_subcommand(true), &options.directory)
        .with_context(context)?;
    Ok(ExitCode::SUCCESS)
}
