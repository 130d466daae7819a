// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage-lab kernel selftests`: the kernel's own tests of memory management, on
//! one kernel or on the stock kernel and ours.

use std::{fs, path::PathBuf, process::ExitCode};

use anyhow::{Context, ensure};
use huepage_lab::{
    arch::Arch,
    boot,
    kernel::{Config, Request, Variant, ktap::Outcome},
    progress::Progress,
    selftests::{self, Boots, Done, List, Lost, Run},
    workspace::Workspace,
};
use huepage_present::stdout;
use serde::Serialize;

use crate::commands::Usage;

/// Run the kernel's own selftests in a booted kernel
///
/// lab/selftests.list names the programs and what is set before each. They are built from
/// the kernel's source with our changes, and are the same for every kernel.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 all passed or skipped, 1 a test failed or the kernel \
                        crashed; with --compare 0 every test that passes on stock passes on ours, \
                        1 one does not")]
pub struct Options {
    /// Architecture
    #[arg(long, value_enum, default_value_t = Arch::X86_64)]
    arch: Arch,
    /// With or without our changes
    #[arg(long, value_enum, default_value_t = Variant::Huepage)]
    variant: Variant,
    /// Configuration of the kernel, by the fragments in lab/configs
    #[arg(long, value_enum, value_name = "NAME", default_value_t = Config::Selftests)]
    config: Config,
    /// Color pages from boot on, with page_color=SETTING
    #[arg(long, value_name = "SETTING", num_args = 0..=1, require_equals = true,
          default_missing_value = COLORING)]
    coloring: Option<String>,
    /// Run the stock kernel, ours, and ours with coloring on; list tests that fail on
    /// ours only
    #[arg(long, conflicts_with = "variant")]
    compare: bool,
    /// Run only tests that match: 'mm/ksm*', 'page_color/*'
    #[arg(long, value_name = "GLOB")]
    filter: Option<String>,
    /// Show the console
    #[arg(long)]
    console: bool,
    /// Print JSON (schema huepage.selftests/1)
    #[arg(long)]
    json: bool,
    /// Also write the JSON to a file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// 4096 colors: more colors than pages of one color in the tests' working sets, and
/// fewer than the pages of a node.
const COLORING: &str = "16M";

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    arch: Arch,
    runs: Vec<Run>,
    /// For each run after the first, the tests that pass in the first and not in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<Vec<Vec<Lost>>>,
}

/// Runs the command.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let &Options { arch, config, variant, .. } = options;
    check(options).map_err(Usage)?;
    let boots = |variant, coloring| Boots { request: Request { arch, variant, config }, coloring };
    let all = if options.compare {
        let coloring = options.coloring.clone().unwrap_or_else(|| COLORING.to_owned());
        vec![
            boots(Variant::Stock, None),
            boots(Variant::Huepage, None),
            boots(Variant::Huepage, Some(coloring)),
        ]
    } else {
        vec![boots(variant, options.coloring.clone())]
    };
    let workspace = Workspace::find()?;
    let list = List::read(&workspace, arch, options.filter.as_deref())?;
    let progress = Progress::stderr();
    let mut runs = Vec::new();
    for boots in &all {
        let run = selftests::run(&workspace, boots, &list, &progress, &mut |line| {
            if options.console {
                progress.note(&boot::printable(line.trim_end()));
            }
        })?;
        progress.note(&format!("{}: {}", kind(&run), totals(&run.tests)));
        runs.push(run);
    }
    drop(progress);
    let lost = options
        .compare
        .then(|| runs[1..].iter().map(|run| selftests::compare(&runs[0], run)).collect::<Vec<_>>());
    let good = match &lost {
        Some(lost) => {
            lost.iter().all(Vec::is_empty) && runs[1..].iter().all(|run| run.reports.is_empty())
        }
        None => {
            let ok = |test: &Done| test.outcome != Outcome::Failed;
            runs[0].tests.iter().all(ok) && runs[0].reports.is_empty()
        }
    };
    let report = Report { schema: "huepage.selftests/1", arch, runs, lost };
    let json = serde_json::to_string_pretty(&report)? + "\n";
    if let Some(file) = &options.output {
        fs::write(file, &json).with_context(|| format!("write {}", file.display()))?;
    }
    stdout::print(&if options.json { json } else { text(&report) })?;
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Refuses options that exclude each other.
fn check(options: &Options) -> anyhow::Result<()> {
    ensure!(
        options.config != Config::Kunit,
        "a kernel that is a program has its own tests: huepage-lab kernel kunit"
    );
    ensure!(
        options.coloring.is_none() || options.compare || options.variant == Variant::Huepage,
        "the stock kernel has no page coloring: leave out --coloring or take --variant huepage"
    );
    Ok(())
}

