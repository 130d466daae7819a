// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts of pages: by kind, by size, by node, by run of frames.

use serde::{Deserialize, Serialize};

use super::Balance;
use crate::units::Bytes;

/// What is behind a page that is present or swapped; each such page is of one
/// kind. Ordered as legends list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Private memory with a frame of its own, or shared since a fork.
    Anonymous,
    /// Merged with pages of the same contents by KSM.
    Ksm,
    /// The kernel's page of zeros, that reading untouched memory maps.
    Zero,
    /// Page cache of a file; the code of the vDSO, which the kernel counts alike.
    File,
    /// Memory of tmpfs, memfd, System V or `MAP_SHARED | MAP_ANONYMOUS`.
    SharedMemory,
    /// From the pool of hugetlbfs.
    Hugetlb,
    /// Present without an ordinary page behind: memory of some devices. Of
    /// mappings made of such memory only (`pf` in `VmFlags`, as `[vvar]`) the
    /// kernel shows no pages at all.
    Special,
    /// In swap.
    Swapped,
}

impl Kind {
    /// All kinds, in order.
    pub const ALL: [Kind; 8] = [
        Kind::Anonymous,
        Kind::Ksm,
        Kind::Zero,
        Kind::File,
        Kind::SharedMemory,
        Kind::Hugetlb,
        Kind::Special,
        Kind::Swapped,
    ];

    /// Its place in [`Kind::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }
}

/// Counts of base pages. The first seven kinds add up to `present`.
///
/// Where the flags of frames are hidden, `ksm` pages count as anonymous,
/// shared memory as files, and `special` as whichever of these the page table
/// looks like; [`super::What::PageFlags`] is then among the shortfalls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageCounts {
    /// Address space, touched or not.
    pub reserved: u64,
    /// Mapped to a frame, the page of zeros included.
    pub present: u64,
    /// [`Kind::Anonymous`].
    pub anonymous: u64,
    /// [`Kind::Ksm`].
    pub ksm: u64,
    /// [`Kind::Zero`].
    pub zero: u64,
    /// [`Kind::File`].
    pub file: u64,
    /// [`Kind::SharedMemory`].
    pub shared_memory: u64,
    /// [`Kind::Hugetlb`].
    pub hugetlb: u64,
    /// [`Kind::Special`].
    pub special: u64,
    /// [`Kind::Swapped`]; not present.
    pub swapped: u64,
    /// Present, and the frame is mapped elsewhere too: in another process or a
    /// second time in this one. The page of zeros is not counted.
    pub shared: u64,
    /// Present, and mapped by one entry for a whole huge page (`PMD` or
    /// larger). The page of zeros is not counted. On kernels without
    /// `PAGEMAP_SCAN` (before Linux 6.7) what `smaps` says; `None` where that
    /// does not say either.
    pub huge_mapped: Option<u64>,
    /// Distinct frames behind the pages present, the page of zeros left out;
    /// `None` where frame numbers are hidden.
    pub frames: Option<u64>,
}

/// Pages that lie in huge pages of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HugeCount {
    /// The size of the whole huge page: 16 KiB, …, 2 MiB, 1 GiB.
    pub size: Bytes,
    /// Base pages of the area that lie in such pages.
    pub pages: u64,
}

/// Pages whose frames are memory of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeCount {
    /// The node.
    pub node: u32,
    /// Pages present there. Pages of zeros and special pages count nowhere.
    pub pages: u64,
}

/// Runs of pages whose frames follow each other as the pages do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runs {
    /// How many runs; a page alone is a run of one. Pages of zeros and special
    /// pages are in no run.
    pub count: u64,
    /// Pages of the longest.
    pub longest: u64,
    /// By length, ascending; lengths without a run are left out.
    pub histogram: Vec<RunBucket>,
}

/// The runs of `from` to `2 × from − 1` pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunBucket {
    /// Least length in pages: a power of two.
    pub from: u64,
    /// How many runs.
    pub runs: u64,
    /// Pages in them.
    pub pages: u64,
}

/// Where the pages of one area, or of the whole process, are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PageSummary {
    /// Pages by kind.
    pub pages: PageCounts,
    /// Pages in huge pages, by size ascending; where the flags of frames are
    /// hidden, those of hugetlbfs only. The huge page of zeros is not counted.
    pub huge: Vec<HugeCount>,
    /// Pages by node, ascending.
    pub nodes: Vec<NodeCount>,
    /// Runs of frames; `None` where frame numbers are hidden.
    pub runs: Option<Runs>,
    /// One per cache of [`super::ProcessMap::caches`], in the same order; empty
    /// where frame numbers are hidden.
    pub balances: Vec<Balance>,
}
