// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pictures: panels of lines with marks, or of marks above names, side by side, with
//! one legend.

use huepage_present::{
    axis,
    chart::{self, Frame, INK, LABEL_LINE, PALE, palette},
    number::trimmed,
    svg::{Anchor, Svg, lines, width},
};

use super::Figures;

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
    /// Where y ends, at least.
    top: f64,
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
    /// Names at 0, 1, 2, …, without an order: no line connects them.
    Names(Vec<String>),
}

/// A line with marks.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// In the legend; the same name has the same color in every panel.
    pub name: String,
    /// Ascending by x.
    pub points: Vec<(f64, f64)>,
    /// A figure of the source, or of theory: dashed and gray.
    pub reference: bool,
}

impl Series {
    /// A series of results.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Series { name: name.into(), points, reference: false }
    }

    /// A series of the source or of theory.
    pub fn reference(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Series { name: name.into(), points, reference: true }
    }
}

impl Panel {
    /// A panel whose y axis ends at its highest point.
    pub fn new(
        heading: impl Into<String>,
        x_label: impl Into<String>,
        x: Axis,
        series: Vec<Series>,
    ) -> Self {
        Panel { heading: heading.into(), x_label: x_label.into(), x, top: 0.0, series }
    }

    /// The same with a y axis up to at least `top`, for panels that are compared.
    pub fn up_to(self, top: f64) -> Self {
        Panel { top, ..self }
    }

