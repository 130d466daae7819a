// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every allocation as a row: a dot for its speed in quiet moments, a thin line
//! for its range over time. What sets dots apart is placement; what makes lines
//! long is others. Runs of whole programs are dots without lines.

use plotters::{
    coord::Shift,
    prelude::*,
    style::text_anchor::{HPos, VPos},
};

use super::{
    axis::Axis,
    caption::{self, Caption},
    style::{AXIS, GRID, INK, PALE_INK, SCALE, WIDTH, color, px, text},
    ticks,
};
use crate::bench::{
    Placement, Report,
    findings::percent,
    report::{Dot, Row},
    text::figure,
    verdict::BASELINES,
};

/// Heights: of an allocation, of the room around those of a placement.
const DOT: u32 = 8;
const ROOM: u32 = 16;
/// A placement is never lower: its name and figures stand beside it.
const LEAST: u32 = 60;
const AXIS_HEIGHT: u32 = 52;
const GAP: u32 = 20;
const HEADING: u32 = 34;
/// Names stand to the left of the dots, figures to the right.
const NAMES: u32 = 170;
const FIGURES: u32 = 260;
/// A range over which figures are drawn on a logarithmic axis.
const WIDE: f64 = 4.0;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Strips over one axis.
pub struct Panel {
    /// Above them.
    pub heading: String,
    /// What the axis shows, with an opening bracket for more about it.
    pub axis: String,
    /// Below each other.
    pub strips: Vec<Strip>,
}

/// What has a row for each of its dots.
pub struct Strip {
    /// To the left of the dots.
    pub name: String,
    /// Of name and dots.
    pub color: RGBColor,
    /// A dot where there is something quiet to show, a line where there is a range,
    /// a ring where there is neither.
    pub dots: Vec<Dot>,
    /// To the right of them.
    pub figures: [String; 2],
}

/// One panel per workload and size, below each other.
pub fn draw(report: &Report) -> anyhow::Result<String> {
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
pub fn draw_all(caption: &Caption, panels: &[Panel]) -> anyhow::Result<String> {
    let total = caption::HEIGHT + panels.iter().map(Panel::height).sum::<u32>();
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (px(WIDTH), px(total))).into_drawing_area();
        root.fill(&WHITE)?;
        caption.draw(&root)?;
        let mut top = caption::HEIGHT;
        for panel in panels {
            let at = (0, px(top) as i32);
            panel.draw(&root.clone().shrink(at, (px(WIDTH), px(panel.height()))))?;
            top += panel.height();
        }
        root.present()?;
    }
    Ok(svg)
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
    fn height(&self) -> u32 {
        (DOT * self.dots.len() as u32 + ROOM).max(LEAST)
    }
}

impl Panel {
    /// The height that it takes.
    pub fn height(&self) -> u32 {
        HEADING + self.strips.iter().map(Strip::height).sum::<u32>() + AXIS_HEIGHT + GAP
    }

