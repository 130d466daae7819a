// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compares the caches in CPUID with those in sysfs.
//!
//! Leaf 4 on Intel (SDM volume 2, CPUID), leaf 0x8000001D on AMD with topology
//! extensions (APM volume 3, appendix E). Linux fills sysfs from the same
//! leaves; they differ where a hypervisor shows CPUs unlike each other, where
//! firmware overrides, or where a record is wrong.

use raw_cpuid::{CacheType, CpuId, CpuIdResult};

use super::{Cache, CacheFields, CacheKind};
use crate::units::Bytes;

/// One CPUID leaf as the four registers it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct CpuidLeaf {
    /// Value of EAX on call.
    pub leaf: u32,
    /// Value of ECX on call.
    pub subleaf: u32,
    /// EAX, EBX, ECX, EDX on return.
    pub registers: [u32; 4],
}

/// The leaves that this module and the search for a hypervisor read: vendor,
/// features, caches, hypervisor, and the extended counterparts.
#[cfg(target_arch = "x86_64")]
const LEAVES: [(u32, u32); 7] = [
    (0, 1),
    (1, 1),
    (4, 8),
    (0x4000_0000, 1),
    (0x8000_0000, 1),
    (0x8000_0001, 1),
    (0x8000_001d, 8),
];

/// Reads the leaves on the CPU that the thread runs on. Other architectures
/// have none.
#[cfg(target_arch = "x86_64")]
pub(super) fn read_here() -> Vec<CpuidLeaf> {
    use raw_cpuid::native_cpuid::cpuid_count;
    let largest = cpuid_count(0, 0).eax;
    let largest_extended = cpuid_count(0x8000_0000, 0).eax;
    let hypervisor = cpuid_count(1, 0).ecx >> 31 == 1;
    LEAVES
        .into_iter()
        .filter(|&(leaf, _)| match leaf >> 28 {
            4 => hypervisor,
            8 => leaf <= largest_extended,
            _ => leaf <= largest,
        })
        .flat_map(|(leaf, count)| (0..count).map(move |subleaf| (leaf, subleaf)))
        .map(|(leaf, subleaf)| {
            let r = cpuid_count(leaf, subleaf);
            CpuidLeaf { leaf, subleaf, registers: [r.eax, r.ebx, r.ecx, r.edx] }
        })
        .collect()
}

/// Reads the leaves on the CPU that the thread runs on: there are none.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn read_here() -> Vec<CpuidLeaf> {
    Vec::new()
}

/// Bit 31 of ECX of leaf 1, which hypervisors set and processors never do;
/// `None` where the leaf is not known.
pub(super) fn hypervisor_bit(leaves: &[CpuidLeaf]) -> Option<bool> {
    let features = leaves.iter().find(|l| l.leaf == 1)?;
    Some(features.registers[2] >> 31 == 1)
}

/// The signature of the hypervisor leaf 0x40000000, such as `KVMKVMKVM`.
pub(super) fn hypervisor_signature(leaves: &[CpuidLeaf]) -> Option<String> {
    let [_, ebx, ecx, edx] = leaves.iter().find(|l| l.leaf == 0x4000_0000)?.registers;
    let bytes = [ebx, ecx, edx].into_iter().flat_map(u32::to_le_bytes);
    let text: String =
        bytes.filter(|byte| byte.is_ascii_graphic() || *byte == b' ').map(char::from).collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The caches of one CPU in sysfs and CPUID, side by side.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CrossCheck {
    /// The CPU compared.
    pub cpu: u32,
    /// The CPUID leaf: `0x4` or `0x8000001d`.
    pub leaf: String,
    /// One entry per cache that either source names.
    pub caches: Vec<Comparison>,
}

impl CrossCheck {
    /// Whether both sources agree on every cache.
    pub fn agrees(&self) -> bool {
        self.caches.iter().all(|cache| cache.differences.is_empty())
    }
}

/// One cache in both sources.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Comparison {
    /// Level: 1, 2, 3, …
    pub level: u8,
    /// What it holds.
    pub kind: CacheKind,
    /// Where the sources differ; empty where they agree on size, ways, line and
    /// sets.
    pub differences: Vec<Difference>,
}

