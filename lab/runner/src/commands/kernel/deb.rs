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
/// Takes Debian's own configuration of the flavour, from its package linux-config-6.12,
/// with page coloring built in, which stays off until the command line of the kernel or
/// sysfs turns it on, and without information for debuggers. It takes up to 40 minutes of
/// two CPUs for cloud-amd64, more for others, and some 10 GB. Prints the paths of the
/// packages.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  huepage-lab kernel deb
  apt install ./target/deb/linux-image-*.deb

Exit codes: 0 done, 1 failed, or somebody warned and --warnings was not given")]
pub struct Options {
    /// Which of Debian's configurations
    #[arg(long, value_enum, default_value_t = Flavour::CloudAmd64)]
    flavour: Flavour,

    /// A higher one is an upgrade: the version ends in +huepageN
    #[arg(long, value_name = "N", default_value_t = 1)]
    revision: u32,

    /// Where to put the packages
    #[arg(short, long, value_name = "DIR", default_value = "target/deb")]
    output: PathBuf,

    /// Warnings of the build are no failure
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