    /// Draws it into an area of that height.
    pub fn draw(&self, area: &Area<'_>) -> anyhow::Result<()> {
        let at = (px(28) as i32, 0);
        let heading = self.heading.clone();
        area.draw(&Text::new(heading, at, text(16, INK, HPos::Left, VPos::Top)))?;

        if self.strips.iter().all(|strip| strip.dots.is_empty()) {
            let at = (px(28) as i32, px(HEADING) as i32);
            let none = "none is left: the pages of all of them moved".to_owned();
            area.draw(&Text::new(none, at, text(14, PALE_INK, HPos::Left, VPos::Top)))?;
            return Ok(());
        }
        let (lo, hi) = self.range();
        let wide = lo > 0.0 && hi / lo > WIDE;
        let x = if wide { Axis::logarithmic(lo..hi) } else { Axis::linear(lo..hi, 7) };
        let scale = if wide { ", log scale" } else { "" };
        let total: u32 = self.strips.iter().map(Strip::height).sum();
        let mut chart = ChartBuilder::on(area)
            .margin_top(px(HEADING))
            .margin_bottom(px(GAP))
            .margin_left(px(NAMES))
            .margin_right(px(FIGURES))
            .x_label_area_size(px(AXIS_HEIGHT))
            .build_cartesian_2d(x, f64::from(total)..0.0)?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .x_desc(format!("{}{scale})", self.axis))
            .x_label_formatter(&|x| ticks::label(*x))
            .label_style(text(14, PALE_INK, HPos::Center, VPos::Center))
            .axis_desc_style(text(14, PALE_INK, HPos::Center, VPos::Center))
            .bold_line_style(GRID.stroke_width(SCALE))
            .light_line_style(TRANSPARENT)
            .axis_style(AXIS.stroke_width(SCALE))
            .set_all_tick_mark_size(px(4))
            .draw()?;
        let mut top = 0;
        for strip in &self.strips {
            let color = strip.color;
            let room = strip.height() - DOT * strip.dots.len() as u32;
            for (i, dot) in strip.dots.iter().enumerate() {
                let y = f64::from(top + room / 2) + f64::from(DOT) * (i as f64 + 0.5);
                if dot.p5 < dot.p95 {
                    let line = vec![(dot.p5, y), (dot.p95, y)];
                    let pale = color.mix(0.35).stroke_width(px(1));
                    chart.draw_series([PathElement::new(line, pale)])?;
                }
                if let Some(quiet) = dot.quiet {
                    chart.draw_series([Circle::new((quiet, y), px(3), color.filled())])?;
                } else if dot.p5 == dot.p95 {
                    let ring = color.mix(0.5).stroke_width(px(1));
                    chart.draw_series([Circle::new((dot.p5, y), px(3), ring)])?;
                }
            }
            let middle = f64::from(top) + f64::from(strip.height()) / 2.0;
            let (left, at) = chart.backend_coord(&(lo, middle));
            let (right, _) = chart.backend_coord(&(hi, middle));
            let base = area.get_base_pixel().1;
            let write = |string: &str, x: i32, dy: i32, size, ink, anchor| {
                let at = (x, at - base + px(1) as i32 * dy);
                area.draw(&Text::new(string.to_owned(), at, text(size, ink, anchor, VPos::Center)))
            };
            let (before, after) = (left - px(16) as i32, right + px(20) as i32);
            write(&strip.name, before, 0, 16, color, HPos::Right)?;
            let [first, second] = &strip.figures;
            write(first, after, -10, 15, INK, HPos::Left)?;
            write(second, after, 12, 14, PALE_INK, HPos::Left)?;
            top += strip.height();
        }
        Ok(())
    }

    /// All dots and lines, and at least 4 % around them: noise is not to fill the
    /// picture.
    fn range(&self) -> (f64, f64) {
        let dots = || self.strips.iter().flat_map(|strip| &strip.dots);
        let ends = dots().flat_map(|dot| [dot.p5, dot.p95].into_iter().chain(dot.quiet));
        let (lo, hi) = ends.fold((f64::INFINITY, 0.0f64), |(lo, hi), x| (lo.min(x), hi.max(x)));
        let room = ((hi - lo) * 0.05).max(hi * 0.04);
        let wide = lo > 0.0 && hi / lo > WIDE;
        if wide { (lo * 0.93, hi * 1.07) } else { ((lo - room).max(lo * 0.5), hi + room) }
    }
}

/// What stands beside a placement: its speed, and how it varies and compares.
fn figures(row: &Row) -> [String; 2] {
    let (Some(quiet), Some(between)) = (row.quiet, row.between) else {
        return ["too few quiet moments".to_owned(), String::new()];
    };
    let ratio = BASELINES.into_iter().find_map(|to| Some((row.ratio_to(to)?, to)));
    let ratio = ratio
        .map_or(String::new(), |(ratio, to): (_, Placement)| format!(", {:.2}x {to}", ratio.value));
    [
        format!("quiet {} {}", figure(quiet.median), row.unit),
        format!("between {}{ratio}", percent(between.spread)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::sample;

    #[test]
    fn every_allocation_is_a_dot_and_a_line() {
        let report = sample::repeat();
        let svg = draw(&report).unwrap();
        let allocations: usize = report.rows.iter().map(|row| row.each.len()).sum();
        assert_eq!(svg.matches("<circle").count(), allocations);
        assert_eq!(allocations, 60);
    }

    #[test]
    fn an_allocation_without_quiet_moments_has_a_line_only() {
        let mut report = sample::repeat();
        report.rows[0].each[0].quiet = None;
        assert_eq!(draw(&report).unwrap().matches("<circle").count(), 59);
        for row in &mut report.rows {
            row.each.clear();
        }
        assert!(draw(&report).unwrap().contains("none is left"));
        let mut report = sample::repeat();
        report.rows[0].quiet = None;
        assert!(draw(&report).unwrap().contains("too few quiet moments"));
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
