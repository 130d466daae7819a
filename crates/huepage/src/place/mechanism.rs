// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which system call moves pages: the one asked for, or the best that this process may
//! use.

use super::{
    Mechanism, PlaceError,
    mover::{Mover, Progress},
    remap::Remap,
    userfaultfd::{Faults, Features, Userfaultfd, UserfaultfdError},
};
use crate::mapping::PageAddr;

impl Mechanism {
    /// The better one, if this process may use it.
    ///
    /// # Errors
    /// Why it may not; [`Remap`](Self::Remap) works everywhere.
    pub fn userfaultfd() -> Result<Self, UserfaultfdError> {
        UserfaultfdMover::new().map(|_| Mechanism::Userfaultfd)
    }
}

/// Moves by `UFFDIO_MOVE`. The descriptor is for user mode only, which needs no
/// privilege: only the mover touches an open area.
#[derive(Debug)]
pub(super) struct UserfaultfdMover(Userfaultfd);

impl UserfaultfdMover {
    pub fn new() -> Result<Self, UserfaultfdError> {
        Ok(UserfaultfdMover(Userfaultfd::open(Faults::UserMode, Features::MOVE)?))
    }
}

impl Mover for UserfaultfdMover {
    fn mechanism(&self) -> Mechanism {
        Mechanism::Userfaultfd
    }

    unsafe fn open(&self, start: PageAddr, pages: usize) -> Result<(), PlaceError> {
        // SAFETY: by contract no other thread touches the area.
        unsafe { self.0.register(start, pages) }
            .map_err(PlaceError::errno("register memory with userfaultfd"))
    }

    fn close(&self, start: PageAddr, pages: usize) {
        // Fails only for memory that is unmapped, which needs no closing.
        let _ = self.0.unregister(start, pages);
    }

    fn allow(&self, _: usize) -> Result<(), PlaceError> {
        Ok(())
    }

    unsafe fn move_run(&self, dst: PageAddr, src: PageAddr, pages: usize) -> Progress {
        // SAFETY: the caller's contract.
        unsafe { self.0.move_pages(dst, src, pages) }
    }
}

/// Opens the given mechanism; for `None`, the best available one.
pub(super) fn open(wish: Option<Mechanism>) -> Result<Box<dyn Mover>, PlaceError> {
    match (wish, UserfaultfdMover::new()) {
        (Some(Mechanism::Remap), _) | (None, Err(_)) => Ok(Box::new(Remap)),
        (_, Ok(mover)) => Ok(Box::new(mover)),
        (Some(Mechanism::Userfaultfd), Err(reason)) => {
            Err(PlaceError::NeedsMove { action: "moving pages", reason })
        }
    }
}
