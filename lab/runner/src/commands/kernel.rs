// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage-lab kernel`: builds kernels, runs their unit tests, and shows our
//! changes to them as patches.

mod bisect;
mod deb;
mod identical;
mod kunit;
mod patches;
mod selftests;
mod stress;

use std::process::ExitCode;

use huepage_lab::{
    arch::Arch,
    kernel::{self, Config, Request, Variant},
    progress::Progress,
};
use huepage_present::stdout;

/// Build kernels, run their unit tests, export our changes as patches
#[derive(Debug, clap::Args)]
pub struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Build(Build),
    Deb(deb::Options),
    Export(patches::Export),
    Check(patches::Check),
    Identical(identical::Options),
    Kunit(kunit::Options),
    Stress(stress::Options),
    Selftests(selftests::Options),
    Bisect(bisect::Options),
}

/// Build a kernel if its sources or configuration have changed
///
/// Prints the path of the image.
#[derive(Debug, clap::Args)]
struct Build {
    /// Architecture
    #[arg(long, value_enum, default_value_t = Arch::X86_64)]
    arch: Arch,

    /// With or without our changes
    #[arg(long, value_enum, default_value_t = Variant::Stock)]
    variant: Variant,

    /// Configuration of the kernel, by the fragments in lab/configs
    #[arg(long, value_enum, value_name = "NAME", default_value_t = Config::Plain)]
    config: Config,
}

/// Runs the command.
pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    match options.command {
        Command::Build(options) => build(&options),
        Command::Deb(options) => deb::run(&options),
        Command::Export(options) => patches::export(&options),
        Command::Check(options) => patches::check(&options),
        Command::Identical(options) => identical::run(&options),
        Command::Kunit(options) => kunit::run(&options),
        Command::Stress(options) => stress::run(&options),
        Command::Selftests(options) => selftests::run(&options),
        Command::Bisect(options) => bisect::run(&options),
    }
}

fn build(options: &Build) -> anyhow::Result<ExitCode> {
    let &Build { arch, variant, config } = options;
    let image = kernel::ensure(&Request { arch, variant, config }, &Progress::stderr())?;
    stdout::print(format!("{}\n", image.path.display()))?;
    Ok(ExitCode::SUCCESS)
}
