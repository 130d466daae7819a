// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage-lab kernel kunit`: unit tests inside a kernel that runs as a program.

use std::{process::ExitCode, time::Duration};

use huepage_lab::{
    arch::Arch,
    kernel::{
        self, Config, Image, Request, Variant,
        ktap::{self, Outcome, Test, Totals},
    },
    progress::Progress,
};
use huepage_present::stdout;
use serde_json::json;

/// Run the kernel's unit tests (KUnit on User-mode Linux)
///
/// Builds the kernel if it is not up to date. lab/configs/kunit.config says which suites
/// are built in.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 0 all passed or skipped, 1 a test failed or the kernel crashed"
)]
pub struct Options {
    /// With or without our changes
    #[arg(long, value_enum, default_value_t = Variant::Huepage)]
    variant: Variant,

    /// Run only suites or tests that match: 'list*', 'list*.*_add'
    #[arg(long, value_name = "GLOB")]
    filter: Option<String>,

    /// Stop a kernel that runs longer
    #[arg(long, value_name = "SECONDS", default_value_t = 300,
          value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,

    /// Print JSON (schema huepage.kunit/1)
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let request = Request { arch: Arch::X86_64, variant: options.variant, config: Config::Kunit };
    let progress = Progress::stderr();
    let image = kernel::ensure(&request, &progress)?;
    progress.stage("running the kernel's unit tests");
    let limit = Duration::from_secs(options.limit);
    let suites = kernel::run_kunit(&image.path, options.filter.as_deref(), limit)?;
    drop(progress);
    let totals = ktap::totals(&suites);
    if options.json {
        let report = json!({
            "schema": "huepage.kunit/1", "kernel": image.version, "totals": totals,
            "suites": suites,
        });
        stdout::print(&(serde_json::to_string_pretty(&report)? + "\n"))?;
    } else {
        stdout::print(text(&image, &suites, totals))?;
    }
    let failed = suites.iter().any(|suite| suite.outcome == Outcome::Failed);
    Ok(if failed || totals.failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn text(image: &Image, suites: &[Test], totals: Totals) -> String {
    let mut out = format!("Linux {}, User-mode Linux\n", image.version);
    for suite in suites {
        out += &line(&suite.name, ktap::totals(std::slice::from_ref(suite)));
        show_failed(&mut out, &suite.tests, 1);
    }
    out + &line("all", totals)
}

fn line(name: &str, Totals { passed, failed, skipped }: Totals) -> String {
    format!("{name:<40} {passed:>4} passed {failed:>4} failed {skipped:>4} skipped\n")
}

fn show_failed(out: &mut String, tests: &[Test], depth: usize) {
    for test in tests.iter().filter(|test| test.outcome == Outcome::Failed) {
        let indent = "  ".repeat(depth);
        *out += &format!("{indent}failed: {}\n", test.name);
        for line in &test.said {
            *out += &format!("{indent}  {line}\n");
        }
        show_failed(out, &test.tests, depth + 1);
    }
}
