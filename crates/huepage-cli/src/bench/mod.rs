// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measures what placement gains: workloads over placed memory, allocations of all
//! placements side by side, and the report in text, JSON, SVG and PNG.
//!
//! [`runner`] takes the [`samples`], each with its [`moment`]; [`analysis`] makes rows
//! of them, with intervals by [`bootstrap`]; every output is made from the rows.

mod analysis;
mod bootstrap;
pub mod exec;
mod findings;
mod host;
mod imbalance;
pub mod memory;
mod moment;
mod output;
mod placement;
mod placements;
mod plain;
mod plot;
mod progress;
mod report;
mod runner;
mod samples;
mod share;
#[cfg(test)]
mod simulated;
mod stats;
mod stir;
mod suite;
mod text;
mod verdict;
mod workbench;
mod workload;
mod workloads;

pub use analysis::{moments, rows};
pub use bootstrap::Estimate;
pub use findings::{chase, interval, slower_in_a_quarter};
pub use host::{Host, cache_text, command_line, words};
pub use output::{LOOK, Look, write_all};
pub use placement::Placement;
pub use placements::Placements;
pub use plain::Plain;
pub use progress::Preparation;
#[cfg(test)]
pub use report::VerdictKind;
pub use report::{BenchReport, SCHEMA};
pub use runner::{Plan, measure};
pub use samples::Samples;
pub use share::CacheShare;
pub use suite::Suite;
pub use text::text;
pub use verdict::verdict;
pub use workbench::Workbench;
