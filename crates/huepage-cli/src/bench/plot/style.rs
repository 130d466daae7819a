// SPDX-License-Identifier: MIT OR Apache-2.0
//! The size of all pictures, and a color and a marker for each placement.

use std::f64::consts::TAU;

use huepage_present::chart::palette;

use crate::bench::Placement;

/// Width of every picture.
pub const WIDTH: f64 = 1200.0;
/// Where text begins.
pub const MARGIN: f64 = 28.0;

/// The color of a placement in every picture.
pub fn color(placement: Placement) -> &'static str {
    match placement {
        Placement::Default => palette::BLACK,
        Placement::Stirred => palette::GRAY,
        Placement::Random => palette::VERMILION,
        Placement::Balanced => palette::BLUE,
        Placement::Quarter => palette::PURPLE,
        Placement::Thp => palette::GREEN,
        Placement::Sequence => palette::SKY,
        Placement::ShuffledLabels => palette::ORANGE,
    }
}

/// The corners of a placement's marker around a point: a shape per placement, for
/// readers who cannot distinguish the colors.
pub fn marker(placement: Placement, (x, y): (f64, f64)) -> Vec<(f64, f64)> {
    const R: f64 = 5.0;
    let corners = match placement {
        Placement::Default | Placement::Random => {
            let corner = |i: u32| {
                let (sin, cos) = (f64::from(i) * TAU / 32.0).sin_cos();
                (cos * R, sin * R)
            };
            (0..32).map(corner).collect()
        }
        Placement::Stirred => {
            vec![(-R, 0.0), (-R / 2.0, -R), (R / 2.0, -R), (R, 0.0), (R / 2.0, R), (-R / 2.0, R)]
        }
        Placement::Balanced => vec![(-R, -R), (R, -R), (R, R), (-R, R)],
        Placement::Quarter => vec![(-R, -R), (R, -R), (0.0, R)],
        Placement::Thp => vec![(-R, R), (R, R), (0.0, -R)],
        Placement::Sequence => {
            let r = R * 1.25;
            vec![(-r, 0.0), (0.0, -r), (r, 0.0), (0.0, r)]
        }
        Placement::ShuffledLabels => {
            let (a, b) = (R * 1.25, R * 0.4);
            let arm = [(-a, -b), (-b, -b), (-b, -a), (b, -a), (b, -b), (a, -b)];
            arm.into_iter().chain(arm.map(|(x, y)| (-x, -y))).collect()
        }
    };
    corners.into_iter().map(|(dx, dy)| (x + dx, y + dy)).collect()
}
