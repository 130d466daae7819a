// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage-lab kernel export` and `check`: our changes as a series to mail.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::bail;
use huepage_lab::{
    kernel::{self, Archive, Changes},
    progress::Progress,
    workspace::Workspace,
};
use huepage_present::stdout;

/// Write our changes to the kernel as a patch series to mail
///
/// kernel/series lists the files of each patch, kernel/messages has subjects and bodies.
/// Prints the paths of the patches.
#[derive(Debug, clap::Args)]
pub struct Export {
    /// Directory for the patches, in place of those in it [default: target/lab/patches]
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Run the kernel's checkpatch.pl --strict on the exported series
///
/// Fails on any error or warning; remarks on style (CHECK) are shown.
#[derive(Debug, clap::Args)]
pub struct Check {}

/// Runs `kernel export`.
pub fn export(options: &Export) -> anyhow::Result<ExitCode> {
    let workspace = Workspace::find()?;
    let output = options.output.clone().unwrap_or_else(|| workspace.lab().join("patches"));
    let patches = series(&workspace, &output)?.map(|(_, patches)| patches).unwrap_or_default();
    let lines: String = patches.iter().map(|patch| format!("{}\n", patch.display())).collect();
    stdout::print(&lines)?;
    Ok(ExitCode::SUCCESS)
}

/// Runs `kernel check`.
pub fn check(_: &Check) -> anyhow::Result<ExitCode> {
    let workspace = Workspace::find()?;
    let output = tempfile::tempdir()?;
    let Some((source, patches)) = series(&workspace, output.path())? else {
        return Ok(ExitCode::SUCCESS);
    };
    let verdict = kernel::check(&source, &patches)?;
    stdout::print(&verdict.text)?;
    let found = format!(
        "checkpatch --strict: {} patches, {} errors, {} warnings, {} checks",
        patches.len(),
        verdict.errors,
        verdict.warnings,
        verdict.checks
    );
    if !verdict.passed() {
        bail!("{found}: see above; overlay, hooks and messages are in kernel/");
    }
    stdout::print(format!("{found}\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// The source and the series for it, exported to `output`; none without changes.
fn series(workspace: &Workspace, output: &Path) -> anyhow::Result<Option<(PathBuf, Vec<PathBuf>)>> {
    if Changes::read(&workspace.kernel())?.is_empty() {
        eprintln!("nothing to export: kernel/ has neither overlay nor hooks");
        return Ok(None);
    }
    let source = Archive::find()?.unpack(workspace, &Progress::stderr())?;
    let patches = kernel::export(&workspace.kernel(), &source.directory, output)?;
    Ok(Some((source.directory, patches)))
}
