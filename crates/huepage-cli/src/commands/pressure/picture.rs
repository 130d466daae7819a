// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run as a picture: time from left to right; the share of all lines that others
//! evicted as a line, and that of each color as a heat map.

mod heat;

use huepage::color::Pressure;

use huepage_present::{
    number::percent,
    svg::{self, Anchor, Svg},
};

use super::{
    report::{Point, PressureReport},
    scale,
};

/// Width of every picture.
const WIDTH: f64 = 1200.0;
/// Empty border.
const MARGIN: f64 = 24.0;
/// Where time begins and ends.
const LEFT: f64 = 96.0;
const RIGHT: f64 = WIDTH - 40.0;
/// Height of the line of all colors together.
const LINE: f64 = 110.0;
/// Height of the strips below it.
const STRIP: f64 = 10.0;
const GAP: f64 = 8.0;

const INK: &str = "#222";
const PALE: &str = "#666";
const GRID: &str = "#e4e4e4";
const BLUE: &str = "#0072b2";
const GREEN: &str = "#009e73";
const PURPLE: &str = "#cc79a7";

/// The picture as SVG.
pub fn svg(report: &PressureReport) -> String {
    let mut svg = Svg::default();
    let time = Time { seconds: report.series.last().map_or(1.0, |last| last.at + last.seconds) };
    let mut y = head(&mut svg, report);
    y = line(&mut svg, report, &time, y) + GAP;
    y = strip(&mut svg, report, &time, y, "quiet", GREEN, |point| point.quiet_looks) + GAP / 2.0;
    y = strip(&mut svg, report, &time, y, "CPU lost", PURPLE, |point| point.interrupted_looks)
        + GAP;
    let top = scale::top(shares(report));
    y = heat::map(&mut svg, report, &time, top, y);
    y = times(&mut svg, &time, y);
    y = heat::legend(&mut svg, top, y + 16.0);
    svg.finish(WIDTH, y + MARGIN)
}

/// From seconds to pixels.
struct Time {
    seconds: f64,
}

impl Time {
    fn x(&self, at: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * at / self.seconds
    }

    fn span(&self, point: &Point) -> (f64, f64) {
        let x = self.x(point.at);
        (x, self.x(point.at + point.seconds) - x)
    }
}

fn shares(report: &PressureReport) -> impl Iterator<Item = f64> {
    report.series.iter().flat_map(|point| &point.color_shares).flatten().copied()
}

/// Draws what the picture shows, and how to read it; returns where that ends.
fn head(svg: &mut Svg, report: &PressureReport) -> f64 {
    let subject = &report.subject;
    let title = format!("How much of the {} other programs take", subject.cache_name());
    svg.bold((MARGIN, MARGIN + 16.0), 20, INK, &title);
    let mut about = Vec::from_iter(subject.model.clone());
    about.push(format!("Linux {}", subject.kernel));
    about.push(format!("CPU {}", subject.cpu));
    about.push(match subject.cache {
        Some(cache) => format!("{}, {} ways", subject.cache_name(), cache.ways()),
        None => subject.cache_name(),
    });
    about.push(format!("{} colors", subject.colors));
    let seen = match &report.evicted {
        Some(evicted) => format!(
            "others evicted {} of the lines in the mean of looks (median {}, p95 {})",
            percent(evicted.mean),
            percent(evicted.median),
            percent(evicted.p95)
        ),
        None => "no look saw any line".to_owned(),
    };
    let quiet = report.quiet_share().map(percent).unwrap_or("none".to_owned());
    let steal = report.steal.map_or("unknown".to_owned(), percent);
    let texts = [
        format!(
            "{}; measured: lines of known colors are read, left alone for {} ms, and timed \
             again",
            about.join(", "),
            1e3 * Pressure::WAIT.as_secs_f64()
        ),
        format!(
            "{} looks in {:.1} s: {seen}; quiet: {quiet}; steal: {steal}",
            report.looks, report.seconds
        ),
    ];
    let mut y = MARGIN + 40.0;
    for text in texts.iter().flat_map(|text| svg::lines(text, 12, WIDTH - 2.0 * MARGIN)) {
        svg.text((MARGIN, y), 12, PALE, Anchor::Start, &text);
        y += 18.0;
    }
    y + 4.0
}

