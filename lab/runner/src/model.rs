// SPDX-License-Identifier: MIT OR Apache-2.0
//! The modelled memory hierarchy: its parts, as options of the QEMU plugin in
//! `lab/model`, and the counts that the plugin reports.

mod check;
mod counts;
mod description;
mod options;
pub mod plugin;

pub use check::ModelError;
pub use counts::{FrameCounts, LevelCounts, PageTimes, Record, Records};
pub use description::{Backing, Level, MemorySideCache, Model, Node, Outside, Replacement, Scope};
