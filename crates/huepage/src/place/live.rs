// SPDX-License-Identifier: MIT OR Apache-2.0
//! Placing memory that a program is using, without its cooperation.
//!
//! [`Pool::recolor`](super::Pool::recolor) relies on its caller that the range stays
//! mapped, and times pages of the program to find their colors. Here neither holds:
//! other threads unmap, move and map memory between any two steps, and no page of the
//! program is ever read or written by its address. Each page is exchanged for a frame
//! of known color, and the color of its old frame is found afterwards, in the pool.
//!
//! Besides the rules of `exchange`:
//!
//! * Slots and the program's memory are registered with one descriptor, and a page is
//!   taken out only after that descriptor has confirmed that it is registered
//!   (`UserfaultfdKernel::take_out_registered`). A page that another thread has just
//!   mapped at the same address is not taken: accesses to it would not wait.
//! * Old frames go back to the kernel. A frame may still be referenced without a pin,
//!   for instance by a pipe that the page was put into by `vmsplice`: the kernel keeps
//!   the frame until that ends, whereas a pool would overwrite it.
//! * The kernel reports a thread that discards pages (`madvise`) before it discards
//!   them, and not when it is done. So pages that were being discarded are left alone
//!   until each was seen missing once: then the discard has reached it, or it held
//!   nothing that could come back. Otherwise a discard that is delayed between two
//!   exchanges could find a hole and do nothing, and the program would read bytes that
//!   it had discarded.

use rustix::io::Errno;

use super::{
    Mechanism, PlaceError, Pool,
    exchange::{Discards, Outcome, Swap, answer, one},
    kernel::{Registration, UserfaultfdKernel},
    quarantine::Quarantine,
    signals::Blocked,
};
use crate::{
    color::{Color, ColorCount, ColorOracle},
    frames::Pagemap,
    mapping::PageAddr,
};

/// A page of the program, and the color it is to get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// The page.
    pub page: PageAddr,
    /// The color.
    pub color: Color,
}

/// The outcome of a wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The page has a frame of the color.
    Placed,
    /// It stayed: shared with a child, deduplicated, pinned, locked by the
    /// kernel, or being discarded.
    Busy,
    /// No page is there, or it is not in memory that was to be placed.
    Absent,
    /// It stayed: the kernel refuses to move it, for instance since it is
    /// locked in memory.
    Refused,
    /// Its bytes are right, in a frame of the kernel's choice.
    Copied,
    /// The program discarded or unmapped it meanwhile.
    Discarded,
    /// It stayed: there is no frame of the color in stock.
    Short,
}

/// The color of the frame that a page had before it was exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OldFrame {
    /// The page of the program.
    pub page: PageAddr,
    /// The color that it got instead.
    pub placed: Color,
    /// The color of the frame it had; `None` if it could not be found.
    pub was: Option<Color>,
}

/// An old frame in a slot, whose color is not known yet.
#[derive(Clone, Copy, Debug)]
struct Kept {
    slot: PageAddr,
    page: PageAddr,
    placed: Color,
}

/// A wish that can be carried out.
struct Chosen {
    /// Its place among the wishes.
    index: usize,
    swap: Swap,
    /// The slot for the old frame.
    landing: PageAddr,
}

/// Places memory in use, from a stock of frames of known color.
#[derive(Debug)]
pub struct Live {
    pool: Pool,
    kept: Vec<Kept>,
    quarantine: Quarantine,
}

impl Live {
    /// An empty stock of frames of so many colors.
    ///
    /// # Errors
    /// [`PlaceError::NeedsMove`]; [`PlaceError::NeedsPrivilege`].
    pub fn new(count: ColorCount) -> Result<Self, PlaceError> {
        UserfaultfdKernel::guarded()?;
        let pool = Pool::empty(count, Some(Mechanism::Userfaultfd))?;
        Ok(Live { pool, kept: Vec::new(), quarantine: Quarantine::default() })
    }

    /// How many frames of a color are in stock.
    pub fn stock(&self, color: Color) -> usize {
        self.pool.pages_of(color)
    }

    /// How many frames are in stock, with old ones whose color is not known yet.
    pub fn held(&self) -> usize {
        self.pool.pages() + self.kept.len()
    }

