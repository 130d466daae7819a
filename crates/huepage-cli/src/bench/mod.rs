// SPDX-License-Identifier: MIT OR Apache-2.0
//! What placement is worth: workloads over freshly placed memory, the runner
//! that interleaves placements, and the report in text, JSON, SVG and PNG.

mod findings;
mod machine;
mod output;
mod placement;
mod placements;
mod plain;
mod plot;
mod report;
mod runner;
mod stats;
mod suite;
mod text;
mod workbench;
mod workload;
mod workloads;

pub use findings::percent;
pub use machine::Machine;
pub use output::write_all;
pub use placement::Placement;
pub use placements::Placements;
pub use plain::Plain;
pub use report::{Kind, Report, Schema};
pub use runner::{Plan, measure};
pub use suite::Suite;
pub use text::text;
pub use workbench::{Buffer, Workbench};
