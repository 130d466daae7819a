// SPDX-License-Identifier: MIT OR Apache-2.0
//! The whole machine as data.

use std::collections::BTreeMap;

use super::{
    Cache, CrossCheck, MachineSource, Measured, NumaNode, Virtualization, cache, cpuid, node,
    source::{indexes, numbered},
};
use crate::units::Bytes;

const CPUS: &str = "/sys/devices/system/cpu";

/// What a machine is: CPUs, caches, nodes, and what was measured of them.
///
/// Serializes as schema `huepage.topology/1`; sizes are bytes, times
/// nanoseconds, CPU and node numbers the kernel's.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Topology {
    /// `huepage.topology/1`.
    pub schema: &'static str,
    /// `x86_64`, `aarch64`, …
    pub architecture: String,
    /// The processor's name, where the kernel knows one.
    pub model: Option<String>,
    /// The size of a base page.
    pub page_size: Bytes,
    /// The CPUs online, ascending.
    pub cpus: Vec<u32>,
    /// Whether this is a virtual machine, and which signs were found.
    pub virtualization: Virtualization,
    /// Every distinct cache, by level, kind and first CPU.
    pub caches: Vec<Cache>,
    /// CPUs for which the system lists no cache at all.
    pub cpus_without_caches: Vec<u32>,
    /// The comparison of these caches with CPUID; `None` if the architecture has no
    /// such leaf.
    pub cpuid: Option<CrossCheck>,
    /// Online NUMA nodes, ascending; none on a kernel without NUMA.
    pub nodes: Vec<NumaNode>,
    /// Where the caches end by timing; `None` where nothing was measured.
    pub measured: Option<Measured>,
    /// Files that exist but could not be read.
    pub problems: Vec<String>,
}

/// Why a machine cannot be described at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TopologyError {
    /// The system does not even list CPUs.
    #[error("no CPUs are listed in {CPUS}: mount sysfs, or read a recorded machine")]
    NoCpus,
}

impl Topology {
    /// Describes the machine behind `source`, without measuring anything.
    ///
    /// # Errors
    /// [`TopologyError`] if there is nothing to describe.
    pub fn read(source: &dyn MachineSource) -> Result<Self, TopologyError> {
        let cpus = indexes(source, &format!("{CPUS}/online"))
            .filter(|online| !online.is_empty())
            .unwrap_or_else(|| numbered(source, CPUS, "cpu"));
        if cpus.is_empty() {
            return Err(TopologyError::NoCpus);
        }
        let caches = cache::read(source, &cpus, &cores(source, &cpus));
        let listed = |cpu: &u32| caches.iter().any(|cache| cache.cpus.contains(cpu));
        let mut problems = Vec::new();
        Ok(Topology {
            schema: "huepage.topology/1",
            architecture: source.architecture().to_owned(),
            model: model(source),
            page_size: source.page_size(),
            cpus_without_caches: cpus.iter().copied().filter(|cpu| !listed(cpu)).collect(),
            cpus,
            virtualization: Virtualization::read(source),
            cpuid: cpuid::cross_check(source.cpu(), source.cpuid(), &caches),
            caches,
            nodes: node::read(source, &mut problems),
            measured: None,
            problems,
        })
    }
}

/// The first CPU of each CPU's core: hardware threads of one core share it.
fn cores(source: &dyn MachineSource, cpus: &[u32]) -> BTreeMap<u32, u32> {
    let first = |cpu: u32| {
        // The older name serves kernels before 5.3.
        ["core_cpus_list", "thread_siblings_list"]
            .iter()
            .find_map(|name| indexes(source, &format!("{CPUS}/cpu{cpu}/topology/{name}")))
            .and_then(|threads| threads.first().copied())
            .unwrap_or(cpu)
    };
    cpus.iter().map(|&cpu| (cpu, first(cpu))).collect()
}

/// `model name` on x86, `cpu` on POWER; arm64 has none in `/proc/cpuinfo`.
fn model(source: &dyn MachineSource) -> Option<String> {
    let cpuinfo = source.read("/proc/cpuinfo")?;
    cpuinfo.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        let is_name = matches!(key.trim(), "model name" | "cpu");
        (is_name && !value.trim().is_empty()).then(|| value.trim().to_owned())
    })
}
