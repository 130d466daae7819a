// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pages of an area at a resolution that a picture can show.

use serde::{Deserialize, Serialize};

use super::{Kind, NodeCount};

/// The pages of an area, cut into cells of equal size. Only cells with a page
/// that is present or swapped are listed: what is missing is a hole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cells {
    /// Pages in each: a power of two, 1 where the area is small enough to show
    /// every page. The last cell may hang over the end of the area.
    pub pages_each: u64,
    /// The cells that are no holes, ascending.
    pub cells: Vec<Cell>,
}

/// Some neighboring pages of an area, counted in every way that a picture can
/// color them by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// Which: it begins `at × pages_each` pages after the area's start.
    pub at: u64,
    /// Pages present or swapped in it: 1 to `pages_each`.
    pub pages: u64,
    /// These by kind, in the order of [`Kind::ALL`]; kinds without a page are
    /// left out.
    pub kinds: Vec<KindCount>,
    /// Pages of them that lie in huge pages.
    pub huge: u64,
    /// Pages by node, ascending; fewer than `pages` where nodes are unknown.
    pub nodes: Vec<NodeCount>,
    /// Pages by color in the cache of [`super::ProcessMap::cell_cache`], one
    /// entry per color; empty where no page here has a known color. Where the
    /// cache has more than [`Cell::BANDS`] colors, color `c` of `C` counts in
    /// entry `c × BANDS / C`.
    pub colors: Vec<u32>,
    /// Pages by the length of the run of frames that they are part of, which
    /// may reach beyond the cell, ascending; empty where frame numbers are hidden.
    pub runs: Vec<RunPages>,
}

/// Pages of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindCount {
    /// The kind.
    pub kind: Kind,
    /// How many.
    pub pages: u64,
}

/// Pages in runs of `from` to `2 × from − 1` pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPages {
    /// Least length of the runs: a power of two.
    pub from: u64,
    /// How many pages.
    pub pages: u64,
}

impl Cell {
    /// The most entries of [`Cell::colors`].
    pub const BANDS: u32 = 256;
}
