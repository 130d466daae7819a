// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage-lab merge`: results from boots that ran elsewhere.

use std::process::ExitCode;

use clap::Args;

use huepage_lab::{cases, runner::Run, workspace::Workspace};

use super::grid::{Grid, Keeping, Showing, after_help};

/// Write the results of boots that run --case has run; boots nothing
#[derive(Args)]
#[command(after_help = after_help())]
pub struct Options {
    #[command(flatten)]
    grid: Grid,
    #[command(flatten)]
    showing: Showing,
    #[command(flatten)]
    keeping: Keeping,
}

/// Merges kept outcomes; boots without one are named in the results.
pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    let (_, cases) = options.grid.cases()?;
    let workspace = Workspace::find()?;
    let kept = options.keeping.kept(&workspace)?;
    let experiment = options.grid.experiment();
    let ids = cases::ids(&workspace, experiment, &cases)?;
    let run = Run { workspace: &workspace, experiment, jobs: 1, kept: Some((kept, ids)) };
    let tried = run.kept(&cases)?;
    anyhow::ensure!(
        tried.iter().any(Option::is_some),
        "no boot of these settings is kept there: huepage-lab cases {0} lists them, \
         huepage-lab run {0} --case ID runs one",
        experiment.name
    );
    let results = run.results(&cases, tried, options.grid.command())?;
    options.showing.show(&workspace, &options.grid, &results)
}
