// SPDX-License-Identifier: MIT OR Apache-2.0
//! `huepage export`: files for programs that monitor machines.

mod kernel;
mod labels;
mod metrics;
mod observe;

use std::{path::PathBuf, process::ExitCode, time::Duration};

use clap::ArgGroup;

pub use kernel::KernelState;

use huepage_present::{replace::replace, stdout};

use crate::{
    commands::{cache_options::WhichCache, recording},
    seconds::seconds,
};

/// Write metrics for Prometheus and labels for Kubernetes, once
///
/// Looks at the cache for some seconds and writes a temporary file, which then replaces
/// FILE, so that readers never see a part of it. Metrics that cannot be read here are
/// left out, and huepage_collector_success is 0 for them. No frame numbers are written.
#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("what").args(["openmetrics", "node_features"]).required(true)
    .multiple(true))]
#[command(after_help = "Examples:
  huepage export --openmetrics /var/lib/prometheus/node-exporter/huepage.prom
  huepage export --openmetrics -
  huepage export --node-features \\
    /etc/kubernetes/node-feature-discovery/features.d/huepage

Exit codes: 0 done, 1 failed, 2 usage,
  3 done in part: a message says what is missing and why")]
pub struct Options {
    /// Metrics for node_exporter's textfile collector, in its text format: unlike in
    /// OpenMetrics, # TYPE lines have the suffix _total of counters, too; - is standard
    /// output
    #[arg(long, value_name = "FILE")]
    openmetrics: Option<PathBuf>,

    /// Labels for Node Feature Discovery, such as huepage.io/l2-colors=32; - is
    /// standard output
    #[arg(long, value_name = "FILE")]
    node_features: Option<PathBuf>,

    /// How long the labels are valid; Node Feature Discovery then drops them
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "3600")]
    valid: Duration,

    /// How long to measure what other programs evict
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "3")]
    look: Duration,

    #[command(flatten)]
    cache: WhichCache,
}

/// Runs the command.
///
/// # Errors
/// If the machine cannot be read, or a file not be written.
pub fn run(options: &Options) -> anyhow::Result<ExitCode> {
    // Before time is spent on their contents.
    for path in [&options.openmetrics, &options.node_features].into_iter().flatten() {
        recording::check(path, true)?;
    }
    let cache = options.cache.resolve()?;
    let mut missing = Vec::new();
    if let Some(path) = &options.openmetrics {
        let seen = observe::observe(&cache, options.look)?;
        missing.extend(seen.missing());
        write(path, &metrics::text(&seen)?)?;
    }
    if let Some(path) = &options.node_features {
        let (labels, why) = labels::labels(&cache)?;
        missing.extend(why);
        write(path, &labels::text(&labels, options.valid))?;
    }
    for why in &missing {
        eprintln!("huepage: not exported: {why}");
    }
    Ok(if missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(3) })
}

fn write(path: &std::path::Path, text: &str) -> anyhow::Result<()> {
    if recording::is_dash(path) {
        return Ok(stdout::print(text)?);
    }
    // All users may read it.
    replace(path, text.as_bytes(), Some(0o644))
}
