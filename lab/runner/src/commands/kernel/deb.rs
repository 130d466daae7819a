// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage-lab kernel deb`: a kernel that apt installs.

use std::{path::PathBuf, process::ExitCode};

use anyhow::bail;
use huepage_lab::{
    kernel::{deb, flavour::Flavour},
    progress::Progress,
};
use huepage_present::stdout;

/// Build Debian packages of a kernel with our changes
///
/// Uses Debian's configuration of the flavour, from the package linux-config-6.12, with
/// page coloring built in and without debug information. Page coloring is off until the
/// kernel's command line or sysfs turns it on. The build takes up to 40 minutes of two
/// CPUs for cloud-amd64, more for the others, and some 10 GB of disk. Prints the paths of
/// the packages.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  huepage-lab kernel deb
  apt install ./target/deb/linux-image-*.deb

Exit codes: 0 done, 1 failed, or the build had warnings and --warnings was not
given")]
pub struct Options {
    /// Which of Debian's configurations
    #[arg(long, value_enum, default_value_t = Flavour::CloudAmd64)]
    flavour: Flavour,

    /// The version ends in +huepageN; a higher N is an upgrade
    #[arg(long, value_name = "N", default_value_t = 1)]
    revision: u32,

    /// Directory for the packages
    #[arg(short, long, value_name = "DIR", default_value = "target/deb")]
    output: PathBuf,

    /// Do not fail if the build has warnings
    #[arg(long)]
    warnings: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let packages =
        deb::build(options.flavour, options.revision, &options.output, &Progress::stderr())?;
    let files: String = packages.files.iter().map(|file| format!("{}\n", file.display())).collect();
    stdout::print(&files)?;
    if !packages.warnings.is_empty() && !options.warnings {
        bail!("the build warns:\n  {}", packages.warnings.join("\n  "));
    }
    Ok(ExitCode::SUCCESS)
}
