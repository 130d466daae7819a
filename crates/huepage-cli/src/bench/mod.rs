// SPDX-License-Identifier: MIT OR Apache-2.0
//! What placement is worth: workloads over freshly placed memory, the runner
//! that interleaves placements, and the report in text, JSON, SVG and PNG.

mod cache;
mod findings;
mod machine;
mod output;
mod pin;
mod placement;
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

pub use cache::level_two;
pub use machine::Machine;
pub use output::{Output, write_all};
pub use pin::{last_allowed_cpu, pin_to};
pub use placement::Placement;
pub use plain::Plain;
pub use report::{Kind, Report, Schema};
pub use runner::{Plan, measure};
pub use suite::Suite;
pub use text::text;
pub use workbench::{Buffer, Workbench};