/// A value on which the sources differ; `None` if a source does not have it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Difference {
    /// `size` (bytes), `ways`, `line` (bytes) or `sets`.
    pub field: &'static str,
    /// According to sysfs.
    pub sysfs: Option<u64>,
    /// According to CPUID.
    pub cpuid: Option<u64>,
}

/// Compares the caches that sysfs lists for `cpu` with CPUID; `None` if CPUID lists no
/// caches.
pub(super) fn cross_check(cpu: u32, leaves: &[CpuidLeaf], caches: &[Cache]) -> Option<CrossCheck> {
    if leaves.is_empty() {
        return None;
    }
    let amd = leaves.iter().any(|l| l.leaf == 0x8000_001d && l.registers[0] & 0x1f != 0);
    let from_cpuid = parameters(leaves)?;
    let mut from_sysfs: Vec<&Cache> =
        caches.iter().filter(|cache| cache.cpus.contains(&cpu)).collect();
    let mut compared: Vec<Comparison> = Vec::new();
    for (level, kind, fields) in from_cpuid {
        let at = from_sysfs.iter().position(|c| (c.level, c.kind) == (level, kind));
        let sysfs = at.map(|i| from_sysfs.remove(i).declared).unwrap_or_default();
        compared.push(Comparison { level, kind, differences: differences(sysfs, fields) });
    }
    compared.extend(from_sysfs.into_iter().map(|cache| Comparison {
        level: cache.level,
        kind: cache.kind,
        differences: differences(cache.declared, CacheFields::default()),
    }));
    let leaf = if amd { "0x8000001d" } else { "0x4" }.to_owned();
    Some(CrossCheck { cpu, leaf, caches: compared })
}

fn parameters(leaves: &[CpuidLeaf]) -> Option<Vec<(u8, CacheKind, CacheFields)>> {
    // Leaves that were not recorded read as zero, as the processor answers for
    // a leaf it does not have.
    let reader = |leaf: u32, subleaf: u32| {
        let [eax, ebx, ecx, edx] = leaves
            .iter()
            .find(|l| (l.leaf, l.subleaf) == (leaf, subleaf))
            .map_or([0; 4], |l| l.registers);
        CpuIdResult { eax, ebx, ecx, edx }
    };
    let caches: Vec<_> = CpuId::with_cpuid_reader(reader)
        .get_cache_parameters()?
        // More than a processor can have: the list in a record might never end.
        .take(16)
        .filter_map(|cache| {
            let kind = match cache.cache_type() {
                CacheType::Data => CacheKind::Data,
                CacheType::Instruction => CacheKind::Instruction,
                CacheType::Unified => CacheKind::Unified,
                _ => return None,
            };
            let (ways, line, sets) =
                (cache.associativity(), cache.coherency_line_size(), cache.sets());
            let partitions = cache.physical_line_partitions();
            let size = [ways, line, partitions, sets].iter().map(|&n| n as u64).product();
            let fields = CacheFields {
                size: Some(Bytes(size)),
                ways: u32::try_from(ways).ok(),
                line: u32::try_from(line).ok(),
                sets: u32::try_from(sets).ok(),
            };
            Some((cache.level(), kind, fields))
        })
        .collect();
    (!caches.is_empty()).then_some(caches)
}

fn differences(sysfs: CacheFields, cpuid: CacheFields) -> Vec<Difference> {
    let values = |fields: CacheFields| {
        [
            fields.size.map(|size| size.0),
            fields.ways.map(u64::from),
            fields.line.map(u64::from),
            fields.sets.map(u64::from),
        ]
    };
    ["size", "ways", "line", "sets"]
        .into_iter()
        .zip(values(sysfs).into_iter().zip(values(cpuid)))
        .filter(|(_, (sysfs, cpuid))| sysfs != cpuid)
        .map(|(field, (sysfs, cpuid))| Difference { field, sysfs, cpuid })
        .collect()
}
