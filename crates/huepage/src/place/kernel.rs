// SPDX-License-Identifier: MIT OR Apache-2.0
//! The real system calls below an exchange of pages.

use std::{os::fd::OwnedFd, time::Duration};

use rustix::io::Errno;

use super::{
    PlaceError,
    arena::release,
    exchange::{Discards, Kernel, Notice},
    mover::Mover,
    userfaultfd::{Event, Faults, Features, Userfaultfd, UserfaultfdError},
};
use crate::mapping::PageAddr;

/// Fills holes through a userfaultfd on which the live range is registered.
pub(super) struct Registered<'a> {
    uffd: Userfaultfd,
    mover: &'a dyn Mover,
    /// Given up to make room for a child's descriptor where the table is full.
    spare: Option<OwnedFd>,
    /// What is registered now.
    range: Option<(PageAddr, usize)>,
}

impl<'a> Registered<'a> {
    /// For memory that other threads use meanwhile.
    pub fn shared(mover: &'a dyn Mover) -> Result<Self, PlaceError> {
        let action = "recoloring memory in use";
        let features = Features::MOVE.and(Features::EVENT_FORK).and(Features::EVENT_REMOVE);
        let uffd = Userfaultfd::open(Faults::All, features).map_err(|source| match source {
            UserfaultfdError::KernelFaultsDenied | UserfaultfdError::ForkEventsDenied => {
                PlaceError::NeedsPrivilege { action, source }
            }
            source => PlaceError::NeedsMove { action, source },
        })?;
        let spare = rustix::io::fcntl_dupfd_cloexec(&uffd, 0).ok();
        Ok(Registered { uffd, mover, spare, range: None })
    }

    /// For memory that nobody else uses meanwhile.
    pub fn exclusive(mover: &'a dyn Mover) -> Result<Self, PlaceError> {
        let action = "recoloring memory";
        let uffd = Userfaultfd::open(Faults::UserMode, Features::MOVE)
            .map_err(|source| PlaceError::NeedsMove { action, source })?;
        Ok(Registered { uffd, mover, spare: None, range: None })
    }
}

fn notice(event: Event) -> Notice<Userfaultfd> {
    match event {
        Event::Fault(page) => Notice::Fault(page),
        Event::Fork(child) => Notice::Fork(child),
        Event::Remove(start, end) => Notice::Remove(start, end),
    }
}

/// Short at first, as for a lock; long when memory is short.
fn pause(tries: u32) {
    if tries < 32 {
        std::thread::yield_now();
    } else {
        std::thread::sleep(Duration::from_micros(100));
    }
}

// SAFETY: each call affects the pages named only.
unsafe impl Kernel for Registered<'_> {
    type Child = Userfaultfd;

    fn take_out(&mut self, slot: PageAddr, live: PageAddr) -> Option<Errno> {
        // SAFETY: the slot is empty and the pool's; the live page may go
        // missing, since the range is registered.
        unsafe { self.mover.move_run(slot, live, 1) }.stop
    }

    fn copy(&mut self, to: PageAddr, from: PageAddr) {
        // SAFETY: both are slots of the pool that hold pages; nobody else
        // knows them.
        unsafe {
            to.as_ptr().copy_from_nonoverlapping(from.as_ptr(), rustix::param::page_size());
        }
    }

    fn put_in(&mut self, live: PageAddr, slot: PageAddr) -> Option<Errno> {
        // SAFETY: the slot holds the bytes that belong into the hole.
        unsafe { self.uffd.move_pages(live, slot, 1) }.stop
    }

    fn copy_in(&mut self, live: PageAddr, slot: PageAddr) -> Option<Errno> {
        // SAFETY: as for put_in.
        unsafe { self.uffd.copy_pages(live, slot, 1) }.stop
    }

    fn zero_in(&mut self, live: PageAddr) -> Option<Errno> {
        self.uffd.zero_page(live).stop
    }

    fn wake(&mut self, live: PageAddr) {
        let _ = self.uffd.wake(live, 1);
    }

    fn empty(&mut self, slot: PageAddr) -> bool {
        release(slot, 1).is_ok()
    }

    fn notice(&mut self) -> Option<Notice<Userfaultfd>> {
        match self.uffd.read_event() {
            Ok(event) => event.map(notice),
            // The table of descriptors is full: make room, or wait for others
            // to. The forking thread waits, and nothing can be lost by it.
            Err(_) => {
                self.spare = None;
                None
            }
        }
    }

    fn copy_to_child(
        &mut self,
        child: &Userfaultfd,
        live: PageAddr,
        slot: PageAddr,
    ) -> Option<Errno> {
        // SAFETY: the child's page is the hole that was copied by its fork.
        unsafe { child.copy_pages(live, slot, 1) }.stop
    }

    fn notice_of_child(&mut self, child: &Userfaultfd) -> Option<Notice<Userfaultfd>> {
        child.read_event().ok().flatten().map(notice)
    }

    fn poison_child(&mut self, child: &Userfaultfd, live: PageAddr) {
        let _ = child.poison(live);
    }

    fn finish_child(&mut self, child: Userfaultfd) {
        if let Some((start, pages)) = self.range {
            unregister(&child, start, pages, &mut Discards::default());
        }
    }

    fn pause(&mut self, tries: u32) {
        pause(tries);
    }
}

