// SPDX-License-Identifier: MIT OR Apache-2.0
//! Caches in front of memory: HBM or DRAM that caches a larger, slower kind.
//!
//! `/sys/devices/system/node/nodeN/memory_side_cache/indexM/`, filled from the
//! ACPI HMAT; described in the kernel's Documentation/admin-guide/mm/numaperf.rst
//! and Documentation/ABI/stable/sysfs-devices-node.

use super::{
    MachineSource,
    source::{number, numbered, text},
};
use crate::units::Bytes;

/// A cache in front of one node's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MemorySideCache {
    /// Level; 1 is next to the memory, higher ones are nearer to the CPUs.
    pub level: u32,
    /// Capacity; `None` if the kernel does not show it or shows 0.
    pub size: Option<Bytes>,
    /// Bytes moved per miss; `None` if the kernel does not show it or shows 0.
    pub line: Option<u32>,
    /// How an address finds its place.
    pub indexing: Indexing,
    /// When a write reaches the memory.
    pub write_policy: WritePolicy,
    /// Whether the cache is memory, too; `None` if the kernel does not show it (before
    /// Linux 6.15).
    pub address_mode: Option<AddressMode>,
    /// Page colors: of a direct-mapped one, size / page size. `None` for others, since
    /// HMAT does not have their ways.
    pub colors: Option<u64>,
}

/// How an address finds its place in a memory-side cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Indexing {
    /// One place per address (0 in sysfs): two pages a cache size apart evict
    /// each other.
    DirectMapped,
    /// Several places or a hash (1 in sysfs).
    Indexed,
    /// Anything else the platform has not described.
    Other,
}

/// When a write reaches the memory behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum WritePolicy {
    /// On eviction (0 in sysfs).
    WriteBack,
    /// At once (1 in sysfs).
    WriteThrough,
    /// Anything else.
    Other,
}

/// How the addresses of a memory-side cache and of the memory behind it lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum AddressMode {
    /// The platform does not say (0 in sysfs).
    Reserved,
    /// The capacity of the cache is added to that of the memory behind it (1 in
    /// sysfs; ACPI 6.6): the node is larger than the cache by what is behind it,
    /// and pages a cache size apart take turns in one place of the cache.
    ExtendedLinear,
    /// Anything that is defined later.
    Other,
}

/// Hexadecimal; Linux writes it with a prefix.
fn address_mode(source: &dyn MachineSource, path: &str) -> Option<AddressMode> {
    let text = text(source, path)?;
    let digits = text.strip_prefix("0x").unwrap_or(&text);
    match u64::from_str_radix(digits, 16).ok()? {
        0 => Some(AddressMode::Reserved),
        1 => Some(AddressMode::ExtendedLinear),
        _ => Some(AddressMode::Other),
    }
}

/// The memory-side caches of the node at `directory`, by level.
pub(super) fn read(source: &dyn MachineSource, directory: &str) -> Vec<MemorySideCache> {
    let directory = format!("{directory}/memory_side_cache");
    numbered(source, &directory, "index")
        .into_iter()
        .map(|level| {
            let at = |name: &str| format!("{directory}/index{level}/{name}");
            let size = number(source, &at("size")).filter(|&size| size > 0).map(Bytes);
            let indexing = match number(source, &at("indexing")) {
                Some(0u32) => Indexing::DirectMapped,
                Some(1) => Indexing::Indexed,
                _ => Indexing::Other,
            };
            let write_policy = match number(source, &at("write_policy")) {
                Some(0u32) => WritePolicy::WriteBack,
                Some(1) => WritePolicy::WriteThrough,
                _ => WritePolicy::Other,
            };
            let colors = size
                .filter(|_| indexing == Indexing::DirectMapped)
                .map(|size| (size.0 / source.page_size().0).max(1));
            let line = number(source, &at("line_size")).filter(|&line| line > 0);
            let address_mode = address_mode(source, &at("address_mode"));
            MemorySideCache { level, size, line, indexing, write_policy, address_mode, colors }
        })
        .collect()
}
