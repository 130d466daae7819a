// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every allocation as a row: a dot for its speed in quiet moments, a thin line for its
//! range over time. Dots differ by placement; lines are long if other programs disturb.
//! Runs of whole programs are dots without lines.

use huepage_present::{
    axis::Axis,
    chart::{Frame, INK, PALE},
    number::{figure, percent},
    svg::{Anchor, Svg},
};

use super::{
    caption::{self, Caption},
    style::{MARGIN, WIDTH, color},
};
use crate::bench::{
    BenchReport, Placement,
    analysis::LEAST_ALLOCATIONS,
    report::{Dot, Row},
    verdict::BASELINES,
};

/// Heights: of an allocation, of the room around those of a placement.
const DOT: f64 = 8.0;
const ROOM: f64 = 16.0;
/// A placement is never lower: its name and figures stand beside it.
const LEAST: f64 = 60.0;
const AXIS_HEIGHT: f64 = 52.0;
const GAP: f64 = 20.0;
const HEADING: f64 = 34.0;
/// Names stand to the left of the dots, figures to the right.
const NAMES: f64 = 170.0;
const FIGURES: f64 = 260.0;
/// A range over which figures are drawn on a logarithmic axis.
const WIDE: f64 = 4.0;

/// Strips over one axis.
pub struct Panel {
    /// Above them.
    pub heading: String,
    /// What the axis shows, with an opening bracket for more about it.
    pub axis: String,
    /// Below each other.
    pub strips: Vec<Strip>,
}

/// A row of dots for each allocation or run of one kind.
pub struct Strip {
    /// To the left of the dots.
    pub name: String,
    /// Of name and dots.
    pub color: &'static str,
    /// A dot for a speed in quiet moments, a line for a range, a ring if there is
    /// neither.
    pub dots: Vec<Dot>,
    /// To the right of them.
    pub figures: [String; 3],
}

/// One panel per workload and size, below each other.
pub fn draw(report: &BenchReport) -> String {
    let mut panels: Vec<Vec<&Row>> = Vec::new();
    for row in &report.rows {
        match panels.last_mut() {
            Some(panel) if panel[0].bench == row.bench && panel[0].bytes == row.bytes => {
                panel.push(row);
            }
            _ => panels.push(vec![row]),
        }
    }
    let panels: Vec<Panel> = panels.iter().map(|rows| of_rows(rows)).collect();
    let title = "The same program in many allocations, visited in turns";
    let how_to_read = "dot: an allocation in quiet moments, line: its p5 to p95 over time";
    draw_all(&Caption::of(report, title, how_to_read), &panels)
}

/// A picture of panels below each other.
pub fn draw_all(caption: &Caption, panels: &[Panel]) -> String {
    let mut svg = Svg::default();
    caption.draw(&mut svg);
    let end = panels.iter().fold(caption::HEIGHT, |y, panel| panel.draw(&mut svg, y));
    svg.finish(WIDTH, end)
}

/// The allocations of every placement of one workload at one size.
pub fn of_rows(rows: &[&Row]) -> Panel {
    let unit = rows[0].unit;
    let better = if unit.lower_is_better() { "lower" } else { "higher" };
    let strip = |row: &&Row| Strip {
        name: row.placement.to_string(),
        color: color(row.placement),
        dots: row.each.clone(),
        figures: figures(row),
    };
    Panel {
        heading: format!("{}, {}: every allocation", rows[0].bench, rows[0].bytes),
        axis: format!("{unit} ({better} is better"),
        strips: rows.iter().map(strip).collect(),
    }
}

impl Strip {
    fn height(&self) -> f64 {
        (DOT * self.dots.len() as f64 + ROOM).max(LEAST)
    }

    /// Draws dots, name and figures around `middle`.
    fn draw(&self, svg: &mut Svg, frame: Frame, axis: &Axis, middle: f64) {
        let first = middle - DOT * (self.dots.len() as f64 - 1.0) / 2.0;
        for (i, dot) in self.dots.iter().enumerate() {
            let y = first + DOT * i as f64;
            let at = |value| (axis.at(value, (frame.left, frame.right)), y);
            // Of speeds, p5 is the larger one.
            if dot.p5 != dot.p95 {
                svg.hair(at(dot.p5), at(dot.p95), self.color);
            }
            if let Some(quiet) = dot.quiet {
                svg.disk(at(quiet), 3.0, self.color);
            } else if dot.p5 == dot.p95 {
                svg.ring(at(dot.p5), 3.0, self.color);
            }
        }
        svg.text((frame.left - 16.0, middle + 5.0), 16, self.color, Anchor::End, &self.name);
        let [first, more @ ..] = &self.figures;
        let right = frame.right + 20.0;
        svg.text((right, middle - 13.0), 15, INK, Anchor::Start, first);
        for (line, text) in (0u8..).zip(more) {
            let y = middle + 7.0 + 18.0 * f64::from(line);
            svg.text((right, y), 14, PALE, Anchor::Start, text);
        }
    }
}

