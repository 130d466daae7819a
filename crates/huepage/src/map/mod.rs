// SPDX-License-Identifier: MIT OR Apache-2.0
//! A process's placement as data: which pages are where, and how even that is.
//!
//! [`ProcessMap::to_json`] and
//! [`ProcessMap::from_json`] take a map elsewhere (schema `huepage.map/1`).

mod area;
mod balance;
mod cells;
mod counts;
mod error;
mod name;
mod process_map;
mod registered;
mod shortfall;

pub use area::{Area, Backing, FileId, KernelCounts};
pub use balance::{Balance, MappedCache, Trust};
pub use cells::{Cell, Cells, KindCount, RunPages};
pub use counts::{HugeCount, Kind, NodeCount, PageCounts, Placement, RunBucket, Runs};
pub use error::MapError;
pub use name::Name;
pub use process_map::{MapRecordError, MappedMachine, Process, ProcessMap};
pub use registered::Registered;
pub use shortfall::{Change, Shortfall, What};
