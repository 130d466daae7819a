// SPDX-License-Identifier: MIT OR Apache-2.0
//! All experiments.

mod aging;
mod fault_cost;
mod frame_order;
mod ksm_nodes;
mod mixed;
mod readers;
mod scale;
mod sequential_io;
mod thirty_days;
#[cfg(test)]
mod trial;
mod two_guests;
mod working_set;
mod zero_pages;
mod zone_lock;

use crate::experiment::Experiment;

/// In the order of docs/lab.md.
pub const ALL: &[&Experiment] = &[
    &aging::EXPERIMENT,
    &ksm_nodes::EXPERIMENT,
    &working_set::EXPERIMENT,
    &zero_pages::EXPERIMENT,
    &frame_order::EXPERIMENT,
    &sequential_io::EXPERIMENT,
    &fault_cost::EXPERIMENT,
    &zone_lock::EXPERIMENT,
    &mixed::EXPERIMENT,
    &thirty_days::EXPERIMENT,
    &two_guests::EXPERIMENT,
    &scale::EXPERIMENT,
];

/// The one of this name.
pub fn find(name: &str) -> Option<&'static Experiment> {
    ALL.iter().copied().find(|experiment| experiment.name == name)
}