impl Panel {
    /// Draws it from `y` on; returns where it ends.
    pub fn draw(&self, svg: &mut Svg, y: f64) -> f64 {
        svg.text((MARGIN, y + 15.0), 16, INK, Anchor::Start, &self.heading);
        let heights: f64 = self.strips.iter().map(Strip::height).sum();
        let top = y + HEADING;
        let end = top + heights + AXIS_HEIGHT + GAP;
        if self.strips.iter().all(|strip| strip.dots.is_empty()) {
            let none = "none is left: the pages of all of them moved";
            svg.text((MARGIN, top + 13.0), 14, PALE, Anchor::Start, none);
            return end;
        }
        let (lo, hi) = self.range();
        let wide = is_wide(lo, hi);
        let axis = if wide { Axis::logarithmic(lo..hi) } else { Axis::linear(lo..hi, 7) };
        let scale = if wide { ", log scale" } else { "" };
        let frame = Frame { left: NAMES, right: WIDTH - FIGURES, top, bottom: top + heights };
        frame.x_axis(svg, &axis, &format!("{}{scale})", self.axis));
        let mut top = top;
        for strip in &self.strips {
            strip.draw(svg, frame, &axis, top + strip.height() / 2.0);
            top += strip.height();
        }
        end
    }

    /// The range of all dots and lines, and at least 4 % around them, so that noise
    /// does not fill the picture.
    fn range(&self) -> (f64, f64) {
        let dots = || self.strips.iter().flat_map(|strip| &strip.dots);
        let ends = dots().flat_map(|dot| [dot.p5, dot.p95].into_iter().chain(dot.quiet));
        let (lo, hi) = ends.fold((f64::INFINITY, 0.0f64), |(lo, hi), x| (lo.min(x), hi.max(x)));
        let room = ((hi - lo) * 0.05).max(hi * 0.04);
        if is_wide(lo, hi) {
            (lo * 0.93, hi * 1.07)
        } else {
            ((lo - room).max(lo * 0.5), hi + room)
        }
    }
}

fn is_wide(lo: f64, hi: f64) -> bool {
    lo > 0.0 && hi / lo > WIDE
}

/// The figures beside a placement: its speed, and how it varies and compares.
fn figures(row: &Row) -> [String; 3] {
    let (Some(quiet), Some(between)) = (row.quiet, row.between) else {
        let few = if row.each.len() < LEAST_ALLOCATIONS { "allocations" } else { "quiet moments" };
        return [format!("too few {few}"), String::new(), String::new()];
    };
    let ratio = BASELINES.into_iter().find_map(|to| Some((row.ratio_to(to)?, to)));
    let ratio = ratio.map_or(String::new(), |(ratio, to): (_, Placement)| {
        format!("{:.2} times as fast as {to}", ratio.value)
    });
    [
        format!("quiet {} {}", figure(quiet.median), row.unit),
        format!("allocations vary by {}", percent(between.spread)),
        ratio,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::sample;

    #[test]
    fn every_allocation_is_a_dot_and_a_line() {
        let report = sample::repeat();
        let svg = draw(&report);
        let allocations: usize = report.rows.iter().map(|row| row.each.len()).sum();
        assert_eq!(svg.matches("<circle").count(), allocations);
        assert_eq!(allocations, 60);
    }

    #[test]
    fn a_range_is_a_line_whichever_end_is_better() {
        let mut report = sample::repeat();
        let svg = draw(&report);
        let lines = |svg: &str| svg.matches("stroke-opacity").count();
        assert!(lines(&svg) >= 60, "{svg}");
        for dot in report.rows.iter_mut().flat_map(|row| &mut row.each) {
            (dot.p5, dot.p95) = (dot.p95, dot.p5);
        }
        assert_eq!(lines(&draw(&report)), lines(&svg));
    }

    #[test]
    fn an_allocation_without_quiet_moments_has_a_line_only() {
        let mut report = sample::repeat();
        report.rows[0].each[0].quiet = None;
        assert_eq!(draw(&report).matches("<circle").count(), 59);
        for row in &mut report.rows {
            row.each.clear();
        }
        assert!(draw(&report).contains("none is left"));
        let mut report = sample::repeat();
        report.rows[0].quiet = None;
        assert!(draw(&report).contains("too few quiet moments"));
        report.rows[0].each.truncate(2);
        let svg = draw(&report);
        assert!(svg.contains("too few allocations") && !svg.contains("too few quiet"), "{svg}");
    }

    #[test]
    fn noise_of_a_percent_does_not_fill_the_picture() {
        let mut report = sample::repeat();
        for dot in report.rows.iter_mut().flat_map(|row| &mut row.each) {
            (dot.quiet, dot.p5, dot.p95) = (Some(10.0), 10.0, 10.1);
        }
        let (lo, hi) = of_rows(&report.rows.iter().collect::<Vec<_>>()).range();
        assert!(hi - lo > 8.0 * 0.1, "{lo} {hi}");
    }
}
