// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fill of each class of pages.

use super::super::by::{By, UNKNOWN};

/// Text.
pub const INK: &str = "#222";
/// Text of second rank.
pub const PALE: &str = "#666";
/// Address space without pages.
pub const HOLE: &str = "#ececec";
/// Marks of huge pages.
pub const HUGE: &str = "#111";
/// Pages that a cache does not hold.
pub const OUT: &str = "#d55e00";
/// Pages of which nothing is known.
const NOTHING: &str = "#9a9a9a";

/// The palette of M. Okabe and K. Ito ("Color Universal Design", 2008), which
/// color-blind readers can tell apart, and two grays.
const KINDS: [&str; 8] =
    ["#0072b2", "#cc79a7", "#f0e442", "#009e73", "#e69f00", "#56b4e9", "#8a8a8a", "#d55e00"];
const NODES: [&str; 8] =
    ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#000000"];

/// The fill of a class among `classes`.
pub fn fill(by: By, class: usize, classes: usize) -> String {
    if class == UNKNOWN {
        return NOTHING.to_owned();
    }
    match by {
        By::Kind => KINDS[class].to_owned(),
        By::Node if classes <= NODES.len() => NODES[class].to_owned(),
        // Neighbors differ in lightness too: hues alone are too near.
        By::Node | By::Color => {
            let (part, odd) = (class as f64 / classes as f64, class % 2 == 1);
            let lightness = if classes > 8 && odd { 0.60 } else { 0.76 };
            oklch(lightness, 0.13, 360.0 * part + 20.0)
        }
        By::Run => {
            // From light and yellowish, a page alone, to dark blue.
            let part = class as f64 / (classes - 1) as f64;
            oklch(0.86 - 0.58 * part, 0.14, 90.0 + 190.0 * part)
        }
    }
}

/// A color by lightness, chroma and hue (B. Ottosson, "A perceptual color space
/// for image processing", 2020): equal steps look equal.
fn oklch(lightness: f64, chroma: f64, hue: f64) -> String {
    let (sin, cos) = hue.to_radians().sin_cos();
    let (a, b) = (chroma * cos, chroma * sin);
    let l = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let m = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let s = (lightness - 0.089_484_177_5 * a - 1.291_485_548_0 * b).powi(3);
    let rgb = [
        4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
        -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
        -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701_0 * s,
    ];
    let encode = |linear: f64| {
        let linear = linear.clamp(0.0, 1.0);
        let value = if linear <= 0.003_130_8 {
            12.92 * linear
        } else {
            1.055 * linear.powf(1.0 / 2.4) - 0.055
        };
        (value * 255.0).round() as u8
    };
    let [r, g, b] = rgb.map(encode);
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_class_has_a_fill_of_its_own() {
        for (by, classes) in
            [(By::Kind, 8), (By::Node, 2), (By::Node, 36), (By::Color, 16), (By::Run, 13)]
        {
            let fills: BTreeSet<String> =
                (0..classes).chain([UNKNOWN]).map(|class| fill(by, class, classes)).collect();
            assert_eq!(fills.len(), classes + 1, "{by:?} {fills:?}");
        }
    }

    #[test]
    fn the_color_space_is_the_published_one() {
        assert_eq!(oklch(1.0, 0.0, 0.0), "#ffffff");
        assert_eq!(oklch(0.0, 0.0, 0.0), "#000000");
        // sRGB red is L 0.628, C 0.2577, h 29.23.
        assert_eq!(oklch(0.628, 0.2577, 29.23), "#ff0000");
    }
}