fn kind(run: &Run) -> String {
    match &run.coloring {
        Some(setting) => format!("{} page_color={setting}", run.variant.name()),
        None => run.variant.name().to_owned(),
    }
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "pass",
        Outcome::Failed => "FAIL",
        Outcome::Skipped => "skip",
    }
}

fn totals(tests: &[Done]) -> String {
    let count = |wanted| tests.iter().filter(|test| test.outcome == wanted).count();
    let parts = tests.iter().flat_map(|test| &test.subtests);
    let passed = parts.filter(|part| part.outcome == Outcome::Passed).count();
    format!(
        "{} programs passed, {} failed, {} skipped; {passed} parts of them passed",
        count(Outcome::Passed),
        count(Outcome::Failed),
        count(Outcome::Skipped)
    )
}

fn text(report: &Report) -> String {
    let Report { arch, runs, lost, .. } = report;
    let mut out = format!("Linux {}, {arch}\n", runs[0].kernel);
    for (column, run) in (1..).zip(runs) {
        out += &format!("{column}: {}: {}\n", kind(run), totals(&run.tests));
    }
    out += "\n";
    for (place, test) in runs[0].tests.iter().enumerate() {
        for run in runs {
            out += &format!("{}  ", run.tests.get(place).map_or("-", |test| word(test.outcome)));
        }
        out += &format!("{}\n", test.test);
    }
    for (column, run) in (1..).zip(runs) {
        for report in &run.reports {
            out += &format!("{column}: the kernel reported between tests: {report}\n");
        }
        for name in &run.left_out {
            out += &format!("{column}: left out, needs a shell for {arch}: {name}\n");
        }
        for test in &run.tests {
            if let Some(number) = test.alone {
                out += &format!("{column}: passed by itself, at try {number}: {}\n", test.test);
            }
        }
        for test in run.tests.iter().filter(|test| test.outcome == Outcome::Failed) {
            let why = test.why.as_deref().unwrap_or_default();
            out += &format!("\n{column}: {}: {why}\n", test.test);
            out += &tail(test);
        }
    }
    for ((column, run), lost) in (2..).zip(&runs[1..]).zip(lost.iter().flatten()) {
        out += &format!("\npasses on stock and not on {column} ({}): ", kind(run));
        if lost.is_empty() {
            out += "none\n";
        }
        for (number, Lost { test, part, now }) in lost.iter().enumerate() {
            let part = part.as_ref().map_or(String::new(), |part| format!(": {part}"));
            out += &format!("{}  {test}{part}: {now}\n", if number == 0 { "\n" } else { "" });
        }
    }
    out
}

/// Reports of the kernel, parts that failed, or otherwise the last lines.
fn tail(test: &Done) -> String {
    let mut lines: Vec<&str> = test.reports.iter().map(String::as_str).collect();
    let failed = test.subtests.iter().filter(|part| part.outcome == Outcome::Failed);
    lines.extend(failed.map(|part| part.name.as_str()));
    if lines.is_empty() {
        lines = test.said.iter().map(String::as_str).collect();
    }
    let skipped = lines.len().saturating_sub(8);
    lines[skipped..].iter().map(|line| format!("  {line}\n")).collect()
}
