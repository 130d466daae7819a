// SPDX-License-Identifier: MIT OR Apache-2.0
//! The modelled memory hierarchy: what it is made of, as options of the QEMU
//! plugin in `lab/model`, and the counts the plugin reports.

mod check;
mod counts;
mod description;
mod options;
pub mod plugin;

pub use check::ModelError;
pub use counts::{FrameCounts, LevelCounts, PageTimes, Record, Records};
pub use description::{Backing, Level, MemorySideCache, Model, Node, Outside, Replacement, Scope};
