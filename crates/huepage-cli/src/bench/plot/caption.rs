// SPDX-License-Identifier: MIT OR Apache-2.0
//! What stands above every picture: title, machine, and how to read it.

use plotters::{
    coord::Shift,
    prelude::*,
    style::text_anchor::{HPos, VPos},
};

use super::style::{INK, PALE_INK, font, px, text};
use crate::bench::{Kind, Report};

/// The height that a caption takes, in nominal pixels.
pub const HEIGHT: u32 = 104;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A title, and two lines about machine, method and moments.
pub struct Caption {
    pub title: String,
    pub lines: [String; 2],
}

impl Caption {
    /// Of a report on allocations.
    pub fn of(report: &Report, title: &str, how_to_read: &str) -> Self {
        let kind = match report.kind {
            Kind::Measured => "measured",
            Kind::Modelled => "modelled",
        };
        let machine = format!(
            "{}, L{} {} {}-way, CPU {}; {kind}; {} allocations per placement; {how_to_read}",
            report.machine.model,
            report.cache.level(),
            report.cache.size(),
            report.cache.ways(),
            report.machine.cpu,
            report.allocations,
        );
        let moments = format!("{} slices, {}", report.moments.slices, report.moments);
        Caption { title: title.to_owned(), lines: [machine, moments] }
    }

    /// Draws it.
    pub fn draw(&self, root: &Area<'_>) -> anyhow::Result<()> {
        let left = px(28) as i32;
        let bold = font(23).style(FontStyle::Bold).color(&INK);
        root.draw(&Text::new(self.title.clone(), (left, px(18) as i32), bold))?;
        for (line, top) in self.lines.iter().zip([50, 70]) {
            let pale = text(14, PALE_INK, HPos::Left, VPos::Top);
            root.draw(&Text::new(line.clone(), (left, px(top) as i32), pale))?;
        }
        Ok(())
    }
}
