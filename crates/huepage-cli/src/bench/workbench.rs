// SPDX-License-Identifier: MIT OR Apache-2.0
//! Supplies memory for benchmarks, and measures what others evict: the interface
//! between workloads and the machine.

use huepage::{
    color::{Color, Pressure},
    units::Bytes,
};

use super::Placement;

/// Allocates memory by placement, and looks at the cache.
pub trait Workbench {
    /// The memory allocated. All its bytes are present and writable, the first is at
    /// the start of a page. Its contents are not specified; a workload writes before it
    /// reads.
    type Buffer: AsMut<[u8]>;

    /// One line for the report: where pages come from and how colors are found.
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

    /// The present colors of the pages of a buffer; `None` if colors cannot be found,
    /// and for single pages whose color cannot.
    ///
    /// # Errors
    /// If colors can no longer be found.
    fn colors(&mut self, _: &mut Self::Buffer) -> anyhow::Result<Option<Vec<Option<Color>>>> {
        Ok(None)
    }

    /// What others evict from the cache now; `None` if that cannot be measured.
    ///
    /// # Errors
    /// If the thread can no longer run on its CPU.
    fn pressure(&mut self) -> anyhow::Result<Option<Pressure>> {
        Ok(None)
    }
}
