// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading the options of a command.

use std::process::ExitCode;

use clap::Parser;

use crate::stdout;

/// Reads the options of this process, or prints the help, the version or an error about
/// the options.
///
/// # Errors
/// The exit code if the program is to end: 0 after help and version, 2 for a wrong
/// option, 1 with a message if the help could not be written. If the reader of standard
/// output has closed it, that is no error.
pub fn read<Options: Parser>() -> Result<Options, ExitCode> {
    Options::try_parse().map_err(|told| match stdout::is_read(told.print()) {
        Err(error) if !told.use_stderr() => {
            eprintln!("{}: {error}", Options::command().get_name());
            ExitCode::FAILURE
        }
        _ => ExitCode::from(u8::try_from(told.exit_code()).unwrap_or(2)),
    })
}
