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

/// Draws the title and a line about machine and method.
pub fn draw(
    root: &Area<'_>,
    title: &str,
    how_to_read: &str,
    report: &Report,
) -> anyhow::Result<()> {
    let left = px(28) as i32;
    let bold = font(23).style(FontStyle::Bold).color(&INK);
    root.draw(&Text::new(title.to_owned(), (left, px(18) as i32), bold))?;
    let pale = text(14, PALE_INK, HPos::Left, VPos::Top);
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
    root.draw(&Text::new(machine, (left, px(50) as i32), pale.clone()))?;
    let moments = format!("{} slices, {}", report.moments.slices, report.moments);
    root.draw(&Text::new(moments, (left, px(70) as i32), pale))?;
    Ok(())
}
