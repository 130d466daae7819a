// SPDX-License-Identifier: MIT OR Apache-2.0
//! A report as a picture.

mod caption;
mod curves;
mod strips;
pub mod style;

use super::BenchReport;

pub use caption::Caption;
pub use strips::{Panel, Strip, draw_all};

/// The picture as SVG: a row of dots per allocation, and for working sets curves
/// over their size above it.
///
/// # Errors
/// If the report has no rows to draw.
pub fn svg(report: &BenchReport) -> anyhow::Result<String> {
    if report.rows.is_empty() {
        anyhow::bail!("a report without rows cannot be drawn");
    }
    Ok(if report.sizes("chase").is_empty() { strips::draw(report) } else { curves::draw(report) })
}

#[cfg(test)]
mod tests {
    use huepage_present::png;
    use resvg::usvg::{Options, Tree};

    use super::*;
    use crate::bench::report::sample;

    #[test]
    fn pictures_are_svg_that_names_every_placement_and_the_machine() {
        for report in [sample::working_set(), sample::repeat()] {
            let svg = svg(&report).unwrap();
            let tree = Tree::from_str(&svg, &Options::default()).unwrap();
            assert_eq!(tree.size().width(), 1200.0);
            for placement in report.placements() {
                assert!(svg.contains(&format!(">{placement}<")), "{placement}");
            }
            assert!(svg.contains("A &amp; B &lt;CPU&gt;"));
        }
    }

    #[test]
    fn a_png_has_the_size_of_its_svg_and_ink_of_every_placement() {
        for report in [sample::working_set(), sample::repeat()] {
            let svg = svg(&report).unwrap();
            let size = Tree::from_str(&svg, &Options::default()).unwrap().size().to_int_size();
            let pixmap = resvg::tiny_skia::Pixmap::decode_png(&png::render(&svg).unwrap()).unwrap();
            assert_eq!((pixmap.width(), pixmap.height()), (size.width(), size.height()));
            for placement in report.placements() {
                let hex = u32::from_str_radix(&style::color(placement)[1..], 16).unwrap();
                let [_, red, green, blue] = hex.to_be_bytes();
                let ink = pixmap.pixels().iter().filter(|p| {
                    let off = |a: u8, b: u8| a.abs_diff(b) < 4;
                    off(p.red(), red) && off(p.green(), green) && off(p.blue(), blue)
                });
                assert!(ink.count() > 50, "{placement}");
            }
        }
    }

    #[test]
    fn a_report_without_rows_is_refused() {
        let mut report = sample::repeat();
        report.rows.clear();
        assert!(svg(&report).is_err());
    }
}
