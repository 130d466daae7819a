// SPDX-License-Identifier: MIT OR Apache-2.0
//! All measurements, before any of them is summed up.

use std::io::{self, Write};

use huepage::units::Bytes;
use serde::Serialize;

use super::{Placement, moment::Moment, workload::Unit};

/// One timed slice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// The block in which its allocation was visited.
    pub block: usize,
    /// Seconds since the first visit.
    pub start: f64,
    /// In the unit of the workload.
    pub figure: f64,
    /// The state of CPU and cache around it.
    pub moment: Moment,
}

/// The slices of one workload over one size in allocations of one placement.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Name of the workload.
    pub bench: &'static str,
    /// Memory that it ran over.
    pub bytes: Bytes,
    /// How that was placed.
    pub placement: Placement,
    /// Unit of the figures.
    pub unit: Unit,
    /// Per allocation, whether its pages moved, and its slices.
    pub allocations: Vec<Allocation>,
}

/// One allocation in one workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Allocation {
    /// Whether some of its pages had other colors in the end; `None` if that is not
    /// known.
    pub moved: Option<bool>,
    /// Share of its pages that the cache cannot hold together although it has room for
    /// them; `None` if colors are not known.
    pub imbalance: Option<f64>,
    /// In the order in which they were taken.
    pub slices: Vec<Slice>,
}

/// The speed of arithmetic alone, on data in the first-level cache.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ceiling {
    /// Name of the workload.
    pub bench: &'static str,
    /// Unit of the figure.
    pub unit: Unit,
    /// The figure, the best of all blocks.
    pub figure: f64,
}

/// All slices of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// One group for each workload, size and placement.
    pub groups: Vec<Group>,
    /// Blocks of visits in which every allocation was visited once.
    pub blocks: usize,
    /// For workloads that have one.
    pub ceilings: Vec<Ceiling>,
    /// Whether Ctrl-C ended the run.
    pub interrupted: bool,
}

/// A line of a samples file (schema `huepage.bench-samples/1`).
#[derive(Serialize)]
struct Line<'a> {
    bench: &'a str,
    bytes: Bytes,
    placement: Placement,
    allocation: usize,
    moved: Option<bool>,
    block: usize,
    start: f64,
    figure: f64,
    unit: Unit,
    quiet: bool,
    #[serde(flatten)]
    moment: &'a Moment,
}

impl Samples {
    /// Every slice.
    pub fn slices(&self) -> impl Iterator<Item = &Slice> + Clone {
        self.groups.iter().flat_map(|group| &group.allocations).flat_map(|a| &a.slices)
    }

    /// Leaves out what was taken after the last whole block.
    pub fn drop_unfinished(&mut self) {
        for allocation in self.groups.iter_mut().flat_map(|group| &mut group.allocations) {
            allocation.slices.retain(|slice| slice.block < self.blocks);
        }
    }

    /// Nanoseconds that the loop of arithmetic takes in quick moments: a tenth
    /// of all moments are quicker.
    pub fn quick_arithmetic(&self) -> f64 {
        let mut times: Vec<u64> = self.slices().map(|slice| slice.moment.arithmetic).collect();
        times.sort_unstable();
        times.get(times.len() / 10).map_or(0.0, |&time| time as f64)
    }

    /// Writes every slice as a line of JSON after one that names the schema.
    ///
    /// # Errors
    /// What the writer reports.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let quick = self.quick_arithmetic();
        writeln!(out, "{{\"schema\":\"huepage.bench-samples/1\"}}")?;
        for group in &self.groups {
            for (number, allocation) in group.allocations.iter().enumerate() {
                for slice in &allocation.slices {
                    let line = Line {
                        bench: group.bench,
                        bytes: group.bytes,
                        placement: group.placement,
                        allocation: number,
                        moved: allocation.moved,
                        block: slice.block,
                        start: slice.start,
                        figure: slice.figure,
                        unit: group.unit,
                        quiet: slice.moment.is_quiet(quick),
                        moment: &slice.moment,
                    };
                    serde_json::to_writer(&mut *out, &line)?;
                    out.write_all(b"\n")?;
                }
            }
        }
        Ok(())
    }
}
