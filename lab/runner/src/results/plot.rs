// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pictures: panels of lines with marks, side by side, one legend for all.

use plotters::{
    coord::Shift,
    element::DashedPathElement,
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// Above everything.
    pub title: String,
    /// What it was made with, below the title.
    pub caption: String,
    /// From left to right, at most three to a row.
    pub panels: Vec<Panel>,
}

/// One pair of axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Above the axes, with the unit of y.
    pub heading: String,
    /// Below the axes.
    pub x_label: String,
    /// How x is laid out.
    pub x: Axis,
    /// Where y ends, at least: the same in panels that are to be compared.
    pub top: f64,
    /// The lines.
    pub series: Vec<Series>,
}

/// How an axis is laid out.
#[derive(Clone, Debug, PartialEq)]
pub enum Axis {
    /// In proportion.
    Linear,
    /// Doublings are equally far apart.
    Doublings,
    /// Names at 0, 1, 2, …
    Names(Vec<String>),
}

/// A line with marks.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// In the legend; the same name has the same color in every panel.
    pub name: String,
    /// Ascending by x.
    pub points: Vec<(f64, f64)>,
    /// A figure of the source, or what theory says: dashed and gray.
    pub reference: bool,
}

impl Series {
    /// What was found.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Series { name: name.into(), points, reference: false }
    }

    /// What a source or theory says.
    pub fn reference(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Series { name: name.into(), points, reference: true }
    }
}

impl Panel {
    /// One whose y ends where its highest point does.
    pub fn new(
        heading: impl Into<String>,
        x_label: impl Into<String>,
        x: Axis,
        series: Vec<Series>,
    ) -> Self {
        Panel { heading: heading.into(), x_label: x_label.into(), x, top: 0.0, series }
    }

    /// The same with names on its axis, for each of which each line may have a point.
    pub fn of_names(
        heading: impl Into<String>,
        x_label: impl Into<String>,
        names: &[String],
        lines: &[String],
        point: impl Fn(&str, usize) -> Option<f64>,
    ) -> Self {
        let points = |line: &str| -> Vec<(f64, f64)> {
            let point = |x: usize| Some((x as f64, point(line, x)?));
            (0..names.len()).filter_map(point).collect()
        };
        let series = lines.iter().map(|line| Series::new(line, points(line))).collect();
        Panel::new(heading, x_label, Axis::Names(names.to_vec()), series)
    }
}

const PANEL: (u32, u32) = (560, 400);
const TOP: u32 = 76;
const LEGEND_LINE: u32 = 26;
/// Of a dashed line.
const DASH: u32 = 6;
const GAP: u32 = 5;
const INK: RGBColor = RGBColor(0x22, 0x26, 0x2b);
const PALE: RGBColor = RGBColor(0x5d, 0x66, 0x70);
const GRID: RGBColor = RGBColor(0xe3, 0xe6, 0xea);
/// Told apart by people who see red and green alike (after Okabe and Ito).
const COLORS: [RGBColor; 8] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x7a, 0x4f, 0x1d),
    RGBColor(0x44, 0x44, 0x44),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn text(size: u32, color: RGBColor, h: HPos, v: VPos) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&color).pos(Pos::new(h, v))
}

