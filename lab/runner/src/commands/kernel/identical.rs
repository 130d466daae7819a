// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage-lab kernel identical`: our changes, not configured, change no code.

use std::process::ExitCode;

use huepage_lab::{
    arch::Arch,
    kernel::{self, Comparison, Config, Request, Variant},
    progress::Progress,
    workspace::Workspace,
};
use huepage_present::stdout;

/// Compare the stock kernel with ours if none of our options is set
///
/// Builds both and compares their code byte by byte. Line numbers of source files are in
/// tables outside the code, and may differ.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 all code is the same, 1 it differs")]
pub struct Options {
    /// Architecture
    #[arg(long, value_enum, default_value_t = Arch::X86_64)]
    arch: Arch,
}

/// Runs the command.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let request = Request { arch: options.arch, variant: Variant::Stock, config: Config::Plain };
    let workspace = Workspace::find()?;
    let comparison = kernel::compare_unconfigured(&workspace, &request, &Progress::stderr())?;
    stdout::print(text(options.arch, &comparison))?;
    Ok(if comparison.same_code() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn text(arch: Arch, comparison: &Comparison) -> String {
    let Comparison { sections, bytes, code, functions, data } = comparison;
    let mut text = format!("{arch}: {sections} sections with {bytes} bytes of code\n");
    let mut list = |what: &str, names: &[String]| {
        let names: String = names.iter().map(|name| format!("  {name}\n")).collect();
        text +=
            &if names.is_empty() { format!("{what}: none\n") } else { format!("{what}:\n{names}") };
    };
    list("code that differs", code);
    if !functions.is_empty() {
        list("functions that differ", functions);
    }
    list("data that differs", data);
    text
}
