// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages that the kernel's same-page merging (KSM) has merged: which processes share
//! them, how much memory that saves, and which processes read them from another node.
//!
//! [`Merged::read`] looks at running processes (schema `huepage.merged/1`).
//! `/proc/kpageflags` shows which pages are merged and `/proc/PID/pagemap` where they
//! are; reading both takes `CAP_SYS_ADMIN` and root's files. Without these, only the
//! counts of `smaps` are available. The kernel's own counts and knobs are in
//! `/sys/kernel/mm/ksm` (`Documentation/admin-guide/mm/ksm.rst`).
//!
//! ```no_run
//! use huepage::merged::{Merged, merging};
//! use huepage::topology::{LiveMachine, Topology};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let machine = LiveMachine::open(0)?;
//! let topology = Topology::read(&machine)?;
//! let merged = Merged::read(&merging()?, &machine, &topology)?;
//! if let Some(pages) = &merged.pages {
//!     println!("{} pages in {} frames", pages.mappings, pages.frames);
//! }
//! # Ok(())
//! # }
//! ```

mod kernel;
mod read;

use serde::Serialize;

pub use self::{
    kernel::{Domain, Ksm, domains},
    read::merging,
};
use crate::{map::NodeCount, proc::Name, units::Bytes};

/// The merged pages of some processes.
#[derive(Clone, Debug, Serialize)]
pub struct Merged {
    /// `huepage.merged/1`.
    pub schema: String,
    /// The processes, by number.
    pub processes: Vec<MergedProcess>,
    /// Their merged pages; `None` where frame numbers or flags are hidden.
    pub pages: Option<MergedPages>,
    /// The kernel's counts for all processes; `None` on a kernel without KSM.
    pub ksm: Option<Ksm>,
    /// What could not be read, and why.
    pub shortfalls: Vec<String>,
}

/// One of the processes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MergedProcess {
    /// Its number.
    pub pid: u32,
    /// Its name.
    pub name: Name,
    /// Nodes on whose CPUs its threads last ran, the one with most threads first; empty
    /// if the kernel does not show them.
    pub nodes: Vec<u32>,
    /// Its merged pages. From `smaps`, where flags are hidden: then pages of zeros
    /// that KSM has put in place are among them.
    pub mappings: u64,
    /// Different frames behind them.
    pub frames: Option<u64>,
    /// Of the pages, those on none of `nodes`.
    pub remote: Option<u64>,
}

/// The merged pages of the processes together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MergedPages {
    /// Pages of all processes.
    pub mappings: u64,
    /// Different frames behind them.
    pub frames: u64,
    /// How much more memory the processes would need if each page had its own frame.
    pub saved: Bytes,
    /// Frames by node.
    pub frames_by_node: Vec<NodeCount>,
    /// Pages by the first node of the process that reads them and the node of their frame.
    pub reads: Vec<Reads>,
}

/// Pages that processes of one node have on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Reads {
    /// Where the processes run.
    pub from: u32,
    /// Where the frames are.
    pub on: u32,
    /// How many pages.
    pub mappings: u64,
}
