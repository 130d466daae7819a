// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage-lab report`: all results on one page, next to the sources' figures.

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, ensure};
use clap::Args;

use huepage_lab::{document, experiments, results::Results, workspace::Workspace};
use huepage_present::stdout::print;

/// Put all results on one page, next to the sources' own figures
#[derive(Args)]
pub struct Options {
    /// Folder with the results [default: results/]
    #[arg(long, value_name = "FOLDER")]
    input: Option<PathBuf>,
    /// Also write the page and the picture of each experiment again
    #[arg(long)]
    redraw: bool,
    /// Write the page to a file; '-' is standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

/// Prints the page; exit code 3 if an experiment has no results yet.
pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    let folder = match options.input {
        Some(folder) => folder,
        None => Workspace::find()?.results().to_owned(),
    };
    let mut page = String::from(
        "<!-- SPDX-License-Identifier: MIT OR Apache-2.0 -->\n# The lab's results\n\n\
         Counts are exact counts of real kernels under a modelled memory hierarchy; times \
         and bandwidths are modelled, never measured.\n",
    );
    ensure!(folder.is_dir(), "{} is no folder of results", folder.display());
    let mut missing = Vec::new();
    for experiment in experiments::ALL {
        let path = folder.join(format!("{}.json", experiment.name));
        if !path.try_exists().with_context(|| format!("read {}", path.display()))? {
            missing.push(experiment.name);
            continue;
        }
        let results = Results::read(&path)?;
        ensure!(
            results.experiment == experiment.name,
            "{} has results of {}: give it the name that they are of",
            path.display(),
            results.experiment
        );
        ensure!(
            !results.rows.is_empty(),
            "{} has no rows, so there is nothing to report: huepage-lab run {}",
            path.display(),
            experiment.name
        );
        let shown = (experiment.page)(&results);
        if options.redraw {
            let picture = shown.plot.svg();
            let document = document::of(experiment, &results, &shown);
            results.write_shown(&folder, &document, picture.as_deref().ok())?;
            if let Err(error) = picture {
                eprintln!("huepage-lab: no picture of {}: {error}", experiment.name);
            }
        }
        page += &format!(
            "\n## {}: {}\n\nLinux {} ({}; {}). `{}`\n{}{}\n{}\n",
            results.experiment,
            experiment.about,
            results.kernel.version,
            results.kernel.variant,
            results.kernel.arch,
            results.command,
            document::failures("###", &results),
            document::tables("###", &shown),
            experiment.remarks(),
        );
    }
    ensure!(
        missing.len() < experiments::ALL.len(),
        "no results in {}: run an experiment first, as in huepage-lab run aging",
        folder.display()
    );
    if options.output.as_os_str() == "-" {
        print(&page)?;
    } else {
        std::fs::write(&options.output, page)
            .with_context(|| format!("write {}", options.output.display()))?;
    }
    if missing.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("huepage-lab: no results yet of {}: huepage-lab run …", missing.join(", "));
    Ok(ExitCode::from(3))
}
