// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why there is no shared palette, each with what to do about it.

use std::{io, path::PathBuf};

/// Why a palette cannot be shared, or is not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PaletteError {
    /// Another user could put a palette there.
    #[error("{path} is not used: {what}; remove it, or have another directory used")]
    Untrusted {
        /// What was found.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// There is no palette, and making one was not allowed.
    #[error("there is no palette yet: make one first")]
    Missing,
    /// The record cannot be read as one.
    #[error("the palette in {path} is not used: {what}")]
    Damaged {
        /// The record.
        path: PathBuf,
        /// Why.
        what: String,
    },
    /// The record is complete, but of another boot, kernel, CPU, namespace or cache, or
    /// its pages do not have their colors.
    #[error("the palette in {path} is stale: {what}")]
    Stale {
        /// The record.
        path: PathBuf,
        /// Why.
        what: String,
    },
    /// Only the administrator makes a palette for all.
    #[error(
        "only root can make or remove the palette for all users; your own palette needs no privilege"
    )]
    NotRoot,
    /// Another process makes one, and takes longer than this process was to wait.
    #[error("another process{} makes a palette in {path}, and takes long", by(.pid))]
    Busy {
        /// Its directory.
        path: PathBuf,
        /// The process, if the kernel tells its number.
        pid: Option<u32>,
    },
    /// Pages of some colors could not be had, or do not verify.
    #[error("no palette could be made: {0}")]
    NotMade(String),
    /// The kernel refused.
    #[error("cannot {action}: {cause}")]
    System {
        /// What was tried.
        action: String,
        /// What the kernel said. Not a source: notes take the message alone.
        cause: io::Error,
    },
}

fn by(pid: &Option<u32>) -> String {
    pid.map_or(String::new(), |pid| format!(" (PID {pid})"))
}

impl PaletteError {
    /// Wraps what the kernel said about `action`.
    pub(super) fn system(action: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let action = action.into();
        move |cause| PaletteError::System { action, cause }
    }
}