    /// The same with names on its x axis; each line may have a point for each name.
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

/// Pixels of a panel, of the part above all panels and of a line of the legend.
const PANEL: (f64, f64) = (560.0, 400.0);
const TOP: f64 = 76.0;
const LEGEND_LINE: f64 = 26.0;
/// Space around the axes of a panel.
const LEFT: f64 = 66.0;
const RIGHT: f64 = 20.0;
const ABOVE: f64 = 30.0;
const BELOW: f64 = 52.0;
/// Text sizes of the title, of headings and of the rest.
const TITLE: u32 = 20;
const TITLE_LINE: f64 = 26.0;
const HEADING: u32 = 15;
const TEXT: u32 = 14;

/// Colors that readers with red-green color blindness can distinguish.
const COLORS: [&str; 8] = [
    palette::BLUE,
    palette::VERMILION,
    palette::GREEN,
    palette::PURPLE,
    palette::ORANGE,
    palette::SKY,
    palette::BLACK,
    palette::GRAY,
];

impl Plot {
    /// As SVG.
    ///
    /// # Errors
    /// If there is nothing to draw.
    pub fn svg(&self) -> anyhow::Result<String> {
        let names = self.names();
        let found = names.iter().any(|(_, reference)| !reference);
        anyhow::ensure!(found, "nothing to draw: no row has the metrics of the plot");
        let columns = self.panels.len().clamp(1, 3);
        let width = columns as f64 * PANEL.0;
        let title = lines(&self.title, TITLE, width - 48.0);
        let caption = lines(&self.caption, TEXT, width - 48.0);
        let below = (title.len() - 1) as f64 * TITLE_LINE;
        let top = TOP + below + (caption.len() - 1) as f64 * LABEL_LINE;
        let legend_top = top + self.panels.len().div_ceil(columns) as f64 * PANEL.1;
        let mut svg = Svg::default();
        for (number, line) in title.iter().enumerate() {
            let y = 32.0 + number as f64 * TITLE_LINE;
            svg.text((24.0, y), TITLE, INK, Anchor::Start, line);
        }
        for (number, line) in caption.iter().enumerate() {
            let y = 56.0 + below + number as f64 * LABEL_LINE;
            svg.text((24.0, y), TEXT, PALE, Anchor::Start, line);
        }
        for (number, panel) in self.panels.iter().enumerate() {
            let (column, row) = (number % columns, number / columns);
            let corner = (column as f64 * PANEL.0, top + row as f64 * PANEL.1);
            panel.draw(&mut svg, corner, &names);
        }
        let per_line = (width / 260.0).max(1.0) as usize;
        for (number, (name, reference)) in names.iter().enumerate() {
            let x = 24.0 + (number % per_line) as f64 * width / per_line as f64;
            let y = legend_top + (number / per_line) as f64 * LEGEND_LINE + 10.0;
            let look = look(&names, name, *reference);
            let line = [(x, y), (x + 28.0, y)];
            if *reference {
                svg.dashed(&line, 3.0, look.0);
            } else {
                svg.polyline(&line, 3.0, look.0);
                mark(&mut svg, (x + 14.0, y), look);
            }
            svg.text((x + 36.0, y + 5.0), TEXT, INK, Anchor::Start, name);
        }
        let legend = names.len().div_ceil(per_line) as f64 * LEGEND_LINE + 12.0;
        Ok(svg.finish(width, legend_top + legend))
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

/// The color of a line, and of the inside of its marks: hollow once all colors have
/// been used.
fn look(names: &[(String, bool)], name: &str, reference: bool) -> (&'static str, &'static str) {
    if reference {
        return (PALE, PALE);
    }
    let mut own = names.iter().filter(|(_, reference)| !reference);
    let number = own.position(|(have, _)| have == name).unwrap_or(0);
    let color = COLORS[number % COLORS.len()];
    (color, if number < COLORS.len() { color } else { "#ffffff" })
}

/// The mark of a point.
fn mark(svg: &mut Svg, at: (f64, f64), (line, inside): (&str, &str)) {
    svg.disk(at, 5.0, line);
    svg.disk(at, 3.0, inside);
}

impl Panel {
    fn draw(&self, svg: &mut Svg, (left, top): (f64, f64), names: &[(String, bool)]) {
        svg.text((left + 24.0, top + 17.0), HEADING, INK, Anchor::Start, &self.heading);
        let points = || self.series.iter().flat_map(|series| &series.points);
        let across = Figures::of(points().map(|point| self.scaled(point.0)));
        let up = Figures::of(points().map(|point| point.1));
        let Some((across, up)) = across.zip(up) else { return };
        let (x, y) = (self.x_axis(across), self.y_axis(up));
        let lines = self.lines_of_names(x.ticks());
        let frame = Frame {
            left: left + LEFT,
            right: left + PANEL.0 - RIGHT,
            top: top + ABOVE,
            bottom: top + PANEL.1 - BELOW - (lines - 1) as f64 * LABEL_LINE,
        };
        frame.x_axis_in_lines(svg, &x, &self.x_label, lines);
        frame.y_axis(svg, &y);
        for (number, series) in self.series.iter().enumerate() {
            let look = look(names, &series.name, series.reference);
            let aside = self.aside(number);
            let at = |point: &(f64, f64)| frame.at(&x, &y, (self.scaled(point.0) + aside, point.1));
            let points: Vec<(f64, f64)> = series.points.iter().map(at).collect();
            if series.reference {
                svg.dashed(&points, 2.0, look.0);
                continue;
            }
            if !self.is_names() {
                svg.polyline(&points, 2.0, look.0);
            }
            points.iter().for_each(|&at| mark(svg, at, look));
        }
    }

    /// The number of lines for names, so that none overlaps the next.
    fn lines_of_names(&self, ticks: &[(f64, String)]) -> usize {
        let Axis::Names(_) = self.x else { return 1 };
        let widest = ticks.iter().map(|(_, name)| width(name, chart::SIZE)).fold(0.0, f64::max);
        let apart = (PANEL.0 - LEFT - RIGHT) / ticks.len() as f64;
        (widest / apart).ceil().max(1.0) as usize
    }

    /// The offset of a series' marks from their name, so that none hides another.
    fn aside(&self, number: usize) -> f64 {
        let middle = (self.series.len() - 1) as f64 / 2.0;
        let apart = (0.7 / self.series.len() as f64).min(0.15);
        if self.is_names() { (number as f64 - middle) * apart } else { 0.0 }
    }

    fn scaled(&self, x: f64) -> f64 {
        if self.x == Axis::Doublings { x.log2() } else { x }
    }

    fn x_axis(&self, Figures { least, most, .. }: Figures) -> axis::Axis {
        let width = most - least;
        let margin = match self.is_names() {
            true => 0.5,
            false => (width * 0.05).max(0.3 * f64::from(width == 0.0)),
        };
        let points = |reference: bool| {
            let series = self.series.iter().filter(move |series| series.reference == reference);
            series.flat_map(|series| &series.points).map(|point| self.scaled(point.0))
        };
        // A reference may be a curve of many points: ticks are at the values that were
        // run.
        let mut ticks: Vec<f64> = points(false).collect();
        if ticks.is_empty() {
            ticks = points(true).collect();
        }
        ticks.sort_by(f64::total_cmp);
        ticks.dedup_by(|a, b| (*a - *b).abs() <= 0.05 * width);
        let ticks = ticks.into_iter().map(|tick| (tick, self.tick(tick))).collect();
        axis::Axis::with_ticks(least - margin..most + margin, ticks)
    }

    fn y_axis(&self, Figures { least, most, .. }: Figures) -> axis::Axis {
        let high = most.max(self.top);
        axis::Axis::linear(least.min(0.0)..if high > 0.0 { high * 1.08 } else { 1.0 }, 6)
    }

    fn is_names(&self) -> bool {
        matches!(self.x, Axis::Names(_))
    }

    fn tick(&self, at: f64) -> String {
        match &self.x {
            Axis::Linear => trimmed(at, 3),
            Axis::Doublings => trimmed(at.exp2(), 3),
            Axis::Names(names) => names.get(at.round() as usize).cloned().unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn plot(series: Vec<Series>) -> Plot {
        let panel = Panel::new("lines in conflict (%)", "fill", Axis::Linear, series);
        Plot { title: "aging".into(), caption: "modelled".into(), panels: vec![panel] }
    }

    #[test]
    fn no_two_lines_look_the_same() {
        let names: Vec<(String, bool)> =
            (0..2 * COLORS.len()).map(|number| (number.to_string(), false)).collect();
        let mut looks: Vec<_> =
            names.iter().map(|(name, reference)| look(&names, name, *reference)).collect();
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
        let twice = ["stock", "on"].map(|name| Series::new(name, vec![(64.0, 1.0)]));
        assert_eq!(plot(twice.into()).svg().unwrap().matches(">64<").count(), 1);
    }

    #[test]
    fn long_names_stand_in_lines_of_their_own_and_long_captions_too() {
        let lines = |svg: &str, word: &str| {
            let texts = svg.split("<text").filter(|text| text.contains(word));
            let y = |text: &str| text.split("y=\"").nth(1)?.split('"').next().map(str::to_owned);
            texts.map(|text| y(text).unwrap()).collect::<BTreeSet<String>>().len()
        };
        let draw_as = |title: &str, name: &str, caption: &str| {
            let names: Vec<String> = (0..9).map(|number| format!("{name}{number}")).collect();
            let line = ["stock".to_owned()];
            let panel = Panel::of_names("cost", "work", &names, &line, |_, x| Some(x as f64));
            let (title, caption) = (title.to_owned(), caption.to_owned());
            Plot { title, caption, panels: vec![panel] }.svg().unwrap()
        };
        let draw = |name: &str, caption: &str| draw_as("cost", name, caption);
        assert_eq!(lines(&draw("n", "short"), ">n"), 1);
        assert_eq!(lines(&draw("touch in order ", "short"), ">touch"), 3);
        assert_eq!(lines(&draw("n", &"caption ".repeat(20)), ">caption"), 3);
        assert_eq!(lines(&draw_as(&"title ".repeat(12), "n", "short"), ">title"), 2);
    }

    #[test]
    fn names_are_not_joined_by_a_line() {
        let points = || vec![(0.0, 1.0), (1.0, 2.0)];
        let draw = |x: Axis| {
            let panel = Panel::new("cost", "work", x, vec![Series::new("on", points())]);
            Plot { title: "cost".into(), caption: "modelled".into(), panels: vec![panel] }.svg()
        };
        let lines = |svg: String| svg.matches("<polyline").count();
        let names = Axis::Names(vec!["touch".into(), "unmap".into()]);
        // The legend has a line, too.
        assert_eq!(lines(draw(Axis::Linear).unwrap()), 1 + lines(draw(names).unwrap()));
    }

    #[test]
    fn nothing_to_draw_is_an_error() {
        let theory = Series::reference("theory", vec![(0.5, 1.0)]);
        for series in [Vec::new(), vec![theory]] {
            assert!(plot(series).svg().unwrap_err().to_string().contains("nothing to draw"));
        }
    }
}
