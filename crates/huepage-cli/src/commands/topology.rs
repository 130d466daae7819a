// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage topology`: caches and nodes of this machine, declared and measured.

mod text;
mod witness;

use std::{path::PathBuf, process::ExitCode};

use anyhow::Context;
use fastrand::Rng;
use huepage::topology::{
    CacheOverride, Choice, Curve, CurvePlan, LiveMachine, MachineSource, Measured, RecordError,
    RecordedMachine, Topology,
};
use serde::Serialize;
use witness::Witness;

use super::{cache_options::last_available_cpu, recording};

/// Show caches, their colors, NUMA nodes and memory-side caches
///
/// Shows caches as the system declares them and the sizes that follow from access
/// times: at any time, and in moments without a neighbor on the same core, if such
/// moments can be recognized. A record of this machine can be shown on another one.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  huepage topology
  huepage topology --no-measure --json
  huepage topology --record here.json    for a bug report
  huepage topology --input here.json

Exit codes: 0 done, 1 failed, 2 usage,
  3 done in part: what could not be read is listed under 'Not shown'")]
pub struct Options {
    /// Print JSON (schema huepage.topology/1)
    #[arg(long)]
    json: bool,

    /// Write the machine to FILE, to be read back with --input; - is stdout
    #[arg(long, value_name = "FILE", conflicts_with = "input")]
    record: Option<PathBuf>,

    /// Let --record overwrite FILE
    #[arg(short, long, requires = "record")]
    force: bool,

    /// Show the machine of a record or of a bug report, not this one; - is stdin
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,

    /// The CPU to measure, and whose cache to color [default: the last allowed]
    #[arg(long, value_name = "N")]
    cpu: Option<u32>,

    /// Geometry of the cache to color, in place of the declared one, such as
    /// size=2M,ways=16; line=64 and level=2 unless given
    #[arg(long, value_name = "GEOMETRY")]
    cache: Option<CacheOverride>,

    /// Show only what the system declares
    #[arg(long)]
    no_measure: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct TopologyReport {
    #[serde(flatten)]
    topology: Topology,
    cache_to_color: Choice,
}

/// The text that the subcommand prints for the running machine.
///
/// # Errors
/// Any error of describing the machine.
pub fn overview(cpu: u32, cache: Option<CacheOverride>) -> anyhow::Result<String> {
    Ok(text::render(&live(cpu, cache, true)?.1))
}

/// The running machine as `--record` writes it, and the files that could not be read.
///
/// # Errors
/// Any error of describing the machine.
pub fn recorded_here(cpu: u32) -> anyhow::Result<(RecordedMachine, Vec<String>)> {
    let (machine, TopologyReport { topology, .. }) = live(cpu, None, true)?;
    Ok((record(&machine, &topology)?, topology.problems))
}

/// Where the caches of the running machine end, by timing.
///
/// # Errors
/// Why they cannot be measured.
pub fn measured_here(cpu: u32) -> anyhow::Result<Measured> {
    let (_, TopologyReport { topology, .. }) = live(cpu, None, true)?;
    // The reason why nothing was measured is the last problem.
    topology.measured.with_context(|| topology.problems.last().cloned().unwrap_or_default())
}

/// Runs the subcommand.
///
/// # Errors
/// Any error of describing, reading or recording the machine.
pub fn run(options: Options) -> anyhow::Result<ExitCode> {
    let report = match &options.input {
        Some(path) => recorded(&recording::load(path, machine_in)?, &options)?,
        None => {
            if let Some(path) = &options.record {
                recording::check(path, options.force)?;
            }
            let cpu = options.cpu.map_or_else(last_available_cpu, Ok)?;
            let (machine, report) = live(cpu, options.cache, !options.no_measure)?;
            if let Some(path) = &options.record {
                let record = record(&machine, &report.topology)?;
                recording::save(path, &record.to_json(), options.force)?;
            }
            report
        }
    };
    // A record on standard output must stay readable as one.
    if !options.record.as_deref().is_some_and(recording::is_dash) {
        super::print_report(&report, options.json, text::render)?;
    }
    Ok(if report.topology.problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(3) })
}

/// The machine of a record, or of a bug report.
fn machine_in(json: &str) -> Result<RecordedMachine, RecordError> {
    #[derive(serde::Deserialize)]
    struct BugReport {
        schema: String,
        machine: serde_json::Value,
    }
    match serde_json::from_str(json) {
        Ok(BugReport { schema, machine }) if schema == super::bugreport::SCHEMA => {
            RecordedMachine::from_json(&machine.to_string())
        }
        _ => RecordedMachine::from_json(json),
    }
}

fn recorded(machine: &RecordedMachine, options: &Options) -> anyhow::Result<TopologyReport> {
    let mut topology = Topology::read(machine)?;
    topology.measured = machine.curve.clone().filter(|_| !options.no_measure).map(Into::into);
    let cache_to_color = topology.choose(options.cpu.unwrap_or(machine.cpu), options.cache)?;
    Ok(TopologyReport { topology, cache_to_color })
}

fn live(
    cpu: u32,
    cache: Option<CacheOverride>,
    measured: bool,
) -> anyhow::Result<(LiveMachine, TopologyReport)> {
    let machine = LiveMachine::open(cpu)?;
    let mut topology = Topology::read(&machine)?;
    let cache_to_color = topology.choose(cpu, cache)?;
    if measured {
        measure(cpu, &cache_to_color, &mut topology);
    }
    Ok((machine, TopologyReport { topology, cache_to_color }))
}

fn record(machine: &LiveMachine, topology: &Topology) -> anyhow::Result<RecordedMachine> {
    let curve = topology.measured.as_ref().map(|measured| measured.curve.clone());
    Ok(RecordedMachine::record(machine, note(machine, topology), curve)?)
}

/// Adds the curve, or the reason why there is none.
fn measure(cpu: u32, cache_to_color: &Choice, topology: &mut Topology) {
    let l2 = cache_to_color.geometry.filter(|cache| cache.level() == 2);
    let plan = CurvePlan::for_l2(l2.map(|cache| cache.size()));
    let mut witness = Witness::new(cpu, l2);
    match Curve::measure(cpu, &plan, &mut Rng::new(), || witness.is_quiet()) {
        Ok(curve) => topology.measured = Some(curve.into()),
        Err(error) => {
            let why = huepage::with_causes(&error);
            topology.problems.push(format!("not measured: {why}"));
        }
    }
}

/// The origin of a record, as a sentence.
fn note(machine: &dyn MachineSource, topology: &Topology) -> String {
    let model = topology.model.as_deref().unwrap_or("processor without a name");
    let below = match &topology.virtualization {
        vm if !vm.detected => "no hypervisor".to_owned(),
        vm => format!("guest of {}", vm.hypervisor.as_deref().unwrap_or("an unknown hypervisor")),
    };
    let release = machine.read("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!(
        "recorded by huepage {} on a real machine: {model}, {below}, Linux {}",
        env!("CARGO_PKG_VERSION"),
        release.trim()
    )
}
