// SPDX-License-Identifier: MIT OR Apache-2.0
//! A process's placement as data: which pages are where, and how even that is.
//!
//! [`ProcessMap::read`] looks at a running process; [`ProcessMap::to_json`] and
//! [`ProcessMap::from_json`] take a map elsewhere (schema `huepage.map/1`). A program
//! that knows the colors of its own memory publishes them with a
//! [`Registration`].
//!
//! ```no_run
//! use huepage::map::{MapOptions, Process, ProcessMap};
//! use huepage::topology::{LiveMachine, Topology};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let machine = LiveMachine::open(0)?;
//! let topology = Topology::read(&machine)?;
//! for process in Process::find("postgres")? {
//!     let map = ProcessMap::read(process.pid, &machine, &topology, &MapOptions::default())?;
//!     for (cache, balance) in map.caches.iter().zip(&map.total.balances) {
//!         println!(
//!             "{}: {} pages do not fit though there is room ({:.0} at random), {:?}",
//!             cache.name, balance.imbalance, balance.imbalance_if_random, cache.trust
//!         );
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Privileges that the parts of a map need (`proc(5)`, the kernel's
//! `Documentation/admin-guide/mm/pagemap.rst`):
//!
//! | | needs |
//! |---|---|
//! | areas, pages present and swapped, the kernel's counts, nodes | the same user, or `CAP_SYS_PTRACE` and `CAP_DAC_READ_SEARCH` |
//! | frame numbers, and with them runs, colors, distinct frames | `CAP_SYS_ADMIN` in the initial user namespace |
//! | KSM, sizes of huge pages, shared memory apart from files | also root or `CAP_DAC_READ_SEARCH`, to open `/proc/kpageflags` |
//!
//! Pages come and go while they are read, so a map is no snapshot. A map of a process
//! at rest equals the kernel's counts to the page.
//!
//! Implementation notes. `gather` reads and `tally` adds up; `spread`, `random`,
//! `runs` and `cell_tally` are plain arithmetic.

mod access;
mod area;
mod balance;
mod caches;
mod cell_tally;
mod cells;
mod check;
mod classify;
mod counts;
mod error;
mod frame_set;
mod gather;
mod process;
mod process_map;
mod random;
mod read;
mod register;
mod registered_memory;
mod runs;
mod shortfall;
mod spread;
mod tally;

pub use crate::proc::{KernelCounts, Name};
pub(crate) use access::refused;
pub use area::{Area, Backing, FileId};
pub use balance::{Balance, MappedCache, Trust};
pub use cells::{Cell, Cells, KindCount, RunPages};
pub use counts::{HugeCount, Kind, NodeCount, PageCounts, PageSummary, RunBucket, Runs};
pub use error::MapError;
pub use process_map::{MapRecordError, MappedMachine, Process, ProcessMap};
pub use read::MapOptions;
pub use register::{RegisterError, Registration};
pub use registered_memory::RegisteredMemory;
pub use shortfall::{Change, Shortfall, What};
