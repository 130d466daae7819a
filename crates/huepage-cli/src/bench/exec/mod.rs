// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measures what placement gains for an unmodified program: runs of it by default and
//! by `huepage run`, in turns.
//!
//! A run is an allocation and a visit in one: its pages are new, and are freed when it
//! ends. So runs of one arm vary by placement and by the moment together, and only
//! quiet moments separate these.

mod analysis;
mod launch;
mod picture;
mod placer_sum;
mod report;
mod runner;
#[cfg(test)]
mod simulated;
mod text;
mod verdict;
mod watch;

pub use analysis::arms;
pub use launch::{Launcher, Program, shell};
pub use placer_sum::PlacerSum;
pub use report::{ExecReport, SCHEMA};
pub use runner::{Plan, measure, moments};
pub use verdict::verdict;

use std::fmt;

use serde::Serialize;

use super::{Look, moment::Moment};

/// How the report looks.
pub const LOOK: Look<ExecReport> = Look { text: text::text, svg: picture::svg };

/// An arm of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arm {
    /// The program, executed as it is.
    Default,
    /// The same by `huepage run`.
    Placed,
    /// The unmodified program once more: it does not differ from the default arm.
    Control,
}

impl Arm {
    /// All of them, in the order of tables.
    pub const ALL: [Arm; 3] = [Arm::Default, Arm::Placed, Arm::Control];
}

/// As in JSON.
impl fmt::Display for Arm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// What a run took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    /// Seconds from before it was started until it had ended.
    pub elapsed: f64,
    /// Seconds of CPU time in user mode, of all its threads and of the children
    /// that it waited for.
    pub user: f64,
    /// The same in the kernel.
    pub system: f64,
    /// Whether it ended with exit code 0.
    pub succeeded: bool,
}

/// One run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ProgramRun {
    /// How it was run.
    pub arm: Arm,
    /// The round, in which each arm runs once.
    pub round: usize,
    /// Seconds since the first one began.
    pub start: f64,
    /// What it took.
    #[serde(flatten)]
    pub cost: Cost,
    /// Whether no disturbance by others was seen.
    pub quiet: bool,
    /// The state of CPU and cache around it.
    pub moment: Moment,
}
