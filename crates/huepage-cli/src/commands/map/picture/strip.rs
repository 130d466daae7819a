// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cells of one row.
//!
//! A cell is a column as high as the share of its pages that are present, stacked by
//! class. Neighbors that look alike become one rectangle.

use std::collections::BTreeMap;

use huepage::map::{Cell, Cells};

use huepage_present::svg::Svg;

use super::{
    super::by::{Part, UNKNOWN},
    column, paint,
};

/// Least width of a cell.
const CELL: f64 = 4.0;
/// The most cells in a strip.
pub const MOST: u64 = (column::STRIP_WIDTH / CELL) as u64;
/// Height of the mark of huge pages.
const MARK: f64 = 2.0;
/// Least height of a class with pages, so that few pages are visible too.
const LEAST: f64 = 2.0;
/// The most classes of a stack that can be told apart.
const STACK: usize = 16;

/// Neighboring cells taken together, so that all fit the strip.
struct Bin {
    at: u64,
    pages: u64,
    huge: u64,
    parts: BTreeMap<usize, u64>,
}

/// The cells of a range of pages, and how many pages a bin of them holds.
pub struct Strip {
    bins: Vec<Bin>,
    /// Pages that a cell of the picture stands for.
    pub pages_each: u64,
    /// Cells of the picture, holes among them.
    pub count: u64,
    range: u64,
}

impl Strip {
    /// Cuts a range of `pages` pages into at most [`MOST`] cells.
    pub fn new(cells: &Cells, pages: u64, parts: impl Fn(&Cell) -> Vec<Part>) -> Self {
        let mut pages_each = cells.pages_each.max(1);
        let mut times = 1;
        while pages.div_ceil(pages_each) > MOST {
            pages_each *= 2;
            times *= 2;
        }
        let mut bins: Vec<Bin> = Vec::new();
        for cell in &cells.cells {
            let at = cell.at / times;
            if bins.last().is_none_or(|bin| bin.at != at) {
                bins.push(Bin { at, pages: 0, huge: 0, parts: BTreeMap::new() });
            }
            let bin = bins.last_mut().expect("just pushed");
            bin.pages += cell.pages;
            bin.huge += cell.huge;
            for part in parts(cell) {
                *bin.parts.entry(part.class).or_default() += part.pages;
            }
        }
        Strip { bins, pages_each, count: pages.div_ceil(pages_each), range: pages }
    }

    /// The width of a cell: wider if the map has few cells for a large area.
    fn cell(&self) -> f64 {
        let mut times = 1;
        while self.pages_each > 1 && 2 * times * self.count <= MOST {
            times *= 2;
        }
        times as f64 * CELL
    }

    /// Draws it at `y`, `height` high, classes filled by `fill`.
    pub fn draw(
        &self,
        svg: &mut Svg,
        y: f64,
        height: f64,
        classes: usize,
        fill: impl Fn(usize) -> String,
    ) {
        let full = height - MARK - 1.0;
        let cell = self.cell();
        svg.rectangle((column::STRIP, y), (self.count as f64 * cell, full), paint::HOLE);
        let mut shapes: BTreeMap<usize, Vec<[f64; 4]>> = BTreeMap::new();
        let mut marks: Vec<[f64; 4]> = Vec::new();
        for bin in &self.bins {
            let x = column::STRIP + bin.at as f64 * cell;
            // The last cell may hang over the end.
            let room = self.pages_each.min(self.range.saturating_sub(bin.at * self.pages_each));
            let share = bin.pages as f64 / room.max(1) as f64;
            let stack = (full * share.min(1.0)).max(LEAST);
            let mut bottom = y + full;
            for (class, pages) in stacked(&bin.parts, classes) {
                let part = stack * pages as f64 / bin.pages.max(1) as f64;
                bottom -= part;
                extend(shapes.entry(class).or_default(), [x, bottom, cell, part]);
            }
            if bin.huge > 0 {
                let width = cell * bin.huge as f64 / bin.pages.max(1) as f64;
                extend(&mut marks, [x, y + full + 1.0, width, MARK]);
            }
        }
        for (class, rectangles) in shapes {
            svg.rectangles(&rectangles, &fill(class));
        }
        svg.rectangles(&marks, paint::HUGE);
    }
}

