// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pages of an area at a resolution that a picture can show.

use serde::{Deserialize, Serialize};

use super::Kind;
use crate::color::Color;

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

/// Some neighboring pages of an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// Which: it begins `at × pages_each` pages after the area's start.
    pub at: u64,
    /// Pages present or swapped in it: 1 to `pages_each`.
    pub pages: u64,
    /// The kind most of these are of.
    pub kind: Kind,
    /// Pages of them that lie in huge pages.
    pub huge: u64,
    /// The node most of them are on, where known.
    pub node: Option<u32>,
    /// The color most of them have in the cache of
    /// [`super::ProcessMap::cell_cache`], where known; of equally frequent ones
    /// the least.
    pub color: Option<Color>,
    /// Pages of that color.
    pub color_pages: u64,
    /// Pages of the longest run of frames that has a page here; the run may
    /// reach beyond the cell. 0 where frame numbers are hidden.
    pub run: u64,
}
