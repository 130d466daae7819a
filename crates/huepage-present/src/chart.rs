// SPDX-License-Identifier: MIT OR Apache-2.0
//! The grid, the axes and their labels around the data of a picture.

use crate::{
    axis::Axis,
    svg::{Anchor, Svg, width},
};

/// Text.
pub const INK: &str = "#222222";
/// Text of second rank.
pub const PALE: &str = "#606060";
/// Lines of a grid.
pub const GRID: &str = "#e4e4e4";
/// Lines of an axis.
pub const LINE: &str = "#969696";
/// The palette of M. Okabe and K. Ito ("Color Universal Design", 2008), which
/// color-blind readers can tell apart, without its yellow, which is too pale for lines.
pub mod palette {
    #![allow(missing_docs)]
    pub const BLACK: &str = "#000000";
    pub const ORANGE: &str = "#e69f00";
    pub const SKY: &str = "#56b4e9";
    pub const GREEN: &str = "#009e73";
    pub const BLUE: &str = "#0072b2";
    pub const VERMILION: &str = "#d55e00";
    pub const PURPLE: &str = "#cc79a7";
    /// Beside the palette, for an eighth series.
    pub const GRAY: &str = "#787878";
}

/// Letters at ticks and axes.
pub const SIZE: u32 = 14;
/// The length of the mark at a tick.
const MARK: f64 = 4.0;
/// From a line of labels to the next.
pub const LABEL_LINE: f64 = 17.0;
/// Labels extend no farther to the right of a frame: every picture has this margin
/// there.
const SPARE: f64 = 20.0;

/// Where data lie in a picture, in pixels; `top` is above `bottom`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Where x begins.
    pub left: f64,
    /// Where x ends.
    pub right: f64,
    /// Where y ends.
    pub top: f64,
    /// Where y begins.
    pub bottom: f64,
}

impl Frame {
    /// Draws the axis below the frame, the grid lines at its ticks, and its label.
    pub fn x_axis(&self, svg: &mut Svg, axis: &Axis, label: &str) {
        self.x_axis_in_lines(svg, axis, label, 1);
    }

    /// The same with its labels on `lines` lines in turn, for names wider than the
    /// distance of two ticks: each additional line takes [`LABEL_LINE`] below the
    /// frame.
    pub fn x_axis_in_lines(&self, svg: &mut Svg, axis: &Axis, label: &str, lines: usize) {
        for (number, (value, text)) in axis.ticks().iter().enumerate() {
            let x = axis.at(*value, (self.left, self.right));
            let y = self.bottom + 19.0 + (number % lines) as f64 * LABEL_LINE;
            svg.line((x, self.top), (x, self.bottom), 1.0, GRID);
            svg.line((x, self.bottom), (x, self.bottom + MARK), 1.0, LINE);
            let x = x.min(self.right + SPARE - width(text, SIZE) / 2.0);
            svg.text((x, y), SIZE, PALE, Anchor::Middle, text);
        }
        svg.line((self.left, self.bottom), (self.right, self.bottom), 1.0, LINE);
        let middle = (self.left + self.right) / 2.0;
        let y = self.bottom + 42.0 + (lines - 1) as f64 * LABEL_LINE;
        svg.text((middle, y), SIZE, PALE, Anchor::Middle, label);
    }

    /// Draws the axis to the left of the frame, and the lines of the grid from its ticks.
    pub fn y_axis(&self, svg: &mut Svg, axis: &Axis) {
        for (value, text) in axis.ticks() {
            let y = axis.at(*value, (self.bottom, self.top));
            svg.line((self.left, y), (self.right, y), 1.0, GRID);
            svg.line((self.left - MARK, y), (self.left, y), 1.0, LINE);
            svg.text((self.left - 9.0, y + 5.0), SIZE, PALE, Anchor::End, text);
        }
        svg.line((self.left, self.top), (self.left, self.bottom), 1.0, LINE);
    }

    /// Where a point of both axes lies.
    pub fn at(&self, x: &Axis, y: &Axis, (a, b): (f64, f64)) -> (f64, f64) {
        (x.at(a, (self.left, self.right)), y.at(b, (self.bottom, self.top)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tick_has_a_line_and_a_label_inside_the_frame() {
        let frame = Frame { left: 100.0, right: 300.0, top: 50.0, bottom: 150.0 };
        let (x, y) = (Axis::linear(0.0..10.0, 5), Axis::logarithmic(1.0..100.0));
        let mut svg = Svg::default();
        frame.x_axis(&mut svg, &x, "what & why");
        frame.y_axis(&mut svg, &y);
        let text = svg.finish(400.0, 200.0);
        for (_, label) in x.ticks().iter().chain(y.ticks()) {
            assert!(text.contains(&format!(">{label}</text>")), "{label}");
        }
        assert!(text.contains("what &amp; why"));
        assert_eq!(text.matches(GRID).count(), x.ticks().len() + y.ticks().len());
        assert_eq!(frame.at(&x, &y, (5.0, 10.0)), (200.0, 100.0));
    }

    #[test]
    fn a_long_label_at_the_end_stays_in_the_picture() {
        let frame = Frame { left: 100.0, right: 300.0, top: 50.0, bottom: 150.0 };
        let label_at = |label: &str| {
            let x = Axis::with_ticks(0.0..1.0, vec![(1.0, label.to_owned())]);
            let mut svg = Svg::default();
            frame.x_axis(&mut svg, &x, "");
            let text = svg.finish(400.0, 200.0);
            let label = text.split("<text").find(|text| text.contains(label)).unwrap();
            label.split("x=\"").nth(1).unwrap().split('"').next().unwrap().parse::<f64>().unwrap()
        };
        assert_eq!(label_at("short"), 300.0);
        let half = width("a long label", SIZE) / 2.0;
        assert!((label_at("a long label") + half - 320.0).abs() < 0.05, "{half}");
    }
}
