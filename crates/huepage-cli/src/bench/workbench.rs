// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where benchmark memory comes from: the seam between workloads and placement.

use huepage::units::Bytes;

use super::Placement;

/// Memory for one sample.
pub trait Buffer {
    /// All its bytes: present, writable, at the start of a page. What they hold
    /// is not specified; a workload writes before it reads.
    fn bytes_mut(&mut self) -> &mut [u8];
}

/// Hands out memory by placement.
pub trait Workbench {
    /// The memory handed out.
    type Buffer: Buffer;

    /// One line for the report: where pages come from and how colors are told.
    fn describe(&self) -> String;

    /// The placements this workbench can serve, in the order of tables.
    fn offers(&self) -> Vec<Placement>;

    /// Memory of at least `bytes` bytes, on pages drawn anew: two calls with
    /// the same arguments answer with different pages as far as there are any.
    ///
    /// # Errors
    /// If the placement is not offered, or too few pages of its colors are left.
    fn allocate(&mut self, placement: Placement, bytes: Bytes) -> anyhow::Result<Self::Buffer>;

    /// Takes memory back once its sample is done.
    ///
    /// # Errors
    /// If a pool cannot take its pages back.
    fn give_back(&mut self, buffer: Self::Buffer) -> anyhow::Result<()>;
}