/// All colors together.
fn line(svg: &mut Svg, report: &PressureReport, time: &Time, y: f64) -> f64 {
    let top = scale::top(report.series.iter().filter_map(|point| point.evicted));
    svg.text((LEFT, y + 10.0), 12, INK, Anchor::Start, "share of all lines that others evicted");
    let y = y + 20.0;
    let height = |share: f64| y + LINE * (1.0 - share / top);
    for share in [0.0, top / 2.0, top] {
        svg.rectangle((LEFT, height(share)), (RIGHT - LEFT, 1.0), GRID);
        let label = percent(share);
        svg.text((LEFT - 8.0, height(share) + 4.0), 12, PALE, Anchor::End, &label);
    }
    // A look covers the time that it ends: drawn as wide as that.
    let points: Vec<(f64, f64)> = report
        .series
        .iter()
        .filter_map(|point| Some((time.span(point), height(point.evicted?))))
        .flat_map(|((x, width), y)| [(x, y), (x + width, y)])
        .collect();
    if !points.is_empty() {
        svg.polyline(&points, 1.5, BLUE);
    }
    y + LINE
}

/// Marks where there were looks of a kind, as high as their share.
fn strip(
    svg: &mut Svg,
    report: &PressureReport,
    time: &Time,
    y: f64,
    name: &str,
    fill: &str,
    of: impl Fn(&Point) -> u64,
) -> f64 {
    svg.rectangle((LEFT, y), (RIGHT - LEFT, STRIP), "#f4f4f4");
    let marks: Vec<[f64; 4]> = report
        .series
        .iter()
        .filter(|point| of(point) > 0)
        .map(|point| {
            let (x, width) = time.span(point);
            let height = STRIP * of(point) as f64 / point.looks.max(1) as f64;
            [x, y + STRIP - height, width, height]
        })
        .collect();
    svg.rectangles(&marks, fill);
    svg.text((LEFT - 8.0, y + STRIP - 0.5), 12, INK, Anchor::End, name);
    y + STRIP
}

/// The axis of time.
fn times(svg: &mut Svg, time: &Time, y: f64) -> f64 {
    for (at, label) in scale::times(time.seconds, 12) {
        let x = time.x(at);
        svg.rectangle((x - 0.5, y), (1.0, 5.0), PALE);
        let middle = x + svg::width(&label, 12) / 2.0;
        svg.text((middle, y + 18.0), 12, PALE, Anchor::End, &label);
    }
    y + 18.0
}

#[cfg(test)]
mod tests {
    use resvg::usvg::{Options, Tree};

    use super::{super::sample, *};

    #[test]
    fn pictures_are_svg_of_one_width_that_name_the_machine() {
        for colors in [4, 8, 32, 640] {
            let svg = svg(&sample::run(colors));
            let tree = Tree::from_str(&svg, &Options::default()).unwrap();
            assert_eq!(tree.size().width(), 1200.0);
            assert!(tree.size().height() < 1000.0, "{colors}: {}", tree.size().height());
            assert!(svg.contains("A &amp; B &lt;CPU&gt;, Linux 6.1.0, CPU 1"), "{svg}");
            assert!(svg.contains("quiet: 67%; steal: 3.1%"), "{svg}");
        }
    }

    #[test]
    fn a_run_without_looks_is_a_picture_too() {
        let mut report = sample::run(8);
        (report.looks, report.evicted, report.steal) = (0, None, None);
        report.series.clear();
        assert!(svg(&report).contains("no look saw any line; quiet: none; steal: unknown"));
    }

    #[test]
    fn the_neighbor_is_where_and_when_it_was() {
        let report = sample::run(8);
        let svg = svg(&report);
        let time = Time { seconds: 60.0 };
        let full = heat::fill(heat::level(0.8, 1.0));
        let hot = svg.split_once(&format!(r#"<path fill="{full}" d=""#)).unwrap().1;
        let hot = hot.split('"').next().unwrap();
        let corners: Vec<(f64, f64)> = hot
            .split('M')
            .skip(1)
            .map(|rectangle| rectangle.split_once('h').unwrap().0.split_once(' ').unwrap())
            .map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()))
            .collect();
        // Twenty seconds of ten looks in two colors, cells side by side joined.
        let rows: std::collections::BTreeSet<u64> =
            corners.iter().map(|corner| corner.1 as u64).collect();
        assert_eq!(rows.len(), 2);
        let inside = time.x(19.9) - 0.1..time.x(40.0) + 0.1;
        assert!(corners.iter().all(|(x, _)| inside.contains(x)), "{corners:?}");
    }
}
