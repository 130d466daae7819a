// SPDX-License-Identifier: MIT OR Apache-2.0
//! Latency and bandwidth in quiet moments over the working set, side by side;
//! below them every allocation at the size that the claim is about.

use huepage_present::{
    axis::Axis,
    chart::{Frame, INK, LINE, PALE},
    svg::{Anchor, Svg},
};

use super::{
    caption::{self, Caption},
    strips,
    style::{WIDTH, color, marker},
};
use crate::bench::{BenchReport, Placement, report::Row, stats::quantile_of, suite::eighths_of};

/// Height of the curves with caption and legend.
const HEIGHT: f64 = 640.0;
const LEGEND: f64 = 56.0;
/// Around the frame of a panel: heading, labels of y, labels of x.
const HEADING: f64 = 34.0;
const Y_LABELS: f64 = 58.0;
const X_LABELS: f64 = 50.0;
const RIGHT: f64 = 22.0;

/// Two panels, a legend below both.
pub fn draw(report: &BenchReport) -> String {
    let mut svg = Svg::default();
    let title = "What placement is worth, by size of the working set";
    let how_to_read = "quiet moments; line: median, band: p5 to p95 of allocations";
    Caption::of(report, title, how_to_read).draw(&mut svg);
    let chase = Series::of(report, "chase");
    let (lo, hi) = (chase.lowest() * 0.92, chase.highest() * 1.08);
    let heading = "Random pointer chase: ns per access (lower is better, log scale)";
    chase.draw(&mut svg, 0.0, heading, &Axis::logarithmic(lo..hi));
    let read = Series::of(report, "read");
    let hi = read.highest() * 1.06;
    let heading = "Sequential read: GB/s (higher is better)";
    read.draw(&mut svg, WIDTH / 2.0, heading, &Axis::linear(0.0..hi, 6));
    legend(&mut svg, &report.placements());
    let claimed = eighths_of(report.cache, 7);
    let rows: Vec<&Row> = report.rows_of("chase").filter(|row| row.bytes == claimed).collect();
    let end = if rows.is_empty() { HEIGHT } else { strips::of_rows(&rows).draw(&mut svg, HEIGHT) };
    svg.finish(WIDTH, end)
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
    fn of(row: &Row, report: &BenchReport) -> Option<Self> {
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
    fn of(report: &BenchReport, bench: &str) -> Self {
        let line = |placement| {
            let rows = report.rows_of(bench).filter(|row| row.placement == placement);
            let mut points: Vec<Point> = rows.filter_map(|row| Point::of(row, report)).collect();
            points.sort_by(|a, b| a.eighths.total_cmp(&b.eighths));
            (placement, points)
        };
        let mut placements = report.placements();
        // The curve drawn last is on top.
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

    /// Draws them into the half of the picture that begins at `left`.
    fn draw(&self, svg: &mut Svg, left: f64, heading: &str, y: &Axis) {
        let frame = Frame {
            left: left + Y_LABELS,
            right: left + WIDTH / 2.0 - RIGHT,
            top: caption::HEIGHT + HEADING,
            bottom: HEIGHT - LEGEND - X_LABELS,
        };
        let last = self.points().map(|point| point.eighths).fold(8.0, f64::max);
        let x = Axis::whole_numbers(0.6..last + 0.4, |eighths| format!("{eighths}/8"));
        svg.text((left + 28.0, caption::HEIGHT + 13.0), 15, INK, Anchor::Start, heading);
        frame.x_axis(svg, &x, &self.x_label);
        frame.y_axis(svg, y);
        let at = |point: &Point, value| frame.at(&x, y, (point.eighths, value));
        let (cache, _) = frame.at(&x, y, (8.0, y.range().start));
        svg.dashed(&[(cache, frame.top), (cache, frame.bottom)], 1.5, LINE);
        svg.text((cache - 7.0, frame.top + 14.0), 13, PALE, Anchor::End, "cache size");
        for (placement, points) in &self.lines {
            let up = points.iter().map(|point| at(point, point.p95));
            let down = points.iter().rev().map(|point| at(point, point.p5));
            svg.polygon(&up.chain(down).collect::<Vec<_>>(), color(*placement), 0.13);
        }
        for (placement, points) in &self.lines {
            let medians: Vec<_> = points.iter().map(|point| at(point, point.median)).collect();
            svg.polyline(&medians, 2.5, color(*placement));
            for median in medians {
                svg.polygon(&marker(*placement, median), color(*placement), 1.0);
            }
        }
    }
}

fn legend(svg: &mut Svg, placements: &[Placement]) {
    let slot = (WIDTH - 56.0) / Placement::ALL.len() as f64;
    let y = HEIGHT - LEGEND / 2.0;
    let first = (WIDTH - slot * placements.len() as f64) / 2.0;
    for (i, &placement) in placements.iter().enumerate() {
        let x = first + slot * i as f64;
        svg.line((x, y), (x + 30.0, y), 2.5, color(placement));
        svg.polygon(&marker(placement, (x + 15.0, y)), color(placement), 1.0);
        svg.text((x + 38.0, y + 5.0), 15, INK, Anchor::Start, &placement.to_string());
    }
}