impl Plot {
    /// As SVG.
    ///
    /// # Errors
    /// If there is nothing to draw.
    pub fn svg(&self) -> anyhow::Result<String> {
        let names = self.names();
        anyhow::ensure!(!names.is_empty(), "nothing to draw: no row has the metrics of the plot");
        let columns = self.panels.len().clamp(1, 3) as u32;
        let rows = (self.panels.len() as u32).div_ceil(columns);
        let width = columns * PANEL.0;
        let per_line = (width / 260).max(1) as usize;
        let legend = LEGEND_LINE * names.len().div_ceil(per_line) as u32 + 12;
        let mut svg = String::new();
        {
            let size = (width, TOP + rows * PANEL.1 + legend);
            let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
            root.fill(&WHITE)?;
            let style = text(22, INK, HPos::Left, VPos::Top);
            root.draw(&Text::new(self.title.clone(), (24, 14), style))?;
            let style = text(14, PALE, HPos::Left, VPos::Top);
            root.draw(&Text::new(self.caption.clone(), (24, 44), style))?;
            for (number, panel) in self.panels.iter().enumerate() {
                let at =
                    (number as u32 % columns * PANEL.0, TOP + number as u32 / columns * PANEL.1);
                let area = root.clone().shrink((at.0 as i32, at.1 as i32), PANEL);
                panel.draw(&area, &names)?;
            }
            for (number, (name, reference)) in names.iter().enumerate() {
                let slot = width / per_line as u32;
                let x = 24 + (number % per_line) as i32 * slot as i32;
                let y = (TOP + rows * PANEL.1) as i32
                    + (number / per_line) as i32 * LEGEND_LINE as i32
                    + 10;
                let colors = color(&names, name, *reference);
                let (line, style) = ([(x, y), (x + 28, y)], colors.0.stroke_width(3));
                if *reference {
                    root.draw(&DashedPathElement::new(line, DASH, GAP, style))?;
                } else {
                    root.draw(&PathElement::new(line, style))?;
                    mark((x + 14, y), colors).iter().try_for_each(|part| root.draw(part))?;
                }
                let style = text(14, INK, HPos::Left, VPos::Center);
                root.draw(&Text::new(name.clone(), (x + 36, y), style))?;
            }
            root.present()?;
        }
        Ok(svg)
    }

    /// Names in the order of their first appearance.
    fn names(&self) -> Vec<(String, bool)> {
        let mut names: Vec<(String, bool)> = Vec::new();
        for series in self.panels.iter().flat_map(|panel| &panel.series) {
            if !series.points.is_empty() && !names.iter().any(|(name, _)| *name == series.name) {
                names.push((series.name.clone(), series.reference));
            }
        }
        names
    }
}

/// The color of a line, and of what is inside of its marks: nothing where all colors
/// have been used once.
fn color(names: &[(String, bool)], name: &str, reference: bool) -> (RGBColor, RGBColor) {
    if reference {
        return (PALE, PALE);
    }
    let mut own = names.iter().filter(|(_, reference)| !reference);
    let number = own.position(|(have, _)| have == name).unwrap_or(0);
    let color = COLORS[number % COLORS.len()];
    (color, if number < COLORS.len() { color } else { WHITE })
}

/// The mark of a point; its parts are drawn around it.
fn mark<C>(at: C, (line, inside): (RGBColor, RGBColor)) -> [Circle<C, i32>; 2]
where
    C: Clone,
{
    [Circle::new(at.clone(), 4, inside.filled()), Circle::new(at, 4, line.stroke_width(2))]
}