/// Classes from bottom to top; if there are many, neighbors are joined under the one in
/// their middle.
fn stacked(parts: &BTreeMap<usize, u64>, classes: usize) -> Vec<(usize, u64)> {
    let each = if parts.len() > STACK { classes.div_ceil(STACK).max(1) } else { 1 };
    let mut stack: BTreeMap<usize, u64> = BTreeMap::new();
    for (&class, &pages) in parts {
        let class = if class == UNKNOWN {
            class
        } else {
            (class / each * each + each / 2).min(classes.saturating_sub(1))
        };
        *stack.entry(class).or_default() += pages;
    }
    stack.into_iter().collect()
}

/// Adds a rectangle, or lengthens the last one where it goes on like that.
fn extend(rectangles: &mut Vec<[f64; 4]>, next: [f64; 4]) {
    let same = |a: f64, b: f64| (a - b).abs() < 0.005;
    if let Some([x, y, width, height]) = rectangles.last_mut()
        && same(*x + *width, next[0])
        && same(*y, next[1])
        && same(*height, next[3])
    {
        *width += next[2];
        return;
    }
    rectangles.push(next);
}

/// One bar of all parts, side by side, over the whole width of a strip.
pub fn bar(svg: &mut Svg, y: f64, height: f64, parts: &[Part], fill: impl Fn(usize) -> String) {
    let all: u64 = parts.iter().map(|part| part.pages).sum();
    svg.rectangle((column::STRIP, y), (column::STRIP_WIDTH, height), paint::HOLE);
    let mut x = column::STRIP;
    for part in parts {
        let width = column::STRIP_WIDTH * part.pages as f64 / all.max(1) as f64;
        svg.rectangle((x, y), (width, height), &fill(part.class));
        x += width;
    }
}

#[cfg(test)]
mod tests {
    use huepage::map::{Kind, KindCount};

    use super::*;

    fn cells(pages_each: u64, filled: &[(u64, u64)]) -> Cells {
        let cell = |&(at, pages): &(u64, u64)| Cell {
            at,
            pages,
            kinds: vec![KindCount { kind: Kind::File, pages }],
            ..Cell::default()
        };
        Cells { pages_each, cells: filled.iter().map(cell).collect() }
    }

    fn strip(cells: &Cells, pages: u64) -> Strip {
        Strip::new(cells, pages, |cell| vec![Part { class: 3, pages: cell.pages }])
    }

    #[test]
    fn a_range_is_cut_into_as_many_cells_as_fit_and_no_page_is_lost() {
        let strip = strip(&cells(4, &[(0, 4), (1, 4), (2, 1), (399, 4)]), 1600);
        assert_eq!((strip.pages_each, strip.count), (16, 100));
        let bins: Vec<(u64, u64)> = strip.bins.iter().map(|bin| (bin.at, bin.pages)).collect();
        assert_eq!(bins, [(0, 9), (99, 4)]);
    }

    #[test]
    fn heights_are_shares_and_neighbors_alike_are_one_rectangle() {
        let mut strip = strip(&cells(2, &[(0, 2), (1, 2), (2, 1), (4, 1)]), 9);
        assert_eq!(strip.cell(), 16.0 * CELL);
        strip.count = MOST;
        let mut svg = Svg::default();
        strip.draw(&mut svg, 10.0, 43.0, 8, |class| format!("#{class}"));
        let text = svg.finish(1.0, 1.0);
        // Two full cells; one of half the height; the last has one page of one.
        assert!(
            text.contains("fill=\"#3\" d=\"M470 10h8v40h-8zM478 30h4v20h-4zM486 10h4v40h-4z\""),
            "{text}"
        );
    }

    #[test]
    fn many_classes_are_stacked_in_groups() {
        let parts: BTreeMap<usize, u64> = (0..64).map(|class| (class, 1)).collect();
        let stack = stacked(&parts, 64);
        assert_eq!(stack.len(), 16);
        assert_eq!((stack[0], stack[15]), ((2, 4), (62, 4)));
        assert_eq!(stacked(&BTreeMap::from([(5, 1), (UNKNOWN, 2)]), 64), [(5, 1), (UNKNOWN, 2)]);
    }
}
