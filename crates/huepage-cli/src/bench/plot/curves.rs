// SPDX-License-Identifier: MIT OR Apache-2.0
//! Latency and bandwidth in quiet moments over the working set, side by side;
//! below them every allocation at the size that the claim is about.

use plotters::{
    coord::Shift,
    prelude::*,
    style::text_anchor::{HPos, VPos},
};

use super::{
    axis::Axis,
    caption::{self, Caption},
    marker::marker,
    strips,
    style::{AXIS, GRID, INK, PALE_INK, SCALE, WIDTH, color, px, text},
    ticks,
};
use crate::bench::{Placement, Report, report::Row, stats::quantile_of, suite::eighths_of};

/// Of the curves, with caption and legend.
const HEIGHT: u32 = 640;
const LEGEND: u32 = 56;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Two panels, a legend below both.
pub fn draw(report: &Report) -> anyhow::Result<String> {
    let claimed = eighths_of(report.cache, 7);
    let rows: Vec<&Row> = report.rows_of("chase").filter(|row| row.bytes == claimed).collect();
    let below = (!rows.is_empty()).then(|| strips::of_rows(&rows));
    let below_height = below.as_ref().map_or(0, strips::Panel::height);
    let mut svg = String::new();
    {
        let size = (px(WIDTH), px(HEIGHT + below_height));
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&WHITE)?;
        let title = "What placement is worth, by size of the working set";
        let how_to_read = "quiet moments; line: median, band: p5 to p95 of allocations";
        Caption::of(report, title, how_to_read).draw(&root)?;
        let height = px(HEIGHT - caption::HEIGHT - LEGEND);
        let panel = |x| {
            let left = px(x) as i32;
            let top = px(caption::HEIGHT) as i32;
            let right = left + px(WIDTH / 2) as i32;
            let area = root.clone().shrink((left, top), ((right - left) as u32, height));
            area.margin(0, 0, px(18), px(22))
        };
        let chase = Series::of(report, "chase");
        let (lo, hi) = (chase.lowest() * 0.92, chase.highest() * 1.08);
        let heading = "Random pointer chase: ns per access (lower is better, log scale)";
        chase.draw(&panel(0), heading, Axis::logarithmic(lo..hi))?;
        let read = Series::of(report, "read");
        let hi = read.highest() * 1.06;
        let heading = "Sequential read: GB/s (higher is better)";
        read.draw(&panel(WIDTH / 2), heading, Axis::linear(0.0..hi, 6))?;
        legend(&root, &report.placements())?;
        if let Some(panel) = below {
            let at = (0, px(HEIGHT) as i32);
            panel.draw(&root.clone().shrink(at, (px(WIDTH), px(below_height))))?;
        }
        root.present()?;
    }
    Ok(svg)
}

/// All rows of one workload, summarized, with their size in eighths of the cache.
struct Series {
    x_label: String,
    lines: Vec<(Placement, Vec<Point>)>,
}

/// The allocations of one size in quiet moments.
#[derive(Clone, Copy)]
struct Point {
    eighths: f64,
    median: f64,
    p5: f64,
    p95: f64,
}

impl Point {
    /// `None` where there were too few quiet moments.
    fn of(row: &Row, report: &Report) -> Option<Self> {
        let quiet: Vec<f64> = row.each.iter().filter_map(|dot| dot.quiet).collect();
        Some(Point {
            eighths: row.bytes.0 as f64 * 8.0 / report.cache.size().0 as f64,
            median: row.quiet?.median,
            p5: quantile_of(quiet.iter().copied(), 0.05),
            p95: quantile_of(quiet.iter().copied(), 0.95),
        })
    }
}

impl Series {
    fn of(report: &Report, bench: &str) -> Self {
        let line = |placement| {
            let rows = report.rows_of(bench).filter(|row| row.placement == placement);
            let mut points: Vec<Point> = rows.filter_map(|row| Point::of(row, report)).collect();
            points.sort_by(|a, b| a.eighths.total_cmp(&b.eighths));
            (placement, points)
        };
        let mut placements = report.placements();
        // What is drawn last lies on top.
        placements.sort_by_key(|placement| *placement == Placement::Balanced);
        Series {
            x_label: format!("working set / cache size ({})", report.cache.size()),
            lines: placements.into_iter().map(line).collect(),
        }
    }

