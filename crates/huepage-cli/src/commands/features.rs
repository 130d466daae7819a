// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage features`: what needs which kernel, and what of it is here.

mod probe;
mod table;

use std::process::ExitCode;

use serde::Serialize;

use huepage_present::{paragraph::wrap, stdout};

use probe::Here;
use table::Row;

/// Show what needs which kernel, and what of it works here
///
/// Each feature is tried on this machine with the rights of this user; the version of
/// the kernel alone decides nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  huepage features
  sudo huepage features --json

Exit codes: 0 done, whatever is there; 1 failed, 2 usage")]
pub struct Options {
    /// Print JSON (schema huepage.features/1)
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
pub struct FeaturesReport {
    schema: &'static str,
    /// The running one.
    kernel: String,
    features: Vec<Row>,
}

impl FeaturesReport {
    /// Of this machine and user.
    pub fn here() -> Self {
        let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
        FeaturesReport { schema: "huepage.features/1", kernel, features: table::rows() }
    }
}

/// Runs the command.
///
/// # Errors
/// If standard output cannot be written.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let report = FeaturesReport::here();
    stdout::print(&match options.json {
        true => serde_json::to_string_pretty(&report)? + "\n",
        false => text(&report),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn text(report: &FeaturesReport) -> String {
    let mut text = format!("{:<18} {:<10} here: Linux {}\n", "feature", "needs", report.kernel);
    for Row { feature, needs, here, .. } in &report.features {
        let found = match here {
            Here::Yes => "yes".to_owned(),
            Here::No(why) => format!("no: {why}"),
        };
        // Broken as if it stood alone, since breaking joins blanks.
        let indent = " ".repeat(30);
        let found = wrap(&format!("{indent}{found}"), &indent);
        text += &format!("{feature:<18} {needs:<10} {}", found.trim_start());
    }
    text
}
