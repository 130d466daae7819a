// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collects everything that is exported; if a part fails, the others are still
//! collected.

use std::time::Duration;

use huepage::topology::{CacheGeometry, Measured};

use super::kernel::KernelState;
use crate::commands::{
    cache_options::ResolvedCache,
    palette::Entry,
    pressure::{self, PressureReport},
    topology,
};
use crate::signals::Interrupted;

/// The parts, each a result or an error.
pub struct Seen {
    pub cpu: u32,
    pub cache: Option<CacheGeometry>,
    pub pressure: anyhow::Result<PressureReport>,
    pub measured: anyhow::Result<Measured>,
    pub palettes: anyhow::Result<Vec<Entry>>,
    pub kernel: KernelState,
}

impl Seen {
    /// Each part by its name, with its error if there is one.
    pub fn parts(&self) -> [(&'static str, Option<&anyhow::Error>); 3] {
        [
            ("pressure", self.pressure.as_ref().err()),
            ("size", self.measured.as_ref().err()),
            ("palette", self.palettes.as_ref().err()),
        ]
    }

    /// The missing parts, for people.
    pub fn missing(&self) -> Vec<String> {
        let parts = self.parts().into_iter();
        parts.filter_map(|(name, why)| Some(format!("{name}: {:#}", why?))).collect()
    }
}

/// Measures for `look` what others evict, and collects the rest once.
///
/// # Errors
/// [`Interrupted`] only.
pub fn observe(cache: &ResolvedCache, look: Duration) -> anyhow::Result<Seen> {
    let pressure = match pressure::once(cache, look) {
        Err(error) if error.is::<Interrupted>() => return Err(error),
        pressure => pressure,
    };
    Ok(Seen {
        cpu: cache.cpu,
        cache: cache.geometry,
        pressure,
        measured: topology::measured_here(cache.cpu),
        palettes: Entry::look_at_all(cache),
        kernel: KernelState::read(),
    })
}
