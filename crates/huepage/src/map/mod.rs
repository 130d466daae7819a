// SPDX-License-Identifier: MIT OR Apache-2.0
//! A process's placement as data: which pages are where, and how even that is.
//!
//! [`ProcessMap::read`] looks at a running process; [`ProcessMap::to_json`] and
//! [`ProcessMap::from_json`] take a map elsewhere (schema `huepage.map/1`).

mod area;
mod balance;
mod caches;
mod cell_tally;
mod cells;
mod check;
mod counts;
mod error;
mod frame_set;
mod gather;
mod name;
mod options;
mod process;
mod process_map;
mod random;
mod read;
mod register;
mod registered;
mod runs;
mod shortfall;
mod spread;
mod tally;

pub use crate::frames::KernelCounts;
pub use area::{Area, Backing, FileId};
pub use balance::{Balance, MappedCache, Trust};
pub use cells::{Cell, Cells, KindCount, RunPages};
pub use counts::{HugeCount, Kind, NodeCount, PageCounts, Placement, RunBucket, Runs};
pub use error::MapError;
pub use name::Name;
pub use options::MapOptions;
pub use process_map::{MapRecordError, MappedMachine, Process, ProcessMap};
pub use register::{RegisterError, Registration};
pub use registered::Registered;
pub use shortfall::{Change, Shortfall, What};
