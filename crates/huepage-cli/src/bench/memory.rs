// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks whether a run has enough memory, before any of it is touched: the kernel
//! grants any mapping, and when pages run out it kills a process, maybe another one.

use anyhow::bail;
use huepage::{available_memory, units::Bytes};

use super::{Placement, stir, suite::Job};

/// The largest size at which a placement runs; zero if it runs at none.
pub fn largest(jobs: &[Job], placement: Placement) -> Bytes {
    let runs = jobs.iter().filter(|job| job.placements.contains(&placement));
    runs.map(|job| job.bytes).max().unwrap_or(Bytes(0))
}

/// Memory of allocations from the kernel, and as much again that stirring takes for a
/// while.
pub fn plain(jobs: &[Job], placements: &[Placement], allocations: usize) -> Bytes {
    let of = |placement: &Placement| largest(jobs, *placement).0.saturating_mul(allocations as u64);
    let kept = placements.iter().filter(|p| p.is_plain()).map(of).fold(0, u64::saturating_add);
    let stirred = if placements.contains(&Placement::Stirred) {
        stir::stirred(Bytes(of(&Placement::Stirred))).0
    } else {
        0
    };
    Bytes(kept.saturating_add(stirred))
}

/// Refuses a run that needs more than is available.
///
/// # Errors
/// If it does.
pub fn check(wanted: Bytes, allocations: usize) -> anyhow::Result<()> {
    match available_memory() {
        Some(available) if available < wanted => bail!(
            "{allocations} allocations of each placement need {wanted}, and {available} of memory \
             are available: give fewer with --allocations or --placements"
        ),
        _ => Ok(()),
    }
}
