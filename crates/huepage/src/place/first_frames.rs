// SPDX-License-Identifier: MIT OR Apache-2.0
//! Placing memory before the program uses it: this needs no privilege, and no page is
//! moved that the program uses.

use rustix::{io::Errno, mm::Advice};

use super::{Fate, Mechanism, PlaceError, Pool, Wish, mover::MoveRun, recolor::base_pages_only};
use crate::{
    color::{Color, ColorCount, ColorOracle},
    mapping::{PageAddr, lost_ranges},
};

/// Pages that are moved by `mremap` at most: each may become a mapping of its own,
/// and the program needs some of those that the kernel allows (65,530) as well.
const REMAPPED: usize = 16 << 10;

/// Fills memory that holds nothing yet from a stock of frames of known color.
#[derive(Debug)]
pub struct FirstFrames {
    pool: Pool,
    filled: usize,
}

impl FirstFrames {
    /// An empty stock of frames of so many colors. Pages will be moved by
    /// `mechanism`, or by the best there is.
    ///
    /// # Errors
    /// [`PlaceError::NeedsMove`] if the mechanism asked for is missing;
    /// [`PlaceError::System`] without address space.
    pub fn new(count: ColorCount, mechanism: Option<Mechanism>) -> Result<Self, PlaceError> {
        Ok(FirstFrames { pool: Pool::empty(count, mechanism)?, filled: 0 })
    }

    /// How pages are moved.
    pub fn mechanism(&self) -> Mechanism {
        self.pool.mechanism()
    }

    /// How many frames of a color are in stock.
    pub fn stock(&self, color: Color) -> usize {
        self.pool.pages_of(color)
    }

    /// How many frames are in stock.
    pub fn held(&self) -> usize {
        self.pool.pages()
    }

    /// Draws up to `frames` frames from the kernel and classifies them; returns how
    /// many are in stock now that were not before.
    ///
    /// # Errors
    /// [`PlaceError::Color`] from the oracle.
    pub fn draw(
        &mut self,
        frames: usize,
        oracle: &mut dyn ColorOracle,
    ) -> Result<usize, PlaceError> {
        self.pool.draw(frames, oracle)
    }

    /// Gives frames of a color back to the kernel, up to `frames`.
    pub fn release(&mut self, color: Color, frames: usize) {
        self.pool.release_of(color, frames);
    }

    /// Gives zeroed frames to pages that have none, ascending by address. Pages
    /// that have one keep it ([`Fate::Busy`]). The memory is excluded from
    /// transparent huge pages from now on.
    ///
    /// [`PlaceError::OtherProcess`]; [`PlaceError::MappingLimit`] and
    /// [`PlaceError::System`] if the memory cannot be filled: some pages of it may be
    /// filled then. See [`FirstFrames::lost`].
    ///
    /// # Safety
    /// The pages are private anonymous memory, readable and writable, that no other
    /// thread accesses meanwhile.
    pub unsafe fn fill(&mut self, wishes: &[Wish]) -> Result<Vec<Fate>, PlaceError> {
        self.pool.owner.check()?;
        let mut fates = Vec::with_capacity(wishes.len());
        let adjacent = |a: &Wish, b: &Wish| a.page.nth(1) == b.page;
        for part in wishes.chunk_by(adjacent) {
            // SAFETY: the caller's contract.
            fates.extend(unsafe { self.fill_part(part) }?);
        }
        Ok(fates)
    }

    /// Whether some of a range was lost to another thread of the program, which
    /// mapped something there in the middle of a move by `mremap`.
    pub fn lost(start: PageAddr, pages: usize) -> bool {
        lost_ranges::is_lost(start.span(pages))
    }

    /// # Safety
    /// As [`FirstFrames::fill`]; the pages are adjacent.
    unsafe fn fill_part(&mut self, part: &[Wish]) -> Result<Vec<Fate>, PlaceError> {
        let (start, pages) = (part[0].page, part.len());
        let remapped = self.mechanism() == Mechanism::Remap;
        if remapped {
            if self.filled + pages > REMAPPED {
                return Ok(vec![Fate::Refused; pages]);
            }
            self.pool.mover.allow(pages)?;
        }
        base_pages_only(start, pages)?;
        // SAFETY: the caller's contract.
        unsafe { self.pool.mover.open(start, pages) }?;
        // SAFETY: as above.
        let fates = part.iter().map(|wish| unsafe { self.fill_page(*wish) }).collect();
        self.pool.mover.close(start, pages);
        if remapped {
            // SAFETY: as above. Pages that came by mremap have the advice of the pool.
            let kept = unsafe { start.advise(pages, Advice::LinuxKeepOnFork) };
            kept.map_err(PlaceError::errno("let children inherit the memory"))?;
        }
        Ok(fates)
    }

    /// # Safety
    /// As [`FirstFrames::fill`]; the page is open.
    unsafe fn fill_page(&mut self, wish: Wish) -> Fate {
        let Some(slot) = self.pool.take_zeroed(wish.color) else { return Fate::Short };
        let run = MoveRun { dst: wish.page, src: slot, pages: 1 };
        // SAFETY: the caller's contract, for a page out of the pool's books.
        let progress = unsafe { self.pool.carry_or_replace(run, &[wish.color]) };
        match progress.stop {
            None => {
                self.filled += 1;
                self.pool.slots.put_empty(slot);
                Fate::Placed
            }
            Some(errno) => {
                self.pool.slots.put(slot, wish.color, false);
                match errno {
                    Errno::EXIST | Errno::BUSY => Fate::Busy,
                    _ => Fate::Refused,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