    fn points(&self) -> impl Iterator<Item = &Point> {
        self.lines.iter().flat_map(|(_, points)| points)
    }

    /// A picture without points still has axes.
    fn lowest(&self) -> f64 {
        self.points().map(|point| point.p5).reduce(f64::min).unwrap_or(1.0)
    }

    fn highest(&self) -> f64 {
        self.points().map(|point| point.p95).reduce(f64::max).unwrap_or(10.0)
    }

    fn last_x(&self) -> f64 {
        self.points().map(|point| point.eighths).fold(8.0, f64::max)
    }

    fn draw(&self, area: &Area<'_>, heading: &str, y: Axis) -> anyhow::Result<()> {
        let last = self.last_x();
        let mut chart = ChartBuilder::on(area)
            .margin_top(px(34))
            .x_label_area_size(px(50))
            .y_label_area_size(px(58))
            .build_cartesian_2d(Axis::whole_numbers(0.6..last + 0.4), y)?;
        let head = text(15, INK, HPos::Left, VPos::Top);
        area.draw(&Text::new(heading.to_owned(), (px(28) as i32, 0), head))?;
        chart
            .configure_mesh()
            .x_desc(&self.x_label)
            .x_label_formatter(&|x| format!("{x:.0}/8"))
            .y_label_formatter(&|y| ticks::label(*y))
            .label_style(text(14, PALE_INK, HPos::Center, VPos::Center))
            .axis_desc_style(text(14, PALE_INK, HPos::Center, VPos::Center))
            .bold_line_style(GRID.stroke_width(SCALE))
            .light_line_style(TRANSPARENT)
            .axis_style(AXIS.stroke_width(SCALE))
            .set_all_tick_mark_size(px(4))
            .draw()?;
        let range = chart.y_range();
        chart.draw_series(DashedLineSeries::new(
            [(8.0, range.start), (8.0, range.end)],
            px(6),
            px(5),
            AXIS.stroke_width(px(3) / 2),
        ))?;
        let label = text(13, PALE_INK, HPos::Right, VPos::Top);
        let shift = (-(px(7) as i32), px(2) as i32);
        chart
            .draw_series([EmptyElement::at((8.0, range.end))
                + Text::new("cache size".to_owned(), shift, label)])?;
        for (placement, points) in &self.lines {
            let up = points.iter().map(|point| (point.eighths, point.p95));
            let down = points.iter().rev().map(|point| (point.eighths, point.p5));
            let band = up.chain(down).collect::<Vec<_>>();
            chart.draw_series([Polygon::new(band, color(*placement).mix(0.13))])?;
        }
        for (placement, points) in &self.lines {
            let medians: Vec<_> =
                points.iter().map(|point| (point.eighths, point.median)).collect();
            let style = color(*placement).stroke_width(px(5) / 2);
            chart.draw_series(LineSeries::new(medians.iter().copied(), style))?;
            chart.draw_series(medians.iter().map(|&at| {
                EmptyElement::at(at) + Polygon::new(marker(*placement), color(*placement).filled())
            }))?;
        }
        Ok(())
    }
}

fn legend(root: &Area<'_>, placements: &[Placement]) -> anyhow::Result<()> {
    let slot = (WIDTH - 56) / Placement::ALL.len() as u32;
    let y = px(HEIGHT - LEGEND / 2) as i32;
    let first = (WIDTH - slot * placements.len() as u32) / 2;
    for (i, &placement) in placements.iter().enumerate() {
        let x = px(first + slot * i as u32) as i32;
        let line = vec![(x, y), (x + px(30) as i32, y)];
        let style = color(placement).stroke_width(px(5) / 2);
        root.draw(&PathElement::new(line, style))?;
        let shape = Polygon::new(marker(placement), color(placement).filled());
        root.draw(&(EmptyElement::at((x + px(15) as i32, y)) + shape))?;
        let label = text(15, INK, HPos::Left, VPos::Center);
        root.draw(&Text::new(placement.to_string(), (x + px(38) as i32, y), label))?;
    }
    Ok(())
}
