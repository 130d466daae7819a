// SPDX-License-Identifier: MIT OR Apache-2.0
//! A stock of frames that grows and shrinks: frames are drawn from the kernel when they
//! are needed, and classified.

use super::{Mechanism, PlaceError, Pool};
use crate::{
    color::{Color, ColorCount, ColorOracle},
    mapping::{Mapping, PageKind},
};

/// Slots of which the address space is taken at once.
const SLOTS: usize = 4096;

impl Pool {
    /// A pool with room for frames of so many colors, and none in it.
    pub(super) fn empty(
        count: ColorCount,
        mechanism: Option<Mechanism>,
    ) -> Result<Self, PlaceError> {
        let mut pool = Pool::new(count, mechanism)?;
        let slots = Mapping::reserve(SLOTS, PageKind::Base)
            .map_err(PlaceError::system("reserve address space"))?;
        let arena = pool.adopt(slots)?;
        for slot in arena.mapping().iter() {
            pool.slots.put_empty(slot);
        }
        Ok(pool)
    }

    /// Draws up to `frames` frames from the kernel and classifies them; returns how
    /// many are in the pool now that were not before.
    pub(super) fn draw(
        &mut self,
        frames: usize,
        oracle: &mut dyn ColorOracle,
    ) -> Result<usize, PlaceError> {
        self.owner.check()?;
        let slots = self.slots.take_empty(frames.min(self.slots.empty())).unwrap_or_default();
        for slot in &slots {
            // SAFETY: an empty slot of the pool, whose address no other code has.
            unsafe { slot.as_ptr().write_volatile(0) };
        }
        // SAFETY: the slots are mapped as long as the pool lives.
        let told = match unsafe { oracle.classify(&slots) } {
            Ok(told) => told,
            Err(error) => {
                slots.into_iter().for_each(|slot| self.put_released(slot));
                return Err(error.into());
            }
        };
        let mut drawn = 0;
        for (slot, color) in slots.into_iter().zip(told) {
            match color.filter(|color| color.0 < self.count.get()) {
                Some(color) => {
                    // New from the kernel, and only read since: all zeros.
                    self.slots.put(slot, color, false);
                    drawn += 1;
                }
                None => self.put_released(slot),
            }
        }
        Ok(drawn)
    }

    /// Gives frames of a color back to the kernel, up to `frames`.
    pub(super) fn release_of(&mut self, color: Color, frames: usize) {
        for _ in 0..frames {
            let Some((slot, _)) = self.slots.take(color) else { return };
            self.put_released(slot);
        }
    }
}
