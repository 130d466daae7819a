// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage-lab kernel bisect`.

use std::{process::ExitCode, time::Duration};

use anyhow::Context;
use huepage::units::Bytes;
use huepage_lab::{
    arch::Arch,
    boot::{Case, Machine, boot},
    kernel::{self, Config, Request, Variant},
    progress::Progress,
    workspace::Workspace,
};
use huepage_present::stdout;

/// Build and boot the kernel after each of our patches
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Architecture
    #[arg(long, value_enum, default_value_t = Arch::X86_64)]
    arch: Arch,
}

/// A boot takes seconds; more only if the machine is busy.
const LIMIT: Duration = Duration::from_secs(600);

/// Runs the command.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let workspace = Workspace::find()?;
    let arch = options.arch;
    let request = Request { arch, variant: Variant::Huepage, config: Config::Plain };
    kernel::bisect(&request, &Progress::stderr(), &mut |patch, image| {
        let hello = Case {
            arguments: vec![("fail".into(), "no".into())],
            limit: LIMIT,
            ..Case::of("hello", Machine::plain(2, Bytes::mib(256))).on(&request)
        };
        boot(&workspace, &hello, &image.path, &mut |_| ()).context("boot")?;
        Ok(stdout::print(format!("{patch}: builds and boots on {arch}\n"))?)
    })?;
    Ok(ExitCode::SUCCESS)
}
