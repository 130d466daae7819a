// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage-lab cases`: the boots of an experiment by name, for schedulers.

use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use huepage_lab::{cases, results::words, workspace::Workspace};
use huepage_present::stdout::print;

use super::grid::{Grid, after_help};

/// List the boots of an experiment; run --case runs them one by one
///
/// A name is a hash of all that the boot depends on: this program, the sources of kernel,
/// guest and model, the guest's machine and the settings.
#[derive(Args)]
#[command(after_help = after_help())]
pub struct Options {
    #[command(flatten)]
    grid: Grid,
    /// Print JSON: a list of objects with id, arch, variant, config and settings
    #[arg(long)]
    json: bool,
}

/// Prints them, a line each.
pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    let (_, cases) = options.grid.cases()?;
    let ids = cases::ids(&Workspace::find()?, options.grid.experiment(), &cases)?;
    let both = ids.iter().zip(&cases);
    if options.json {
        let list: Vec<_> = both
            .map(|(id, case)| {
                json!({
                    "id": id, "arch": case.arch.name(), "variant": case.variant.name(),
                    "config": case.config.name(), "settings": case.settings,
                })
            })
            .collect();
        print(&(serde_json::to_string_pretty(&list)? + "\n"))?;
    } else {
        let lines = both.map(|(id, case)| format!("{id} {}\n", words(&case.settings)));
        print(lines.collect::<String>())?;
    }
    Ok(ExitCode::SUCCESS)
}
