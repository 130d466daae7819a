// SPDX-License-Identifier: MIT OR Apache-2.0
//! Options that `run`, `cases` and `merge` share: an experiment and its boots.

use std::{fs, path::PathBuf, process::ExitCode};

use anyhow::{Context, anyhow, ensure};
use clap::Args;

use huepage_lab::{
    cases::Kept,
    document,
    experiment::{Case, Experiment, Scale},
    experiments,
    kernel::Variant,
    results::Results,
    settings::Settings,
    workspace::Workspace,
};
use huepage_present::stdout::print;

use super::Usage;

/// An experiment and its settings.
#[derive(Args)]
pub struct Grid {
    /// The experiment
    #[arg(value_parser = names())]
    experiment: String,
    /// The kernel: Debian's, unchanged or with the changes of Huepage
    #[arg(long, value_enum, default_value = "stock")]
    variant: Variant,
    /// Replace the values of a setting: NAME=VALUE or NAME=VALUE,VALUE
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Run the smallest boots that reach the same code, into target/lab/quick
    #[arg(long)]
    quick: bool,
}

fn names() -> clap::builder::PossibleValuesParser {
    experiments::ALL.iter().map(|experiment| experiment.name).collect::<Vec<_>>().into()
}

/// The experiments, for `--help`.
pub fn after_help() -> String {
    let width = experiments::ALL.iter().map(|e| e.name.len()).max().unwrap_or(0);
    let lines = experiments::ALL.iter().map(|e| format!("  {:width$}  {}\n", e.name, e.about));
    format!("Experiments:\n{}", lines.collect::<String>())
}

impl Grid {
    pub fn experiment(&self) -> &'static Experiment {
        experiments::find(&self.experiment).expect("clap knows the names")
    }

    /// The settings and the boots that they amount to.
    ///
    /// # Errors
    /// [`Usage`]: a setting that is wrong, or settings without any boot.
    pub fn cases(&self) -> anyhow::Result<(Settings, Vec<Case>)> {
        let experiment = self.experiment();
        let mut settings = experiment.settings(if self.quick { Scale::Quick } else { Scale::Full });
        let set = self.set.iter().try_for_each(|assignment| settings.set(assignment));
        let cases = set.and_then(|()| (experiment.cases)(&settings, self.variant));
        let cases = cases.map_err(Usage)?;
        ensure!(!cases.is_empty(), Usage(anyhow!("the settings leave nothing to run")));
        Ok((settings, cases))
    }

    /// The command that gives the same results.
    pub fn command(&self) -> String {
        let mut words = vec!["huepage-lab run".to_owned(), self.experiment.clone()];
        if self.variant != Variant::Stock {
            words.push(format!("--variant {}", self.variant.name()));
        }
        words.extend(self.set.iter().map(|set| format!("--set {set}")));
        if self.quick {
            words.push("--quick".into());
        }
        words.join(" ")
    }
}

/// Where outcomes of cases are kept.
#[derive(Args)]
pub struct Keeping {
    /// Folder with the outcome of each boot, a file each [default: target/lab/cases/]
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
}

impl Keeping {
    /// The folder, which is made.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn kept(&self, workspace: &Workspace) -> anyhow::Result<Kept> {
        Kept::at(self.keep.clone().unwrap_or_else(|| workspace.lab().join("cases")))
    }
}

/// How results are shown.
#[derive(Args)]
pub struct Showing {
    /// Folder for the results [default: results/; if installed, that of the lab's files]
    #[arg(long, short, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Print the results as JSON instead of the table
    #[arg(long)]
    json: bool,
}

impl Showing {
    /// The folder for the results, which is made before time is spent on the boots.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn folder(&self, workspace: &Workspace, grid: &Grid) -> anyhow::Result<PathBuf> {
        let folder = match (&self.output, grid.quick) {
            (Some(folder), _) => folder.clone(),
            (None, true) => workspace.lab().join("quick"),
            (None, false) => workspace.results().to_owned(),
        };
        fs::create_dir_all(&folder).with_context(|| format!("make {}", folder.display()))?;
        Ok(folder)
    }

    /// Writes and prints the results, with the boots that failed.
    pub fn show(
        &self,
        workspace: &Workspace,
        grid: &Grid,
        results: &Results,
    ) -> anyhow::Result<ExitCode> {
        let experiment = grid.experiment();
        let folder = self.folder(workspace, grid)?;
        let page = (experiment.page)(results);
        let document = document::of(experiment, results, &page);
        // A part of the grid may have nothing to draw; its figures are kept.
        let picture = page.plot.svg();
        results.write(&folder, &document, picture.as_deref().ok())?;
        if self.json {
            print(&(serde_json::to_string_pretty(results)? + "\n"))?;
        } else {
            print(&document)?;
        }
        let files = folder.join(experiment.name);
        match &picture {
            Ok(_) => eprintln!("huepage-lab: wrote {}.{{json,md,svg}}", files.display()),
            Err(error) => {
                let files = files.display();
                eprintln!("huepage-lab: wrote {files}.{{json,md}}, no picture: {error}");
            }
        }
        for failed in &results.failed {
            eprintln!("huepage-lab: failed: {failed}");
        }
        Ok(match picture {
            _ if !results.failed.is_empty() => ExitCode::FAILURE,
            Ok(_) => ExitCode::SUCCESS,
            Err(_) => ExitCode::from(3),
        })
    }
}
