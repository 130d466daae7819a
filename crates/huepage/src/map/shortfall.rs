// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a map does not show, and what the process did meanwhile.

use serde::{Deserialize, Serialize};

/// A part of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// Frame numbers: with them runs, colors, distinct frames.
    FrameNumbers,
    /// Flags of frames: KSM, sizes of huge pages, shared memory, special pages.
    PageFlags,
    /// Which pages are zero, and which are mapped huge.
    Categories,
    /// The kernel's own counts.
    KernelCounts,
    /// Nodes of pages.
    Nodes,
    /// Caches: none is known that has more than one color.
    Caches,
    /// What the program registered.
    Registered,
    /// Some of the areas.
    Areas,
}

/// A part that is missing: exit code 3.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shortfall {
    /// The part.
    pub what: What,
    /// Why, and what would help, for people.
    pub why: String,
    /// The capability that would show it, such as `CAP_SYS_ADMIN`.
    pub needs: Option<String>,
}

impl Shortfall {
    /// A part that no capability would show.
    pub(super) fn new(what: What, why: impl Into<String>) -> Self {
        Shortfall { what, why: why.into(), needs: None }
    }
}

/// A change of the process while it was read. What was read before the change is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Change {
    /// It ended.
    Exited,
    /// It became another program, so that areas of both may be shown.
    Executed,
    /// It mapped, unmapped or resized areas.
    Remapped {
        /// Areas of the beginning that were gone or of other bounds at the end.
        gone: u64,
        /// Areas at the end that were not there at the beginning; not shown.
        new: u64,
    },
}
