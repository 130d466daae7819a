// SPDX-License-Identifier: MIT OR Apache-2.0
//! Colors from top to bottom, as dark as the share that others evicted.

use huepage_present::{
    number::percent,
    oklch::oklch,
    svg::{Anchor, Svg},
};

use super::{super::report::PressureReport, GRID, INK, LEFT, MARGIN, PALE, RIGHT, Time};

/// Number of fills that can be distinguished.
const LEVELS: usize = 32;
/// The height of all rows, as near as whole pixels allow.
const HEIGHT: f64 = 416.0;
/// The highest row.
const ROW: f64 = 20.0;
/// The least height that a label needs.
const LABEL: f64 = 13.0;
/// Looks without samples.
const NOTHING: &str = "#c8c8c8";

/// Draws a row per color; returns where they end.
pub fn map(svg: &mut Svg, report: &PressureReport, time: &Time, top: f64, y: f64) -> f64 {
    let colors = report.subject.colors as usize;
    let exact = (HEIGHT / colors as f64).min(ROW);
    // Whole pixels if there is room for them, so that there are no gaps between rows.
    let row = if exact >= 1.0 { exact.floor() } else { exact };
    let height = row * colors as f64;
    svg.rectangle((LEFT, y), (RIGHT - LEFT, height), &fill(0));
    let mut cells: Vec<Vec<[f64; 4]>> = vec![Vec::new(); LEVELS + 1];
    let mut nothing = Vec::new();
    for color in 0..colors {
        let at = y + row * color as f64;
        // Cells of one fill in a row are one rectangle.
        let mut last = None;
        for point in &report.series {
            let (x, width) = time.span(point);
            let level = point.color_shares[color].map(|share| level(share, top));
            let list = match level {
                Some(level) => &mut cells[level],
                None => &mut nothing,
            };
            match list.last_mut() {
                Some(cell) if last == Some(level) => cell[2] = x + width - cell[0],
                _ => list.push([x, at, width, row]),
            }
            last = Some(level);
        }
    }
    for (level, cells) in cells.iter().enumerate().skip(1) {
        svg.rectangles(cells, &fill(level));
    }
    svg.rectangles(&nothing, NOTHING);
    svg.rectangle((LEFT, y + height), (RIGHT - LEFT, 1.0), "#999");
    svg.text((MARGIN, y + height / 2.0 + 4.0), 12, INK, Anchor::Start, "color");
    let every = [1, 2, 4, 8, 16, 32, 64, 128, 256];
    let every = every.into_iter().find(|&n| n as f64 * row >= LABEL).unwrap_or(512);
    for color in (0..colors).step_by(every) {
        let middle = y + row * (color as f64 + 0.5) + 4.0;
        svg.text((LEFT - 8.0, middle), 12, PALE, Anchor::End, &color.to_string());
    }
    y + height + 1.0
}

/// What the fills mean.
pub fn legend(svg: &mut Svg, top: f64, y: f64) -> f64 {
    const WIDE: f64 = 8.0;
    let left = RIGHT - 48.0 - WIDE * (LEVELS + 1) as f64;
    let label = "share of the lines of a color that others evicted";
    svg.text((left - 40.0, y + 11.0), 12, INK, Anchor::End, label);
    svg.text((left - 8.0, y + 11.0), 12, PALE, Anchor::End, "0%");
    for level in 0..=LEVELS {
        svg.rectangle((left + WIDE * level as f64, y), (WIDE, 13.0), &fill(level));
    }
    svg.rectangle((left, y + 13.0), (WIDE * (LEVELS + 1) as f64, 1.0), GRID);
    let end = left + WIDE * (LEVELS + 1) as f64 + 8.0;
    svg.text((end, y + 11.0), 12, PALE, Anchor::Start, &percent(top));
    y + 14.0
}

/// Which fill a share has.
pub fn level(share: f64, top: f64) -> usize {
    let level = (LEVELS as f64 * (share / top).clamp(0.0, 1.0)).round() as usize;
    // A share above zero is visible, however small it is.
    level.max(usize::from(share > 0.0))
}

/// From white through yellow to dark red; darker for each step, so that it can be read
/// without colors too.
pub fn fill(level: usize) -> String {
    let part = level as f64 / LEVELS as f64;
    let chroma = 0.17 * (part * 3.0).min(1.0);
    oklch(1.0 - 0.66 * part, chroma, 95.0 - 70.0 * part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_is_darker() {
        let light = |level| -> u32 {
            let fill = fill(level);
            let part = |at: usize| u32::from_str_radix(&fill[at..at + 2], 16).unwrap();
            // Weights of the luma of sRGB, in thousandths.
            299 * part(1) + 587 * part(3) + 114 * part(5)
        };
        assert_eq!(fill(0), "#ffffff");
        assert!((0..=LEVELS).map(light).is_sorted_by(|a, b| a > b));
    }

    #[test]
    fn only_nothing_is_white() {
        assert_eq!((level(0.0, 0.5), level(1e-6, 0.5)), (0, 1));
        assert_eq!((level(0.25, 0.5), level(0.9, 0.5)), (LEVELS / 2, LEVELS));
    }
}
