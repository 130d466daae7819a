// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every run as a dot, one strip per placement.

use plotters::{
    coord::Shift,
    prelude::*,
    style::text_anchor::{HPos, VPos},
};

use super::{
    axis::Axis,
    caption,
    style::{AXIS, GRID, INK, PALE_INK, SCALE, WIDTH, color, px, text},
    ticks,
};
use crate::bench::{Report, findings::percent, report::Row, text::figure};

const STRIP: u32 = 84;
const AXIS_HEIGHT: u32 = 52;
const GAP: u32 = 20;
const HEADING: u32 = 34;
/// Names stand to the left of the dots, figures to the right.
const NAMES: u32 = 170;
const FIGURES: u32 = 250;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

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
    let heights: Vec<u32> =
        panels.iter().map(|rows| HEADING + STRIP * rows.len() as u32 + AXIS_HEIGHT + GAP).collect();
    let height = caption::HEIGHT + heights.iter().sum::<u32>();
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (px(WIDTH), px(height))).into_drawing_area();
        root.fill(&WHITE)?;
        let title = "The same program on fresh memory, again and again";
        let how_to_read = "dot: one run, bar: p5 to p95, tick: median";
        caption::draw(&root, title, how_to_read, report)?;
        let mut top = caption::HEIGHT;
        for (rows, height) in panels.iter().zip(heights) {
            let at = (0, px(top) as i32);
            panel(&root.clone().shrink(at, (px(WIDTH), px(height))), rows, report)?;
            top += height;
        }
        root.present()?;
    }
    Ok(svg)
}

fn panel(area: &Area<'_>, rows: &[&Row], report: &Report) -> anyhow::Result<()> {
    let unit = rows[0].unit;
    let better = if unit.lower_is_better() { "lower" } else { "higher" };
    let heading = format!("{}, {}", rows[0].bench, rows[0].bytes);
    let at = (px(28) as i32, 0);
    area.draw(&Text::new(heading, at, text(16, INK, HPos::Left, VPos::Top)))?;

    let (lo, hi) = range(rows);
    let strips = rows.len() as f64;
    let mut chart = ChartBuilder::on(area)
        .margin_top(px(HEADING))
        .margin_bottom(px(GAP))
        .margin_left(px(NAMES))
        .margin_right(px(FIGURES))
        .x_label_area_size(px(AXIS_HEIGHT))
        .build_cartesian_2d(Axis::linear(lo..hi, 7), strips..0.0)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .x_desc(format!("{unit} ({better} is better)"))
        .x_label_formatter(&|x| ticks::label(*x))
        .label_style(text(14, PALE_INK, HPos::Center, VPos::Center))
        .axis_desc_style(text(14, PALE_INK, HPos::Center, VPos::Center))
        .bold_line_style(GRID.stroke_width(SCALE))
        .light_line_style(TRANSPARENT)
        .axis_style(AXIS.stroke_width(SCALE))
        .set_all_tick_mark_size(px(4))
        .draw()?;
    for (i, row) in rows.iter().enumerate() {
        let (color, summary) = (color(row.placement), row.summary());
        let y = |part: f64| i as f64 + part;
        let bar = [(summary.p5, y(0.34)), (summary.p95, y(0.66))];
        chart.draw_series([Rectangle::new(bar, color.mix(0.18).filled())])?;
        chart.draw_series(row.samples.iter().enumerate().map(|(run, &sample)| {
            Circle::new((sample, y(jitter(run))), px(4), color.mix(0.75).filled())
        }))?;
        let tick = vec![(summary.median, y(0.18)), (summary.median, y(0.82))];
        chart.draw_series([PathElement::new(tick, color.stroke_width(px(3)))])?;

        let (left, middle) = chart.backend_coord(&(lo, y(0.5)));
        let (right, _) = chart.backend_coord(&(hi, y(0.5)));
        let top = area.get_base_pixel().1;
        let write = |string: String, x: i32, dy: i32, size, ink, anchor| {
            let at = (x, middle - top + px(1) as i32 * dy);
            area.draw(&Text::new(string, at, text(size, ink, anchor, VPos::Center)))
        };
        let (before, after) = (left - px(16) as i32, right + px(20) as i32);
        write(row.placement.to_string(), before, 0, 16, color, HPos::Right)?;
        let median = format!("median {} {unit}", figure(summary.median));
        write(median, after, -12, 15, INK, HPos::Left)?;
        let ratio = report.speedup(row).zip(report.baseline());
        let ratio = ratio.map_or(String::new(), |(ratio, other)| format!(", {ratio:.2}x {other}"));
        let spread = format!("spread {}{ratio}", percent(summary.spread()));
        write(spread, after, 12, 14, PALE_INK, HPos::Left)?;
    }
    Ok(())
}

/// All samples, and around them at least 4 % of the largest: noise is not to
/// fill the picture.
fn range(rows: &[&Row]) -> (f64, f64) {
    let samples = || rows.iter().flat_map(|row| &row.samples).copied();
    let (lo, hi) = (samples().fold(f64::INFINITY, f64::min), samples().fold(0.0, f64::max));
    let room = ((hi - lo) * 0.05).max(hi * 0.04);
    ((lo - room).max(0.0), hi + room)
}

/// A height within the strip that keeps dots of like figures apart: multiples
/// of the golden ratio spread evenly, and the same in every picture.
fn jitter(run: usize) -> f64 {
    0.26 + 0.48 * (run as f64 * 0.618_033_988_749_895).fract()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::sample;

    #[test]
    fn dots_stay_inside_their_strip() {
        assert!((0..1000).map(jitter).all(|y| (0.25..0.75).contains(&y)));
    }

    #[test]
    fn every_run_is_a_dot() {
        let svg = draw(&sample::repeat()).unwrap();
        assert_eq!(svg.matches("<circle").count(), 60);
    }

    #[test]
    fn noise_of_a_percent_does_not_fill_the_picture() {
        let mut report = sample::repeat();
        for row in &mut report.rows {
            row.samples = vec![10.0, 10.1];
        }
        let (lo, hi) = range(&report.rows.iter().collect::<Vec<_>>());
        assert!(hi - lo > 8.0 * 0.1, "{lo} {hi}");
    }
}
