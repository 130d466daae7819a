// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fill of each class of pages.

use huepage_present::oklch::oklch;

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
/// Pages without information.
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
        // Neighbors differ in lightness too, since hues alone are too similar.
        By::Node | By::Color => {
            let (part, odd) = (class as f64 / classes as f64, class % 2 == 1);
            let lightness = if classes > 8 && odd { 0.60 } else { 0.76 };
            oklch(lightness, 0.13, 360.0 * part + 20.0)
        }
        By::Run => {
            // From light yellow for a single page to dark blue.
            let part = class as f64 / (classes - 1) as f64;
            oklch(0.86 - 0.58 * part, 0.14, 90.0 + 190.0 * part)
        }
    }
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
}
