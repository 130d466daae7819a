// SPDX-License-Identifier: MIT OR Apache-2.0
//! Colors, sizes and fonts of all pictures.

use plotters::{
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use crate::bench::Placement;

/// Width of every picture as it is shown.
pub const WIDTH: u32 = 1200;

/// Shapes are drawn this many times larger, since the SVG backend rounds to
/// whole pixels: at nominal size a rounded curve looks like a staircase.
pub const SCALE: u32 = 4;

/// A length in nominal pixels as the backend wants it.
pub const fn px(nominal: u32) -> u32 {
    nominal * SCALE
}

/// Tells the viewer to show a picture at its nominal size.
pub fn to_nominal_size(svg: &str) -> String {
    let Some((head, rest)) = svg.split_once("viewBox") else { return svg.to_owned() };
    let shrink = |head: &str| -> Option<String> {
        let height: u32 = head.split("height=\"").nth(1)?.split('"').next()?.parse().ok()?;
        Some(format!("<svg width=\"{WIDTH}\" height=\"{}\" ", height / SCALE))
    };
    format!("{}viewBox{rest}", shrink(head).unwrap_or_else(|| head.to_owned()))
}

/// The palette of M. Okabe and K. Ito ("Color Universal Design", 2008), which
/// color-blind readers can tell apart.
pub fn color(placement: Placement) -> RGBColor {
    match placement {
        Placement::Default => RGBColor(0, 0, 0),
        // Beside the palette, which has seven colors and a yellow too pale for lines.
        Placement::Stirred => RGBColor(120, 120, 120),
        Placement::Random => RGBColor(213, 94, 0),
        Placement::Balanced => RGBColor(0, 114, 178),
        Placement::Quarter => RGBColor(204, 121, 167),
        Placement::Thp => RGBColor(0, 158, 115),
        Placement::Sequence => RGBColor(86, 180, 233),
        Placement::ShuffledLabels => RGBColor(230, 159, 0),
    }
}

/// Text.
pub const INK: RGBColor = RGBColor(34, 34, 34);
/// Text of second rank.
pub const PALE_INK: RGBColor = RGBColor(96, 96, 96);
/// Lines of a grid.
pub const GRID: RGBColor = RGBColor(228, 228, 228);
/// Lines of an axis.
pub const AXIS: RGBColor = RGBColor(150, 150, 150);

const FONT: &str = "DejaVu Sans, Verdana, Arial, sans-serif";

/// Text of `size` nominal pixels. The backend takes the height of a line and
/// divides it by 1.24 for the size of its letters.
pub fn font(size: u32) -> FontDesc<'static> {
    (FONT, f64::from(px(size)) * 1.24).into_font()
}

/// The same, anchored where asked.
pub fn text(size: u32, color: RGBColor, h: HPos, v: VPos) -> TextStyle<'static> {
    font(size).color(&color).pos(Pos::new(h, v))
}
