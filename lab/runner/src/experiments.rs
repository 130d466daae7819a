// SPDX-License-Identifier: MIT OR Apache-2.0
//! All experiments.

mod aging;
mod fault_cost;
mod frame_order;
mod ksm_nodes;
mod mixed;
mod readers;
mod sequential_io;
mod working_set;
mod zero_pages;
mod zone_lock;

use crate::experiment::Experiment;

/// In the order of docs/lab.md.
pub const ALL: &[&dyn Experiment] = &[
    &aging::Aging,
    &ksm_nodes::KsmNodes,
    &working_set::WorkingSet,
    &zero_pages::ZeroPages,
    &frame_order::FrameOrder,
    &sequential_io::SequentialIo,
    &fault_cost::FaultCost,
    &zone_lock::ZoneLock,
    &mixed::Mixed,
];

/// The one of this name.
pub fn find(name: &str) -> Option<&'static dyn Experiment> {
    ALL.iter().copied().find(|experiment| experiment.name() == name)
}
