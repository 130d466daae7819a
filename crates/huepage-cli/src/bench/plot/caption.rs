// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text above every picture: title, machine, and how to read it.

use huepage_present::{
    chart::{INK, PALE},
    svg::{Anchor, Svg},
};

use super::style::MARGIN;
use crate::bench::{BenchReport, cache_text};

/// The height that a caption takes.
pub const HEIGHT: f64 = 104.0;

/// A title, and two lines about machine, method and moments.
pub struct Caption {
    pub title: String,
    pub lines: [String; 2],
}

impl Caption {
    /// Of a report on allocations.
    pub fn of(report: &BenchReport, title: &str, how_to_read: &str) -> Self {
        let machine = format!(
            "{}, {}, CPU {}; {}; {} allocations per placement; {how_to_read}",
            report.machine.model,
            cache_text(report.cache),
            report.machine.cpu,
            report.kind,
            report.allocations,
        );
        let moments = format!("{} slices, {}", report.moments.slices, report.moments);
        Caption { title: title.to_owned(), lines: [machine, moments] }
    }

    /// Draws it.
    pub fn draw(&self, svg: &mut Svg) {
        svg.bold((MARGIN, 38.0), 23, INK, &self.title);
        for (line, y) in self.lines.iter().zip([63.0, 83.0]) {
            svg.text((MARGIN, y), 14, PALE, Anchor::Start, line);
        }
    }
}
