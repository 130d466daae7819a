// SPDX-License-Identifier: MIT OR Apache-2.0
//! Maps running processes of this machine.

use huepage::{
    map::{MapError, MapOptions, ProcessMap},
    topology::{CacheOverride, LiveMachine, Topology},
};

use crate::commands::cache_options::last_available_cpu;

/// The machine, read once for any number of maps.
pub struct Reader {
    machine: LiveMachine,
    topology: Topology,
    options: MapOptions,
}

impl Reader {
    /// Reads the machine; `cache` is known by hand.
    ///
    /// # Errors
    /// If it cannot be described.
    pub fn new(cache: Option<CacheOverride>) -> anyhow::Result<Self> {
        let machine = LiveMachine::open(last_available_cpu()?)?;
        let topology = Topology::read(&machine)?;
        let cache = cache.map(|cache| cache.geometry());
        Ok(Reader { machine, topology, options: MapOptions { cache, ..MapOptions::default() } })
    }

    /// Maps a process.
    ///
    /// # Errors
    /// If nothing of it can be shown.
    pub fn read(&self, pid: u32) -> Result<ProcessMap, MapError> {
        ProcessMap::read(pid, &self.machine, &self.topology, &self.options)
    }
}
