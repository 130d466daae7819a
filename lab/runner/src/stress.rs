// SPDX-License-Identifier: MIT OR Apache-2.0
//! A stress of memory management in a kernel that checks itself: `lab/guest/
//! page-color-stress.c` does it, and any report of the kernel ends it.

use std::time::Duration;

use anyhow::{Context, ensure};
use huepage::units::Bytes;
use serde::{Deserialize, Serialize};

use crate::{
    boot::{Case, Machine, boot},
    experiment::arguments,
    kernel::{self, Request, Variant},
    progress::Progress,
    workspace::Workspace,
};

/// Duration and seed of a stress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stress {
    /// How long, at least.
    pub seconds: u64,
    /// Disturbances, at least.
    pub rounds: u64,
    /// Of the actions of each process; their times depend on the scheduling of the
    /// processes.
    pub seed: u64,
    /// Processes that use memory.
    pub workers: u64,
    /// Pages of an area, at most; a worker has up to eight.
    pub pages: u64,
}

/// Counts of what the stress did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// How long it was stressed.
    pub seconds: u64,
    /// Pages filled with a pattern.
    pub pages_written: u64,
    /// Pages found to hold it.
    pub pages_verified: u64,
    /// Pages that were read before they were written, and were zero.
    pub zeros_read: u64,
    /// Areas of memory that were mapped.
    pub areas: u64,
    /// Children that copied the memory of their parent.
    pub forks: u64,
    /// Processes that the kernel killed for lack of memory.
    pub killed: u64,
    /// Compactions of all memory.
    pub compact: u64,
    /// Times that caches were dropped.
    pub drop: u64,
    /// Blocks of memory taken offline.
    pub offline: u64,
    /// Blocks that the kernel refused to take offline.
    pub offline_refused: u64,
    /// Blocks taken online again.
    pub online: u64,
    /// Runs of pages taken from an area for contiguous memory, and given back.
    pub contiguous: u64,
    /// Such runs that the kernel could not clear of users' pages.
    pub contiguous_refused: u64,
    /// Times that a CPU was taken offline and online again.
    pub cpu: u64,
    /// Faults that got a huge page.
    pub huge: u64,
    /// Huge pages that khugepaged allocated.
    pub collapsed: u64,
    /// Whether the kernel has page coloring; the fields below are about it.
    pub coloring: bool,
    /// Times that it was turned on,
    pub enabled: u64,
    /// and off.
    pub disabled: u64,
    /// Changes of the cache that is colored for.
    pub geometry: u64,
    /// Reads of its statistics.
    pub table: u64,
    /// Color sets given to tasks.
    pub sets: u64,
}

/// Boots the kernel and stresses it. `heard` is called with each line of the console.
///
/// # Errors
/// A kernel that does not build; any report of the kernel about its own faults; a page
/// that does not hold what was written.
pub fn run(
    workspace: &Workspace,
    request: &Request,
    stress: &Stress,
    progress: &Progress,
    heard: &mut dyn FnMut(&str),
) -> anyhow::Result<Done> {
    ensure!(stress.workers > 0 && stress.pages > 0, "there is nothing to do");
    let image = kernel::ensure(request, progress)?;
    let mut machine = Machine::plain(2, Bytes::mib(768));
    machine.run_freely(request.config);
    if request.variant == Variant::Huepage {
        machine.kernel_options.push("zero_pages=8".into());
    }
    // The rest is a zone of its own, which x86_64 can take offline.
    machine.kernel_options.push("kernelcore=256M".into());
    let arguments = arguments([
        ("seconds", stress.seconds),
        ("rounds", stress.rounds),
        ("seed", stress.seed),
        ("workers", stress.workers),
        ("pages", stress.pages),
    ]);
    // A kernel that checks itself boots slowly, and machines are shared.
    let limit = Duration::from_secs(3600 + 2 * stress.seconds);
    let case = Case { arguments, limit, ..Case::of("page-color-stress", machine).on(request) };
    progress.stage(&format!("{request}: stress for {} s", stress.seconds));
    let report = boot(workspace, &case, &image.path, heard)?;
    let said = report.results.last().context("the guest printed no result")?;
    let done: Done =
        serde_json::from_value(said.clone()).with_context(|| format!("the guest said {said}"))?;
    ensure!(done.pages_verified > 0, "not a page was verified: {said}");
    Ok(done)
}
