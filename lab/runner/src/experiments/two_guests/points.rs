// SPDX-License-Identifier: MIT OR Apache-2.0
//! What boots of `two-guests` differ in, apart from their seed.

use crate::results::{Boots, Results, Row, distinct};

const NAMES: [&str; 4] = ["host", "backing", "sets", "guest"];

/// Host, how its guests' memory came, its sets, and what both guests do; boots of it differ
/// by their seed only.
pub type Point = [String; 4];

/// Those that there are.
pub fn points(results: &Results) -> Vec<Point> {
    distinct(results.rows.iter().map(|row| NAMES.map(|name| row.setting(name))))
}

pub fn boots<'a>(results: &'a Results, point: &Point) -> Boots<'a> {
    let here = |row: &&Row| NAMES.iter().zip(point).all(|(name, have)| row.setting(name) == *have);
    Boots::of(results.rows.iter().filter(here))
}
