// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage-lab run`: an experiment, its results in three forms.

use std::process::ExitCode;

use anyhow::bail;
use clap::Args;

use huepage_lab::{cases, runner::Run, workspace::Workspace};
use huepage_present::stdout::print;

use super::grid::{Grid, Keeping, Showing, after_help};

/// Run an experiment and write its results
#[derive(Args)]
#[command(after_help = after_help())]
pub struct Options {
    #[command(flatten)]
    grid: Grid,
    #[command(flatten)]
    showing: Showing,
    /// How many boots run at once [default: the number of CPUs]
    #[arg(long, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    /// Only list the settings and their values
    #[arg(long)]
    settings: bool,
    /// Use outcomes of boots that an earlier run of the same program and sources kept
    #[arg(long)]
    resume: bool,
    /// Run only these boots, by their names in `huepage-lab cases`; their outcomes are
    /// kept, and no results are written
    #[arg(long, value_name = "ID", value_delimiter = ',', conflicts_with_all = ["output", "json"])]
    case: Vec<String>,
    #[command(flatten)]
    keeping: Keeping,
}

/// Runs it.
pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    let (settings, mut cases) = options.grid.cases()?;
    if options.settings {
        let lines = settings.iter().map(|(name, values)| format!("{name}={}\n", values.join(",")));
        print(lines.collect::<String>())?;
        return Ok(ExitCode::SUCCESS);
    }
    let jobs = options.jobs.map_or_else(
        || std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        std::num::NonZero::get,
    );
    let workspace = Workspace::find()?;
    let kept = options.keeping.kept(&workspace)?;
    let experiment = options.grid.experiment();
    let mut ids = cases::ids(&workspace, experiment, &cases)?;
    let one_by_one = !options.case.is_empty();
    if one_by_one {
        for case in &options.case {
            if !ids.contains(case) {
                bail!(
                    "no case {case} with these settings, this program and these sources: \
                     huepage-lab cases {} lists those that there are",
                    experiment.name
                );
            }
        }
        let wanted = |id: &String| options.case.contains(id);
        let mut each = ids.iter();
        cases.retain(|_| each.next().is_some_and(wanted));
        ids.retain(wanted);
    }
    let run = Run { workspace: &workspace, experiment, jobs, kept: Some((kept, ids)) };
    if one_by_one {
        let tried = run.kept(&cases)?;
        for outcome in run.boot(&cases, tried)? {
            outcome.expect("all have been tried")?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    options.showing.folder(&workspace, &options.grid)?;
    let none = || cases.iter().map(|_| None).collect();
    let tried = if options.resume { run.kept(&cases)? } else { none() };
    let tried = run.boot(&cases, tried)?;
    let results = run.results(&cases, tried, options.grid.command())?;
    options.showing.show(&workspace, &options.grid, &results)
}
