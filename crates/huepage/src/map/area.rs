// SPDX-License-Identifier: MIT OR Apache-2.0
//! One mapping of a process: a line of `/proc/PID/maps`.

use serde::{Deserialize, Serialize};

use super::{Cells, Name, PageSummary};
use crate::{proc::KernelCounts, units::Bytes};

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

/// The file by device and inode, since a name can be reused.
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
    pub placement: PageSummary,
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

impl KernelCounts {
    /// Pages mapped by huge entries; `None` if the kernel does not count them.
    pub(super) fn huge_mapped(&self, base: Bytes) -> Option<u64> {
        let huge = [self.anon_huge_pages?, self.shmem_huge?, self.file_huge?, self.hugetlb];
        Some(huge.iter().map(|bytes| bytes.0).sum::<u64>() / base.0)
    }
}

/// The counts of all areas added up; `None` where one has none.
pub(super) fn sum_counts(areas: &[Area]) -> Option<KernelCounts> {
    let sum = |a: Option<Bytes>, b: Option<Bytes>| Some(Bytes(a?.0 + b?.0));
    let zero = Some(Bytes(0));
    let none = KernelCounts {
        anon_huge_pages: zero,
        shmem_huge: zero,
        file_huge: zero,
        ksm: zero,
        ..KernelCounts::default()
    };
    areas.iter().try_fold(none, |total, area| {
        let area = area.kernel?;
        Some(KernelCounts {
            rss: Bytes(total.rss.0 + area.rss.0),
            pss: Bytes(total.pss.0 + area.pss.0),
            anon_huge_pages: sum(total.anon_huge_pages, area.anon_huge_pages),
            shmem_huge: sum(total.shmem_huge, area.shmem_huge),
            file_huge: sum(total.file_huge, area.file_huge),
            hugetlb: Bytes(total.hugetlb.0 + area.hugetlb.0),
            ksm: sum(total.ksm, area.ksm),
            swap: Bytes(total.swap.0 + area.swap.0),
            locked: Bytes(total.locked.0 + area.locked.0),
        })
    })
}
