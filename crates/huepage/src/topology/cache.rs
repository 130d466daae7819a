// SPDX-License-Identifier: MIT OR Apache-2.0
//! The caches that sysfs declares, each once, with the CPUs that share it.
//!
//! `/sys/devices/system/cpu/cpuN/cache/indexM/`, described in the kernel's
//! Documentation/ABI/testing/sysfs-devices-system-cpu. A file that the kernel
//! has no value for is absent; only `ways_of_associativity` may read 0.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use super::{
    CacheGeometry, MachineSource,
    source::{indexes, number, numbered, text},
};
use crate::units::{Bytes, ColorCount};

/// What a cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum CacheKind {
    /// Data only.
    Data,
    /// Instructions only.
    Instruction,
    /// Both.
    Unified,
}

/// The values a source gives for a cache; `None` where it gives none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CacheFields {
    /// Capacity. sysfs rounds down to whole KiB.
    pub size: Option<Bytes>,
    /// Associativity.
    pub ways: Option<u32>,
    /// Line length in bytes.
    pub line: Option<u32>,
    /// Number of sets.
    pub sets: Option<u32>,
}

/// Whether the declared values can be those of a real cache.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "status", rename_all = "kebab-case"))]
pub enum Verdict {
    /// They fit each other.
    Accepted {
        /// The values, checked.
        geometry: CacheGeometry,
        /// Page colors that follow from sets, line and page size.
        colors: ColorCount,
    },
    /// They cannot be true.
    Rejected {
        /// Why, by name.
        reason: String,
    },
    /// Some are missing, so that nothing follows.
    NotDeclared {
        /// Which: `size`, `ways`, `line`, `sets`, `sharing`.
        missing: Vec<&'static str>,
    },
}

/// One cache of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Cache {
    /// Level: 1, 2, 3, …
    pub level: u8,
    /// What it holds.
    pub kind: CacheKind,
    /// The online CPUs that share it, ascending.
    pub cpus: Vec<u32>,
    /// How many cores these CPUs belong to. A core's own cache has 1, however
    /// many hardware threads the core runs.
    pub cores: u32,
    /// The values as declared.
    pub declared: CacheFields,
    /// Whether they can be true.
    pub verdict: Verdict,
}

impl Cache {
    /// `L1d`, `L1i`, `L2`, …
    pub fn name(&self) -> String {
        cache_name(self.level, self.kind)
    }

    /// The geometry, where it was accepted.
    pub fn geometry(&self) -> Option<CacheGeometry> {
        match self.verdict {
            Verdict::Accepted { geometry, .. } => Some(geometry),
            _ => None,
        }
    }
}

/// `L1d`, `L1i`, `L2`, …
pub fn cache_name(level: u8, kind: CacheKind) -> String {
    let suffix = match kind {
        CacheKind::Data => "d",
        CacheKind::Instruction => "i",
        CacheKind::Unified => "",
    };
    format!("L{level}{suffix}")
}

impl fmt::Display for CacheKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            CacheKind::Data => "data",
            CacheKind::Instruction => "instruction",
            CacheKind::Unified => "unified",
        })
    }
}

/// All distinct caches of `cpus`, ordered by level, kind and first CPU.
pub(super) fn read(
    source: &dyn MachineSource,
    cpus: &[u32],
    cores: &BTreeMap<u32, u32>,
) -> Vec<Cache> {
    let mut found: BTreeSet<(u8, CacheKind, Vec<u32>, CacheFields, bool)> = BTreeSet::new();
    for &cpu in cpus {
        let directory = format!("/sys/devices/system/cpu/cpu{cpu}/cache");
        for index in numbered(source, &directory, "index") {
            let directory = format!("{directory}/index{index}");
            let Some((level, kind)) = identity(source, &directory) else { continue };
            let shared = indexes(source, &format!("{directory}/shared_cpu_list"))
                .filter(|list| list.contains(&cpu));
            let sharing_known = shared.is_some();
            let shared = shared.unwrap_or_else(|| vec![cpu]);
            let fields = fields(source, &directory);
            found.insert((level, kind, shared, fields, sharing_known));
        }
    }
    found
        .into_iter()
        .map(|(level, kind, cpus, declared, sharing_known)| {
            let mut sharing: Vec<u32> =
                cpus.iter().map(|cpu| cores.get(cpu).copied().unwrap_or(*cpu)).collect();
            sharing.sort_unstable();
            sharing.dedup();
            Cache {
                level,
                kind,
                cores: sharing.len() as u32,
                verdict: verdict(level, declared, sharing_known, source.page_size()),
                cpus,
                declared,
            }
        })
        .collect()
}

fn identity(source: &dyn MachineSource, directory: &str) -> Option<(u8, CacheKind)> {
    let level = number(source, &format!("{directory}/level"))?;
    let kind = match text(source, &format!("{directory}/type"))?.as_str() {
        "Data" => CacheKind::Data,
        "Instruction" => CacheKind::Instruction,
        "Unified" => CacheKind::Unified,
        _ => return None,
    };
    Some((level, kind))
}

fn fields(source: &dyn MachineSource, directory: &str) -> CacheFields {
    let at = |name: &str| format!("{directory}/{name}");
    CacheFields {
        size: text(source, &at("size")).and_then(|size| size.parse().ok()),
        ways: number(source, &at("ways_of_associativity")),
        line: number(source, &at("coherency_line_size")),
        sets: number(source, &at("number_of_sets")),
    }
}

fn verdict(level: u8, declared: CacheFields, sharing_known: bool, page: Bytes) -> Verdict {
    let CacheFields { size, ways, line, sets } = declared;
    if let (Some(size), Some(ways), Some(line), Some(sets), true) =
        (size, ways, line, sets, sharing_known)
    {
        return match CacheGeometry::declared(level, size, ways, line, sets) {
            Ok(geometry) => Verdict::Accepted { geometry, colors: geometry.colors(page) },
            Err(error) => Verdict::Rejected { reason: error.to_string() },
        };
    }
    let present = [
        ("size", size.is_some()),
        ("ways", ways.is_some()),
        ("line", line.is_some()),
        ("sets", sets.is_some()),
        ("sharing", sharing_known),
    ];
    let missing = present.into_iter().filter(|(_, is)| !is).map(|(name, _)| name).collect();
    Verdict::NotDeclared { missing }
}
