// SPDX-License-Identifier: MIT OR Apache-2.0
//! One mapping of a process: a line of `/proc/PID/maps`.

use serde::{Deserialize, Serialize};

use super::{Cells, Name, Placement};
use crate::{frames::KernelCounts, units::Bytes};

/// What an area was mapped from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backing {
    /// Nothing: `MAP_ANONYMOUS`, with or without a name of its own.
    Anonymous,
    /// The heap that `brk` moves.
    Heap,
    /// A stack the kernel grows.
    Stack,
    /// A file, or shared memory that looks like one.
    File,
    /// The kernel's own: vDSO, vvar, vsyscall.
    Kernel,
}

/// Which file, for good: a name can be reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileId {
    /// Major number of its device.
    pub major: u32,
    /// Minor number of its device.
    pub minor: u32,
    /// Its inode there.
    pub inode: u64,
}

/// One mapping of a process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Area {
    /// Address of the first byte.
    pub start: u64,
    /// Address after the last byte.
    pub end: u64,
    /// `r`, `w`, `x`, and `s` or `p` (shared or private), as in `/proc/PID/maps`.
    pub permissions: String,
    /// Path, or `[heap]`, `[stack]`, `[anon:NAME]`, …; empty for an anonymous one.
    pub name: Name,
    /// What it was mapped from.
    pub backing: Backing,
    /// Offset in the file.
    pub offset: Bytes,
    /// The file; `None` for memory without one.
    pub file: Option<FileId>,
    /// The size of pages it is mapped by at least: larger than a base page for
    /// hugetlbfs.
    pub page_size: Bytes,
    /// Where its pages are.
    pub placement: Placement,
    /// The same pages for a picture.
    pub cells: Cells,
    /// What the kernel counts; `None` where `smaps` cannot be read.
    pub kernel: Option<KernelCounts>,
}

impl Area {
    /// Length in bytes.
    pub fn len(&self) -> Bytes {
        Bytes(self.end - self.start)
    }

    /// Whether there are no bytes. The kernel makes no such area.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }
}
