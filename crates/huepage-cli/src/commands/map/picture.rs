// SPDX-License-Identifier: MIT OR Apache-2.0
//! A map as a picture: a row per mapping, a cell for a number of pages.

mod balance;
mod head;
mod legend;
mod paint;
mod row;
mod strip;

use huepage::map::ProcessMap;

use huepage_present::svg::Svg;

use super::{
    by::By,
    rows::{self, Limits},
};

/// Width of every picture.
const WIDTH: f64 = 1200.0;
/// Empty border.
const MARGIN: f64 = 24.0;
const LIMITS: Limits = Limits { enough: 24, most: 40 };

/// Where the columns of a row are.
mod column {
    /// Names begin.
    pub const NAME: f64 = super::MARGIN;
    /// How wide they may be.
    pub const NAME_WIDTH: f64 = 350.0;
    /// Sizes end.
    pub const SIZE: f64 = 456.0;
    /// Cells begin.
    pub const STRIP: f64 = 470.0;
    /// The width of all cells of a full strip.
    pub const STRIP_WIDTH: f64 = 512.0;
    /// Histograms begin.
    pub const BALANCE: f64 = 1000.0;
    /// The width of a histogram.
    pub const BALANCE_WIDTH: f64 = 96.0;
    /// Figures of the balance begin.
    pub const FIGURE: f64 = 1106.0;
}

/// The picture as SVG, its cells colored by `by`.
pub fn svg(map: &ProcessMap, by: By) -> String {
    let rows = rows::fold(map, rows::each(map), LIMITS);
    let mut svg = Svg::default();
    let mut y = head::head(&mut svg, map, MARGIN);
    y = legend::legend(&mut svg, map, by, y);
    y = head::columns(&mut svg, map, y);
    // With fewer rows, these are higher.
    let height = if rows.shown.len() <= 12 { 46.0 } else { 34.0 };
    y = row::total(&mut svg, map, by, y, height);
    for row in &rows.shown {
        y = row::area(&mut svg, map, by, row, y, height);
    }
    if let Some(row) = &rows.folded {
        y = row::folded(&mut svg, map, by, row, y, height);
    }
    if by == By::Color {
        for range in &map.registered {
            y = row::registered(&mut svg, map, range, y, height);
        }
    }
    y = head::foot(&mut svg, map, y);
    svg.finish(WIDTH, y + MARGIN / 2.0)
}
