// SPDX-License-Identifier: MIT OR Apache-2.0
//! All experiments.

mod aging;

use crate::experiment::Experiment;

/// In the order of the sources S1 to S5.
pub const ALL: &[&dyn Experiment] = &[&aging::Aging];

/// The one of this name.
pub fn find(name: &str) -> Option<&'static dyn Experiment> {
    ALL.iter().copied().find(|experiment| experiment.name() == name)
}
