// SPDX-License-Identifier: MIT OR Apache-2.0
//! The whole map as data, and as JSON.

use serde::{Deserialize, Serialize};

use super::{
    Area, Change, KernelCounts, MappedCache, Name, PageSummary, RegisteredMemory, Shortfall,
};
use crate::{run::Way, units::Bytes};

/// The schema of a map.
pub(super) const SCHEMA: &str = "huepage.map/1";

/// Where the pages of one process are.
///
/// Serializes as schema `huepage.map/1`; sizes are bytes, counts are base
/// pages, addresses and node numbers the kernel's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProcessMap {
    /// `huepage.map/1`.
    pub schema: String,
    /// The program that made it, with its version.
    pub made_by: String,
    /// Seconds since 1970 when the reading began.
    pub taken: u64,
    /// Seconds the reading took.
    pub seconds: f64,
    /// Which process.
    pub process: Process,
    /// How `huepage run` places its pages: by the library that it has loaded.
    #[serde(default)]
    pub placed_by: Option<Way>,
    /// Where it ran.
    pub machine: MappedMachine,
    /// The caches that have colors: by level, memory-side caches last.
    pub caches: Vec<MappedCache>,
    /// The index in `caches` of the one that [`super::Cell::colors`] is about;
    /// `None` where no color is known.
    pub cell_cache: Option<usize>,
    /// All areas added up. Frames that several areas map count once in
    /// `pages.frames` and in the balances.
    pub total: PageSummary,
    /// What the kernel counts, added up; `None` where `smaps` cannot be read.
    pub kernel: Option<KernelCounts>,
    /// Every mapping, by address.
    pub areas: Vec<Area>,
    /// Memory whose colors the program itself has registered.
    pub registered: Vec<RegisteredMemory>,
    /// What is missing, and why.
    pub shortfalls: Vec<Shortfall>,
    /// What the process did while it was read.
    pub changes: Vec<Change>,
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number in the PID namespace of the process that read the map.
    pub pid: u32,
    /// Its numbers in namespaces below, from here inwards; the first is `pid`.
    /// More than one for a process in a container.
    pub pid_in_namespaces: Vec<u32>,
    /// Its short name (`comm`).
    pub name: Name,
    /// Its arguments, without empty ones at the end; none where it has erased
    /// them.
    pub command: Vec<Name>,
    /// When it started, in clock ticks since boot: with `pid` this names it
    /// for good.
    pub start_time: u64,
    /// How many threads it has.
    pub threads: u32,
}

/// What a map depends on of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappedMachine {
    /// The processor's name, where the kernel knows one.
    pub model: Option<String>,
    /// Kernel release.
    pub kernel: String,
    /// The size of a base page.
    pub page_size: Bytes,
    /// The online nodes, ascending; empty on a kernel without NUMA.
    pub nodes: Vec<u32>,
    /// Whether a hypervisor was seen. Then frame numbers are the guest's own,
    /// and colors by them are not those of the cache.
    pub virtual_machine: bool,
    /// Its name, where known.
    pub hypervisor: Option<String>,
}

/// Why a text is no recorded map.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MapRecordError {
    /// Not JSON, or not of this shape.
    #[error("not a recorded map")]
    Json(#[from] serde_json::Error),
    /// Another schema, or a later version.
    #[error("the schema is '{0}', this program reads '{SCHEMA}': record the map again")]
    Schema(Name),
    /// Values that no process has.
    #[error("not a recorded map: {0}")]
    Value(String),
}

impl ProcessMap {
    /// Reads the JSON text of a map.
    ///
    /// # Errors
    /// [`MapRecordError`] says what is wrong with it.
    pub fn from_json(json: &str) -> Result<Self, MapRecordError> {
        #[derive(Deserialize)]
        struct Head {
            schema: Name,
        }
        // The schema first: a later version may have another shape.
        let head: Head = serde_json::from_str(json)?;
        if head.schema.as_str() != SCHEMA {
            return Err(MapRecordError::Schema(head.schema));
        }
        let map: Self = serde_json::from_str(json)?;
        map.check().map_err(MapRecordError::Value)?;
        Ok(map)
    }

    /// The map as JSON text on one line.
    ///
    /// # Panics
    /// Never: all keys are strings and all numbers finite.
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string(self).expect("a map is plain data");
        json.push('\n');
        json
    }
}
