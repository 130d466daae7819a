// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage-lab run`: an experiment, its results in three forms.

use std::{path::PathBuf, process::ExitCode};

use clap::Args;

use huepage_lab::{
    document, experiment::Scale, experiments, kernel::Variant, output::print, runner,
    workspace::Workspace,
};

/// Run an experiment and write its results
#[derive(Args)]
#[command(after_help = after_help())]
pub struct Options {
    /// Which one
    #[arg(value_parser = names())]
    experiment: String,
    /// The kernel: Debian's as it is, or with huepage's changes
    #[arg(long, value_enum, default_value = "stock")]
    variant: Variant,
    /// Replace the values of a setting: NAME=VALUE or NAME=VALUE,VALUE
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// The same code paths within seconds, into target/lab/quick
    #[arg(long)]
    quick: bool,
    /// Where the results go [default: results/]
    #[arg(long, short, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Boots at once [default: the number of CPUs]
    #[arg(long, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    /// Print the results as JSON instead of the table
    #[arg(long)]
    json: bool,
    /// Only list the settings and their values
    #[arg(long)]
    settings: bool,
}

fn names() -> clap::builder::PossibleValuesParser {
    experiments::ALL.iter().map(|experiment| experiment.name()).collect::<Vec<_>>().into()
}

fn after_help() -> String {
    let width = experiments::ALL.iter().map(|e| e.name().len()).max().unwrap_or(0);
    let lines = experiments::ALL.iter().map(|e| format!("  {:width$}  {}\n", e.name(), e.about()));
    format!("Experiments:\n{}", lines.collect::<String>())
}

/// Runs it.
///
/// # Errors
/// A setting that is not there, a kernel that does not build, no boot that succeeds.
pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    let experiment = experiments::find(&options.experiment).expect("clap knows the names");
    let scale = if options.quick { Scale::Quick } else { Scale::Full };
    let mut settings = experiment.settings(scale);
    let set = options.set.iter().try_for_each(|assignment| settings.set(assignment));
    let cases = set.and_then(|()| experiment.cases(&settings, options.variant));
    if let Err(error) = cases {
        eprintln!("huepage-lab: {error:#}");
        return Ok(ExitCode::from(2));
    }
    if options.settings {
        let lines = settings.iter().map(|(name, values)| format!("{name}={}\n", values.join(",")));
        print(&lines.collect::<String>())?;
        return Ok(ExitCode::SUCCESS);
    }
    let jobs = options.jobs.map_or_else(
        || std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        std::num::NonZero::get,
    );
    let workspace = Workspace::find()?;
    let results =
        runner::run(&workspace, experiment, &settings, options.variant, jobs, command(&options))?;
    let folder = match (&options.output, options.quick) {
        (Some(folder), _) => folder.clone(),
        (None, true) => workspace.lab().join("quick"),
        (None, false) => workspace.root().join("results"),
    };
    let document = document::of(experiment, &results);
    // A part of the grid may leave nothing to draw; its figures are kept.
    let picture = experiment.plot(&results).svg();
    results.write(&folder, &document, picture.as_deref().ok())?;
    if options.json {
        print(&(serde_json::to_string_pretty(&results)? + "\n"))?;
    } else {
        print(&document)?;
    }
    let files = folder.join(experiment.name());
    match &picture {
        Ok(_) => eprintln!("huepage-lab: wrote {}.{{json,md,svg}}", files.display()),
        Err(error) => {
            eprintln!("huepage-lab: wrote {}.{{json,md}}, no picture: {error}", files.display());
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

/// The command as it can be given again.
fn command(options: &Options) -> String {
    let mut words = vec!["huepage-lab run".to_owned(), options.experiment.clone()];
    if options.variant != Variant::Stock {
        words.push(format!("--variant {}", options.variant.name()));
    }
    words.extend(options.set.iter().map(|set| format!("--set {set}")));
    if options.quick {
        words.push("--quick".into());
    }
    words.join(" ")
}