impl Panel {
    fn draw(&self, area: &Area<'_>, names: &[(String, bool)]) -> anyhow::Result<()> {
        let style = text(15, INK, HPos::Left, VPos::Top);
        area.draw(&Text::new(self.heading.clone(), (24, 4), style))?;
        let x = |x: f64| if self.x == Axis::Doublings { x.log2() } else { x };
        let points = || self.series.iter().flat_map(|series| &series.points);
        if points().next().is_none() {
            return Ok(());
        }
        let bounds = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)))
        };
        let (left, right) = bounds(&mut points().map(|point| x(point.0)));
        let margin = ((right - left) * 0.05).max(0.3 * f64::from(right == left || self.is_names()));
        let (low, high) = bounds(&mut points().map(|point| point.1));
        let high = high.max(self.top);
        let (low, high) = (low.min(0.0), if high > 0.0 { high * 1.08 } else { 1.0 });
        let mut chart = ChartBuilder::on(area)
            .margin_top(30)
            .margin_right(20)
            .x_label_area_size(52)
            .y_label_area_size(66)
            .build_cartesian_2d(left - margin..right + margin, low..high)?;
        // A reference may be a curve of many points: only what was run is marked.
        let run = self.series.iter().filter(|series| !series.reference);
        let mut ticks: Vec<f64> =
            run.flat_map(|series| &series.points).map(|point| x(point.0)).collect();
        if ticks.is_empty() {
            ticks = points().map(|point| x(point.0)).collect();
        }
        ticks.sort_by(f64::total_cmp);
        ticks.dedup_by(|a, b| (*a - *b).abs() < 0.05 * (right - left));
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(PALE)
            .x_labels(0)
            .y_labels(6)
            .y_label_formatter(&|y| short(*y))
            .label_style(text(13, PALE, HPos::Center, VPos::Center))
            .draw()?;
        let bottom = chart.backend_coord(&(left, low)).1;
        let (origin, _) = area.get_base_pixel();
        let top = area.get_base_pixel().1;
        for tick in &ticks {
            let at = chart.backend_coord(&(*tick, low)).0 - origin;
            let style = text(13, PALE, HPos::Center, VPos::Top);
            area.draw(&Text::new(self.tick(*tick), (at, bottom - top + 6), style))?;
        }
        let middle =
            (chart.backend_coord(&(left, low)).0 + chart.backend_coord(&(right, low)).0) / 2;
        let style = text(14, PALE, HPos::Center, VPos::Top);
        area.draw(&Text::new(self.x_label.clone(), (middle - origin, bottom - top + 28), style))?;
        for series in &self.series {
            let colors = color(names, &series.name, series.reference);
            let points: Vec<(f64, f64)> = series.points.iter().map(|p| (x(p.0), p.1)).collect();
            if series.reference {
                let line = DashedLineSeries::new(points, DASH, GAP, colors.0.stroke_width(2));
                chart.draw_series(line)?;
                continue;
            }
            chart.draw_series(LineSeries::new(points.clone(), colors.0.stroke_width(2)))?;
            chart.draw_series(points.iter().flat_map(|&at| mark(at, colors)))?;
        }
        Ok(())
    }

    fn is_names(&self) -> bool {
        matches!(self.x, Axis::Names(_))
    }

    fn tick(&self, at: f64) -> String {
        match &self.x {
            Axis::Linear => short(at),
            Axis::Doublings => short(at.exp2()),
            Axis::Names(names) => names.get(at.round() as usize).cloned().unwrap_or_default(),
        }
    }
}

/// Three digits at most behind the point, no zeros at the end.
fn short(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(series: Vec<Series>) -> Plot {
        let panel = Panel::new("lines in conflict (%)", "fill", Axis::Linear, series);
        Plot { title: "aging".into(), caption: "modelled".into(), panels: vec![panel] }
    }

    #[test]
    fn a_picture_has_its_words_and_a_line_for_each_series() {
        let points = vec![(0.5, 10.0), (1.0, 63.2)];
        let theory = Series::reference("random, 1 − e^−fill", points.clone());
        let svg = plot(vec![Series::new("stock", points), theory]).svg().unwrap();
        for word in ["aging", "modelled", "lines in conflict (%)", "fill", "stock", "0.5"] {
            assert!(svg.contains(word), "{word}");
        }
        // Two points and the legend, an inside and an outline each.
        assert_eq!(svg.matches("<circle").count(), 6);
    }

    #[test]
    fn no_two_lines_look_the_same() {
        let names: Vec<(String, bool)> =
            (0..2 * COLORS.len()).map(|number| (number.to_string(), false)).collect();
        let mut looks: Vec<_> = names
            .iter()
            .map(|(name, reference)| color(&names, name, *reference))
            .map(|(line, inside)| (line.rgb(), inside.rgb()))
            .collect();
        looks.sort_unstable();
        looks.dedup();
        assert_eq!(looks.len(), names.len());
    }

    #[test]
    fn only_points_that_were_run_are_marked_on_the_axis() {
        let run = Series::new("stock", vec![(0.5, 1.0), (2.0, 3.0)]);
        let curve = Series::reference("theory", vec![(0.5, 1.0), (1.25, 2.0), (2.0, 3.0)]);
        let svg = plot(vec![run, curve]).svg().unwrap();
        assert!(!svg.contains("1.25"));
        assert!(svg.contains("0.5"));
    }

    #[test]
    fn nothing_to_draw_is_an_error() {
        assert!(plot(Vec::new()).svg().unwrap_err().to_string().contains("nothing to draw"));
    }
}
