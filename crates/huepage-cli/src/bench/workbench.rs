// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where benchmark memory comes from, and what others do to the cache: the seam
//! between workloads and the machine.

use huepage::{
    color::{Color, Pressure},
    units::Bytes,
};

use super::Placement;

/// Hands out memory by placement, and looks at the cache.
pub trait Workbench {
    /// The memory handed out. All its bytes are present and writable, the first is at the
    /// start of a page. What they hold is not specified; a workload writes before it reads.
    type Buffer: AsMut<[u8]>;

    /// One line for the report: where pages come from and how colors are told.
    fn describe(&self) -> String;

    /// The placements this workbench can serve, in the order of tables.
    fn offers(&self) -> Vec<Placement>;

    /// `count` allocations of at least `bytes` bytes, all on pages of their own.
    ///
    /// # Errors
    /// If the placement is not offered, or too few pages of its colors are left.
    fn allocate(
        &mut self,
        placement: Placement,
        bytes: Bytes,
        count: usize,
    ) -> anyhow::Result<Vec<Self::Buffer>>;

    /// Takes memory back.
    ///
    /// # Errors
    /// If a pool cannot take its pages back.
    fn give_back(&mut self, _: Self::Buffer) -> anyhow::Result<()> {
        Ok(())
    }

    /// The colors that the pages of a buffer have now; `None` where colors
    /// cannot be told, and for single pages of which they cannot.
    ///
    /// # Errors
    /// If colors can no longer be told.
    fn colors(&mut self, _: &mut Self::Buffer) -> anyhow::Result<Option<Vec<Option<Color>>>> {
        Ok(None)
    }

    /// What others take of the cache now; `None` where that cannot be told.
    ///
    /// # Errors
    /// If the thread can no longer run on its CPU.
    fn pressure(&mut self) -> anyhow::Result<Option<Pressure>> {
        Ok(None)
    }
}
