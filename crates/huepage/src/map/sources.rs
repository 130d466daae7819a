// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is asked about the pages of a process.

use crate::{
    frames::{FlagWords, FrameNodes, Pagemap},
    units::Bytes,
};

/// Everything that can be asked about pages.
pub(super) struct Sources<'a> {
    pub pagemap: &'a Pagemap,
    /// Whether the kernel has `PAGEMAP_SCAN`.
    pub scan: bool,
    /// Flags of frames; `None` where they, or the frame numbers, are hidden.
    pub flags: Option<&'a dyn FlagWords>,
    pub nodes: &'a FrameNodes,
    pub page_size: Bytes,
    pub cells_per_area: usize,
    pub cells_in_all: usize,
}