    /// How many old frames wait to be classified.
    pub fn kept(&self) -> usize {
        self.kept.len()
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

    /// Exchanges pages of one mapping, which spans `pages` pages from `start`. With
    /// `keep` the old frames are kept to be classified ([`Live::tell_kept`]), otherwise
    /// they go to the kernel.
    ///
    /// # Errors
    /// [`PlaceError::NeedsPrivilege`], [`PlaceError::System`] if the range cannot be
    /// registered: it is unmapped, or not plain memory, or registered with another
    /// userfaultfd. No page has moved then.
    ///
    /// # Safety
    /// The calling thread does not share its table of descriptors (`close_range` with
    /// `CLOSE_RANGE_UNSHARE`): a child that holds a copy of the descriptor would keep
    /// the range registered. Nothing that this thread touches meanwhile lies in the
    /// range: its stack and thread-local data, the data of the C library and of this
    /// library, the heap of this library. If the kernel updates data in a page named
    /// here when a thread exits (`set_tid_address`, robust lists), neither that thread
    /// nor the process exits meanwhile.
    pub unsafe fn exchange(
        &mut self,
        start: PageAddr,
        pages: usize,
        wishes: &[Wish],
        keep: bool,
    ) -> Result<Vec<Fate>, PlaceError> {
        self.pool.owner.check()?;
        let mut fates = vec![Fate::Busy; wishes.len()];
        let mut chosen: Vec<Chosen> = Vec::with_capacity(wishes.len());
        for (index, wish) in wishes.iter().enumerate() {
            if self.quarantine.may_hold(wish.page) {
                continue;
            }
            fates[index] = Fate::Short;
            let Some(landing) = self.pool.slots.take_one_empty() else { continue };
            let Some((fresh, _)) = self.pool.slots.take(wish.color) else {
                self.pool.slots.put_empty(landing);
                continue;
            };
            let swap = Swap { live: wish.page, fresh, outcome: Outcome::Pending };
            chosen.push(Chosen { index, swap, landing });
        }
        let mut discards = Discards::default();
        // SAFETY: the caller's contract.
        let done = unsafe { self.run(start, pages, &mut chosen, &mut discards) };
        self.quarantine.add(&discards, start, start.nth(pages));
        for Chosen { index, swap, landing } in chosen {
            let Wish { page, color } = wishes[index];
            if swap.outcome == Outcome::Placed {
                self.pool.slots.put_empty(swap.fresh);
                if keep {
                    self.kept.push(Kept { slot: landing, page, placed: color });
                } else {
                    self.pool.put_released(landing);
                }
            } else {
                self.pool.slots.put(swap.fresh, color, true);
                self.pool.put_released(landing);
            }
            fates[index] = fate(swap.outcome);
        }
        done.map(|()| fates)
    }

    /// # Safety
    /// As [`Live::exchange`].
    unsafe fn run(
        &self,
        start: PageAddr,
        pages: usize,
        chosen: &mut [Chosen],
        discards: &mut Discards,
    ) -> Result<(), PlaceError> {
        if chosen.is_empty() {
            return Ok(());
        }
        let mut kernel = UserfaultfdKernel::guarded()?;
        for arena in &self.pool.arenas {
            let mapping = arena.mapping();
            // SAFETY: no thread touches empty slots.
            unsafe { kernel.open_slots(mapping.page(0), mapping.pages()) }?;
        }
        let _blocked = Blocked::new();
        // SAFETY: notices are answered until it ends. From here on nothing
        // allocates, and no function of the C library is called but memcpy.
        let registration = unsafe { Registration::new(&mut kernel, start, pages) }?;
        for Chosen { swap, landing, .. } in chosen {
            swap.outcome = one(registration.kernel, swap, *landing, discards);
            answer(registration.kernel, discards);
        }
        registration.finish(discards);
        for arena in &self.pool.arenas {
            let mapping = arena.mapping();
            kernel.close_slots(mapping.page(0), mapping.pages());
        }
        // Closing the descriptor unregisters mappings that the program has made of the
        // range meanwhile.
        Ok(())
    }

    /// Classifies the old frames that were kept, and then gives them to the kernel.
    ///
    /// # Errors
    /// [`PlaceError::Color`] from the oracle.
    pub fn tell_kept(&mut self, oracle: &mut dyn ColorOracle) -> Result<Vec<OldFrame>, PlaceError> {
        self.pool.owner.check()?;
        let kept = std::mem::take(&mut self.kept);
        let slots: Vec<PageAddr> = kept.iter().map(|kept| kept.slot).collect();
        // SAFETY: the slots are mapped as long as the pool lives, and hold pages.
        let told = unsafe { oracle.classify(&slots) };
        slots.into_iter().for_each(|slot| self.pool.put_released(slot));
        let told = kept.iter().zip(told?);
        Ok(told.map(|(kept, was)| OldFrame { page: kept.page, placed: kept.placed, was }).collect())
    }

    /// Finds which of the pages that were being discarded are missing now, and so can
    /// be placed again.
    pub fn review(&mut self, pagemap: &Pagemap) {
        self.quarantine.review(|page| {
            pagemap.state(page).is_ok_and(|state| !state.present() && !state.swapped())
        });
    }
}

fn fate(outcome: Outcome) -> Fate {
    match outcome {
        Outcome::Placed => Fate::Placed,
        Outcome::Busy => Fate::Busy,
        Outcome::Absent => Fate::Absent,
        Outcome::Refused | Outcome::Pending => Fate::Refused,
        Outcome::Copied => Fate::Copied,
        Outcome::Discarded => Fate::Discarded,
    }
}

impl PlaceError {
    /// Whether only this range cannot be placed, and other ranges may be; not so if
    /// this thread may not place any memory any more.
    pub fn is_about_the_range(&self) -> bool {
        let PlaceError::System { source, .. } = self else { return false };
        let errno = Errno::from_io_error(source);
        matches!(errno, Some(Errno::BUSY | Errno::INVAL | Errno::NOENT | Errno::NOMEM))
    }
}
