// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs any program in a guest under the modelled hierarchy: its accesses and misses by
//! cache and by mapping, and how its pages share the cache's colors.
//!
//! The guest reads the files of this machine; it writes only to its own memory.

mod guest;
mod mappings;
mod outcome;
mod text;

use std::{ffi::OsString, path::PathBuf, time::Duration};

use huepage::units::Bytes;

use crate::{
    arch::Arch,
    dose::Dose,
    model::{Level, Model, Replacement},
    placement::Placement,
};

pub use guest::run;
pub use outcome::{
    CacheCounts, ColoredCache, Colors, Ended, MappingCounts, Outcome, ZERO_PAGES, colored_cache,
};
pub use text::text;

/// A program, and the machine that it runs on.
#[derive(Clone, Debug)]
pub struct Job {
    /// The program and its arguments.
    pub program: Vec<OsString>,
    /// Where it starts.
    pub directory: PathBuf,
    /// Its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The folder that is its root.
    pub root: PathBuf,
    /// The architecture of kernel and program.
    pub arch: Arch,
    /// The caches.
    pub model: Model,
    /// CPUs of the guest.
    pub cpus: u32,
    /// Memory of the guest, which also holds the files that the program writes.
    pub memory: Bytes,
    /// The seed of the work that ages memory.
    pub seed: u64,
    /// Further words for the kernel's command line.
    pub kernel_options: Vec<String>,
    /// After this long it is stopped.
    pub limit: Duration,
}

/// One combination of policy and age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The policy by which pages are placed.
    pub policy: Placement,
    /// The use of memory before.
    pub age: Age,
}

/// The use of memory before the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    /// Nothing since the boot.
    Fresh,
    /// [`DAYS`] days of this work.
    Days(Dose),
}

/// Days of aging, as in the experiment `aging`.
pub const DAYS: u32 = 3;

impl Age {
    /// As options spell it.
    pub fn name(self) -> &'static str {
        match self {
            Age::Fresh => "fresh",
            Age::Days(dose) => dose.name,
        }
    }
}

impl std::str::FromStr for Age {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "fresh" => Ok(Age::Fresh),
            name => Dose::find(name)
                .map(Age::Days)
                .ok_or_else(|| format!("no age '{name}'; there are fresh, light, medium, heavy")),
        }
    }
}

/// The default caches: an L1 of 32 KiB whose way is a page, and an L2 of 2 MiB with 16
/// ways, 32 colors.
pub fn default_model() -> Model {
    let tree = Replacement::TreePlru;
    Model {
        levels: vec![
            Level::private("L1", Bytes::kib(32), 8, tree, 4),
            Level::private("L2", Bytes::mib(2), 16, tree, 15),
        ],
        ..Model::uncached(100)
    }
}
