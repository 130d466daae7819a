// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ways in which a boot fails, each with the last lines of the console.

use std::time::Duration;

use thiserror::Error;

/// Why a boot gave no result.
#[derive(Debug, Error)]
pub enum BootError {
    /// The kernel panicked.
    #[error("the kernel panicked: {reason}\n{console}")]
    Panic {
        /// What it said.
        reason: String,
        /// The last lines.
        console: String,
    },
    /// The kernel reported a fault in itself: an oops, a failed check of a debug
    /// kernel.
    #[error("the kernel reported a fault: {reason}\n{console}")]
    Oops {
        /// Its first line.
        reason: String,
        /// The last lines.
        console: String,
    },
    /// The console was silent for too long.
    #[error(
        "the guest was stopped after {} s, its limit; its last line came {} s before\n{console}",
        .limit.as_secs(), .silent.as_secs()
    )]
    Hung {
        /// Since the last line.
        silent: Duration,
        /// The time limit.
        limit: Duration,
        /// The last lines.
        console: String,
    },
    /// The guest program reported that it failed.
    #[error("the guest program failed: {reason}\n{console}")]
    Guest {
        /// Its reason.
        reason: String,
        /// The last lines.
        console: String,
    },
    /// The machine stopped before the guest program was done.
    #[error("the machine stopped before the guest program was done\n{console}")]
    Stopped {
        /// The last lines.
        console: String,
    },
    /// A line of results is no JSON.
    #[error("the guest program printed a result that is no JSON: {line}")]
    Malformed {
        /// The line.
        line: String,
    },
    /// Regions of interest that the program was to mark.
    #[error(
        "the model saw no region {}: the guest program did not mark it\n{console}",
        .regions.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
    )]
    NoRegion {
        /// Their numbers.
        regions: Vec<u32>,
        /// The last lines.
        console: String,
    },
    /// QEMU itself failed.
    #[error("{program} failed: {message}")]
    Qemu {
        /// Its name.
        program: &'static str,
        /// What it said on stderr.
        message: String,
    },
    /// Anything else: no such program, no such file.
    #[error("{0:#}")]
    Other(#[from] anyhow::Error),
}
