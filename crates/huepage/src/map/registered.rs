// SPDX-License-Identifier: MIT OR Apache-2.0
//! Colors that a program told of its own memory.

use serde::{Deserialize, Serialize};

use super::{Balance, Cells, Name};
use crate::color::{ColorCount, Method};

/// A range of the process whose colors the program itself knows, mostly by
/// measurement: true also where frame numbers are not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Registered {
    /// What the program calls it.
    pub label: Name,
    /// Address of the first byte.
    pub start: u64,
    /// Pages.
    pub pages: u64,
    /// How the program told the colors.
    pub method: Method,
    /// How many colors there are.
    pub colors: ColorCount,
    /// Pages of one color that the cache holds, where the program said so.
    pub ways: Option<u32>,
    /// How many of the pages have a color.
    pub known: u64,
    /// The spread of the pages of known color; `None` without `ways`.
    pub balance: Option<Balance>,
    /// The same pages for a picture. Of each cell only `at`, `pages` and
    /// `colors` say something, the last about the `colors` given here.
    pub cells: Cells,
}
