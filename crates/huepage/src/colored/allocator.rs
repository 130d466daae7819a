// SPDX-License-Identifier: MIT OR Apache-2.0
//! Colored memory for collections.

use std::{
    alloc::Layout,
    ptr::{self, NonNull},
};

use allocator_api2::alloc::{AllocError, Allocator};

use super::Huepage;
use crate::{mapping::page_size, units::Bytes};

/// For large collections in one piece, such as a vector or a hash table: each
/// allocation takes whole pages. Where no memory can be placed, allocating fails with
/// [`AllocError`].
///
/// ```no_run
/// use allocator_api2::vec::Vec;
/// use huepage::Huepage;
///
/// # fn main() -> Result<(), huepage::colored::ColoredError> {
/// let mut words = Vec::with_capacity_in(50_000, Huepage::open()?);
/// words.push("placed");
/// # Ok(())
/// # }
/// ```
// SAFETY: a block is a region of its own, at its address until it is given back;
// clones share the table of regions, so each can give back what another lent.
unsafe impl Allocator for Huepage {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        if layout.align() as u64 > page_size().0 {
            return Err(AllocError);
        }
        let first = match layout.size() {
            0 => ptr::without_provenance_mut(layout.align()),
            size => self.lend(Bytes(size as u64)).map_err(|_| AllocError)?,
        };
        NonNull::new(ptr::slice_from_raw_parts_mut(first, layout.size())).ok_or(AllocError)
    }

    fn allocate_zeroed(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        // A region is zeroed when it is given out.
        self.allocate(layout)
    }

    unsafe fn deallocate(&self, first: NonNull<u8>, layout: Layout) {
        if layout.size() > 0 {
            self.take_lent(first.as_ptr());
        }
    }
}
