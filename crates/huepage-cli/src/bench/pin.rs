// SPDX-License-Identifier: MIT OR Apache-2.0
//! One CPU for the whole run.

use anyhow::{Context, bail};
use huepage::list;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The CPUs this process may run on, ascending.
fn allowed() -> anyhow::Result<Vec<u32>> {
    let set = sched_getaffinity(None).context("asking which CPUs this process may use")?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).map(|cpu| cpu as u32).collect())
}

/// The last CPU this process may run on: the first ones tend to serve the
/// interrupts of the machine.
///
/// # Errors
/// If the kernel does not say which CPUs these are.
pub fn last_allowed_cpu() -> anyhow::Result<u32> {
    allowed()?.last().copied().context("this process may run on no CPU below 1024")
}

/// Keeps the calling thread on one CPU. A move to another would take the
/// thread away from the cache whose colors matter.
///
/// # Errors
/// If the CPU does not exist or is not allowed; the message says which are.
pub fn pin_to(cpu: u32) -> anyhow::Result<()> {
    let allowed = allowed()?;
    if !allowed.contains(&cpu) {
        bail!(
            "CPU {cpu} is not there for this process: --cpu takes one of {}",
            list::format(&allowed)
        );
    }
    let mut set = CpuSet::new();
    set.set(cpu as usize);
    sched_setaffinity(None, &set).with_context(|| format!("pinning to CPU {cpu}"))
}
