// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage-lab kernel stress`: memory management under the kernel's own checks.

use std::process::ExitCode;

use anyhow::{anyhow, ensure};
use huepage_lab::{
    arch::Arch,
    boot,
    kernel::{Config, Request, Variant},
    progress::Progress,
    stress::{self, Stress},
    workspace::Workspace,
};
use huepage_present::stdout;

use crate::commands::Usage;

/// Stress a kernel that checks itself
///
/// The load has faults, forks, compaction, memory that goes offline and comes online,
/// kills, and all switches of page coloring. The content of every page is verified. Any
/// report of the kernel's own checks is a failure.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Architecture
    #[arg(long, value_enum, default_value_t = Arch::X86_64)]
    arch: Arch,
    /// With or without our changes
    #[arg(long, value_enum, default_value_t = Variant::Huepage)]
    variant: Variant,
    /// Configuration of the kernel, which has the checks
    #[arg(long, value_enum, value_name = "NAME", default_value_t = Config::Debug)]
    config: Config,
    /// How long to run
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    seconds: u64,
    /// Seed of what each process does; when it does it depends on scheduling
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Show the console
    #[arg(long)]
    console: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let &Options { arch, variant, config, seconds, seed, console } = options;
    ensure!(
        config != Config::Kunit,
        Usage(anyhow!("a kernel that is a program has its own tests: huepage-lab kernel kunit"))
    );
    let workspace = Workspace::find()?;
    let request = Request { arch, variant, config };
    let work = Stress { seconds, rounds: 200, seed, workers: 3, pages: 1024 };
    let progress = Progress::stderr();
    let done = stress::run(&workspace, &request, &work, &progress, &mut |line| {
        if console {
            progress.note(&boot::printable(line.trim_end()));
        } else if let Some(note) = boot::note(line) {
            progress.step(|| format!("{request}: {note}"));
        }
    })?;
    drop(progress);
    stdout::print(&(serde_json::to_string_pretty(&done)? + "\n"))?;
    Ok(ExitCode::SUCCESS)
}
