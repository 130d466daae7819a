// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage bugreport`: the information that a developer needs, in one file.

use std::{path::PathBuf, process::ExitCode};

use huepage::topology::RecordedMachine;
use huepage_present::{destination, stdout};
use serde::Serialize;

use crate::commands::{
    cache_options::WhichCache, export::KernelState, features, palette::Entry, topology,
};

/// Write the information for a bug report to one file
///
/// The file has: the version of huepage; the kernel's release; which features work for
/// this user; the processor, caches and nodes as the system describes them, with the
/// text of the files read in /sys and /proc; measured access times; the state of the
/// palettes; the kernel's counters of coloring, free huge pages and merged pages. It
/// has no frame numbers, no addresses, and no names of processes, users or hosts.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  huepage bugreport
  huepage bugreport -o -            print it instead
  huepage topology --input huepage-bugreport.json

Exit codes: 0 done, 1 failed, 2 usage,
  3 done in part: a message and the field 'missing' say what is missing")]
pub struct Options {
    /// The file to write; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "huepage-bugreport.json")]
    output: PathBuf,

    /// Overwrite a file that exists
    #[arg(short, long)]
    force: bool,

    #[command(flatten)]
    cache: WhichCache,
}

pub const SCHEMA: &str = "huepage.bugreport/1";

/// The contents of the file.
#[derive(Serialize)]
struct BugReport {
    schema: &'static str,
    huepage: &'static str,
    /// Whether root wrote this.
    root: bool,
    features: features::FeaturesReport,
    machine: RecordedMachine,
    palettes: Vec<Palette>,
    kernel_state: KernelState,
    missing: Vec<String>,
}

/// The part of a palette that does not identify the machine.
#[derive(Serialize)]
struct Palette {
    condition: &'static str,
    problem: Option<String>,
    colors: Option<u32>,
    age_seconds: Option<u64>,
    replaced: Option<u32>,
    agreement: Option<f64>,
}

/// Runs the command.
///
/// # Errors
/// If the machine cannot be read, or the file not be written.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    let is_file = options.output.as_os_str() != "-";
    if is_file {
        destination::check_file(&options.output, options.force)?;
    }
    let cache = options.cache.resolve()?;
    let (machine, mut missing) = topology::recorded_here(cache.cpu)?;
    let palettes = Entry::look_at_all(&cache).unwrap_or_else(|why| {
        missing.push(format!("palettes: {why:#}"));
        Vec::new()
    });
    let report = BugReport {
        schema: SCHEMA,
        huepage: env!("CARGO_PKG_VERSION"),
        root: rustix::process::geteuid().is_root(),
        features: features::FeaturesReport::here(),
        machine,
        palettes: palettes.into_iter().map(Palette::from).collect(),
        kernel_state: KernelState::read(),
        missing,
    };
    let json = serde_json::to_string_pretty(&report)? + "\n";
    if is_file {
        destination::create(&options.output, json.as_bytes(), options.force)?;
        eprintln!("huepage: wrote {}; read it before you send it", options.output.display());
    } else {
        stdout::print(&json)?;
    }
    for why in &report.missing {
        eprintln!("huepage: missing: {why}");
    }
    Ok(if report.missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(3) })
}

impl From<Entry> for Palette {
    fn from(entry: Entry) -> Self {
        let details = entry.palette.as_ref();
        let last = details.and_then(|details| details.evidence.attempts.last());
        Palette {
            condition: entry.condition,
            problem: entry.problem,
            colors: details.map(|details| details.colors),
            age_seconds: details.map(|details| details.age_seconds),
            replaced: details.map(|details| details.replaced),
            agreement: last.map(|last| last.agreement),
        }
    }
}
