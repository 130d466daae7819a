// SPDX-License-Identifier: MIT OR Apache-2.0
//! A shape per placement, for readers who do not see the colors.

use super::style::px;
use crate::bench::Placement;

/// The corners of a placement's marker around its point.
pub fn marker(placement: Placement) -> Vec<(i32, i32)> {
    let r = px(5) as i32;
    match placement {
        Placement::Default | Placement::Random => {
            let corner = |i: i32| {
                let (sin, cos) = (f64::from(i) * std::f64::consts::TAU / 32.0).sin_cos();
                ((cos * f64::from(r)).round() as i32, (sin * f64::from(r)).round() as i32)
            };
            (0..32).map(corner).collect()
        }
        Placement::Stirred => {
            vec![(-r, 0), (-r / 2, -r), (r / 2, -r), (r, 0), (r / 2, r), (-r / 2, r)]
        }
        Placement::Balanced => vec![(-r, -r), (r, -r), (r, r), (-r, r)],
        Placement::Quarter => vec![(-r, -r), (r, -r), (0, r)],
        Placement::Thp => vec![(-r, r), (r, r), (0, -r)],
        Placement::Sequence => {
            let r = r * 5 / 4;
            vec![(-r, 0), (0, -r), (r, 0), (0, r)]
        }
        Placement::ShuffledLabels => {
            let (a, b) = (r * 5 / 4, r * 2 / 5);
            let arm = [(-a, -b), (-b, -b), (-b, -a), (b, -a), (b, -b), (a, -b)];
            arm.into_iter().chain(arm.map(|(x, y)| (-x, -y))).collect()
        }
    }
}
