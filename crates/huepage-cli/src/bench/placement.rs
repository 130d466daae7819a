// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ways of placing memory that a benchmark compares.

use std::fmt;

use clap::ValueEnum;
use serde::Serialize;

/// How the pages behind a benchmark's buffer are chosen.
///
/// All but `default`, `stirred` and `thp` draw from a pool of classified pages, so
/// that nothing but color tells them apart; `shuffled-labels` has one of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// The pages that the kernel gives an ordinary mapping of base pages
    Default,
    /// The same after free memory was stirred: pages were freed in random order
    Stirred,
    /// An ordinary mapping with transparent huge pages
    Thp,
    /// Pages drawn at random from the pool
    Random,
    /// The color of a page follows its virtual page number
    Balanced,
    /// Only a quarter of the colors, different ones in each allocation
    Quarter,
    /// Bin hopping: pages get the colors in turn, in order of first touch
    Sequence,
    /// Balanced by randomly permuted colors; this control must show no gain
    ShuffledLabels,
}

impl Placement {
    /// All placements, in the order of tables and legends.
    pub const ALL: [Placement; 8] = [
        Placement::Default,
        Placement::Stirred,
        Placement::Thp,
        Placement::Random,
        Placement::Balanced,
        Placement::Quarter,
        Placement::Sequence,
        Placement::ShuffledLabels,
    ];

    /// Placements that a user may get instead of placed pages, with which others are
    /// compared.
    pub const COMPARED: [Placement; 4] =
        [Placement::Default, Placement::Stirred, Placement::Thp, Placement::Random];

    /// Whether it is a control, or a variant of another placement: then it runs only at
    /// the sizes about which claims are made.
    pub fn is_control(self) -> bool {
        matches!(self, Placement::Quarter | Placement::Sequence | Placement::ShuffledLabels)
    }

    /// Whether the kernel chooses its pages, as opposed to a pool.
    pub fn is_plain(self) -> bool {
        matches!(self, Placement::Default | Placement::Stirred | Placement::Thp)
    }
}

/// As in JSON and on the command line.
impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_on_the_command_line_in_json_and_in_text() {
        for placement in Placement::ALL {
            assert_eq!(placement.to_possible_value().unwrap().get_name(), placement.to_string());
        }
        assert_eq!(Placement::value_variants(), Placement::ALL);
    }
}
