// SPDX-License-Identifier: MIT OR Apache-2.0
//! What to look at, and how closely.

use crate::topology::CacheGeometry;

/// How a process is to be mapped.
#[derive(Clone, Debug)]
pub struct MapOptions {
    /// A cache known by hand: instead of what the machine declares of its
    /// level, and the one that [`super::Cell::colors`] is about.
    pub cache: Option<CacheGeometry>,
    /// The most cells of one area.
    pub cells_per_area: usize,
    /// The most cells of all areas; past it all areas get coarser, down to one
    /// cell each.
    pub cells_in_all: usize,
    /// Whether to ask by `PAGEMAP_SCAN` which pages there are, where the kernel
    /// has it. Without, everything is as on a kernel before 6.7.
    pub page_scan: bool,
}

impl Default for MapOptions {
    fn default() -> Self {
        MapOptions { cache: None, cells_per_area: 128, cells_in_all: 16384, page_scan: true }
    }
}