/// Ends a registration, and answers everyone who was held back by it.
///
/// Closing the descriptor would not do: a child that is just being forked, or
/// was, holds it open, and its parent would wait for a reader forever.
fn unregister(uffd: &Userfaultfd, start: PageAddr, pages: usize, discards: &mut Discards) {
    let _ = uffd.unregister(start, pages);
    // Unregistering waits for a fork that is copying page tables, so whatever
    // will send a message is counted by now; as long as the kernel counts one,
    // it refuses to fill anything.
    for tries in 0.. {
        while let Ok(Some(event)) = uffd.read_event() {
            match event {
                Event::Fork(child) => unregister(&child, start, pages, &mut Discards::default()),
                Event::Remove(start, end) => discards.add(start, end),
                Event::Fault(_) => {}
            }
        }
        match uffd.zero_page(start).stop {
            Some(Errno::AGAIN | Errno::INTR) => pause(tries),
            // Nothing is registered any more.
            _ => return,
        }
    }
}

/// Registers a live range for as long as it lives, however that ends.
pub(super) struct Registration<'k, 'm> {
    pub kernel: &'k mut Registered<'m>,
}

impl<'k, 'm> Registration<'k, 'm> {
    /// # Safety
    /// Whoever touches a missing page waits: the caller answers notices until
    /// this is dropped.
    pub unsafe fn new(
        kernel: &'k mut Registered<'m>,
        start: PageAddr,
        pages: usize,
    ) -> Result<Self, PlaceError> {
        // SAFETY: the caller's contract.
        unsafe { kernel.uffd.register(start, pages) }
            .map_err(PlaceError::errno("register memory with userfaultfd"))?;
        kernel.range = Some((start, pages));
        Ok(Registration { kernel })
    }
}

impl Registration<'_, '_> {
    /// Ends it, and notes what was being discarded at the end.
    pub fn finish(self, discards: &mut Discards) {
        self.end(discards);
    }

    fn end(&self, discards: &mut Discards) {
        if let Some((start, pages)) = self.kernel.range {
            unregister(&self.kernel.uffd, start, pages, discards);
        }
    }
}

impl Drop for Registration<'_, '_> {
    fn drop(&mut self) {
        self.end(&mut Discards::default());
        self.kernel.range = None;
    }
}

/// Exchanges by `mremap`, without anything to keep others out: for memory that
/// nobody else uses.
pub(super) struct Remapped<'a>(pub &'a dyn Mover);

// SAFETY: each call affects the pages named only.
unsafe impl Kernel for Remapped<'_> {
    type Child = ();

    fn take_out(&mut self, slot: PageAddr, live: PageAddr) -> Option<Errno> {
        // SAFETY: the slot is empty and the pool's; nobody else uses the page.
        unsafe { self.0.move_run(slot, live, 1) }.stop
    }

    fn copy(&mut self, to: PageAddr, from: PageAddr) {
        // SAFETY: both are mapped, and nobody else uses them.
        unsafe {
            to.as_ptr().copy_from_nonoverlapping(from.as_ptr(), rustix::param::page_size());
        }
    }

    fn put_in(&mut self, live: PageAddr, slot: PageAddr) -> Option<Errno> {
        // SAFETY: the slot holds the bytes that belong into the hole.
        unsafe { self.0.move_run(live, slot, 1) }.stop
    }

    fn copy_in(&mut self, live: PageAddr, slot: PageAddr) -> Option<Errno> {
        // The hole is mapped memory: a write fills it.
        self.copy(live, slot);
        None
    }

    fn zero_in(&mut self, _: PageAddr) -> Option<Errno> {
        None
    }

    fn wake(&mut self, _: PageAddr) {}

    fn empty(&mut self, slot: PageAddr) -> bool {
        release(slot, 1).is_ok()
    }

    fn notice(&mut self) -> Option<Notice<()>> {
        None
    }

    fn copy_to_child(&mut self, (): &(), _: PageAddr, _: PageAddr) -> Option<Errno> {
        None
    }

    fn notice_of_child(&mut self, (): &()) -> Option<Notice<()>> {
        None
    }

    fn poison_child(&mut self, (): &(), _: PageAddr) {}

    fn finish_child(&mut self, (): ()) {}

    fn pause(&mut self, tries: u32) {
        pause(tries);
    }
}
