// SPDX-License-Identifier: MIT OR Apache-2.0
//! The real system calls below an exchange of pages.

use std::os::fd::OwnedFd;

use rustix::{io::Errno, thread::Timespec};

use super::{
    PlaceError,
    arena::release,
    exchange::{Discards, Kernel, Notice},
    mover::Mover,
    userfaultfd::{Event, Faults, Features, Userfaultfd},
};
use crate::{mapping::PageAddr, proc::wiped_in_children};

/// Fills holes through a userfaultfd on which the live range is registered.
pub(super) struct UserfaultfdKernel<'a> {
    uffd: Userfaultfd,
    /// Takes pages out; `None` if this descriptor itself does, so that it refuses while
    /// a notice is unread.
    mover: Option<&'a dyn Mover>,
    /// Closed to make room for a child's descriptor if the table of descriptors is
    /// full.
    spare: Option<OwnedFd>,
    /// The range registered now.
    range: Option<(PageAddr, usize)>,
}

/// Actions of other threads that have to be known for memory in use.
const FOLLOWED: Features = Features::MOVE.and(Features::EVENT_FORK).and(Features::EVENT_REMOVE);

impl<'a> UserfaultfdKernel<'a> {
    /// For memory that other threads use meanwhile.
    pub fn shared(mover: &'a dyn Mover) -> Result<Self, PlaceError> {
        UserfaultfdKernel::open("recoloring memory in use", FOLLOWED, Some(mover))
    }

    /// For memory that other threads use, unmap and move meanwhile.
    pub fn guarded() -> Result<Self, PlaceError> {
        let features = FOLLOWED.and(Features::EVENT_REMAP).and(Features::EVENT_UNMAP);
        UserfaultfdKernel::open("placing memory of a running program", features, None)
    }

    fn open(
        action: &'static str,
        features: Features,
        mover: Option<&'a dyn Mover>,
    ) -> Result<Self, PlaceError> {
        let uffd = Userfaultfd::open(Faults::All, features).map_err(PlaceError::lacking(action))?;
        let spare = rustix::io::fcntl_dupfd_cloexec(&uffd, 0).ok();
        Ok(UserfaultfdKernel { uffd, mover, spare, range: None })
    }

    /// Opens slots to receive pages taken out by a guarded exchange.
    ///
    /// # Safety
    /// No thread touches missing pages there.
    pub unsafe fn open_slots(&self, start: PageAddr, pages: usize) -> Result<(), PlaceError> {
        // SAFETY: the caller's contract.
        unsafe { self.uffd.register(start, pages) }
            .map_err(PlaceError::errno("register slots with userfaultfd"))
    }

    /// Ends [`UserfaultfdKernel::open_slots`].
    pub fn close_slots(&self, start: PageAddr, pages: usize) {
        // Fails only for memory that is unmapped.
        let _ = self.uffd.unregister(start, pages);
    }

    /// For memory that no other thread uses meanwhile.
    pub fn exclusive(mover: &'a dyn Mover) -> Result<Self, PlaceError> {
        let uffd = Userfaultfd::open(Faults::UserMode, Features::MOVE)
            .map_err(PlaceError::lacking("recoloring memory"))?;
        Ok(UserfaultfdKernel { uffd, mover: Some(mover), spare: None, range: None })
    }
}

impl UserfaultfdKernel<'_> {
    /// Takes a page out only if it lies in memory registered with this
    /// descriptor, whatever other threads unmap and map meanwhile.
    ///
    /// Filling refuses with `EEXIST` only if the page is present and registered, and
    /// refuses altogether while a notice is unread. Between the fill and the move,
    /// another mapping could replace that of the page, which is not registered. But
    /// replacing it sends a notice, from before the mapping is removed until the notice
    /// is read, and a move to slots of the same descriptor refuses as well while there
    /// is one (`mmap_changing`, checked under `map_changing_lock`). So a successful
    /// move took the page from the mapping that was checked.
    fn take_out_registered(&mut self, slot: PageAddr, live: PageAddr) -> Option<Errno> {
        match self.uffd.zero_page(live).stop {
            Some(Errno::EXIST) => {}
            // It was missing: now it holds what an ordinary fault would have put there.
            None => return Some(Errno::NOENT),
            refused => return refused,
        }
        // SAFETY: the slot is empty and the pool's; the live page may go
        // missing, since it is registered.
        unsafe { self.uffd.move_pages(slot, live, 1) }.stop
    }
}

fn notice(event: Event) -> Notice<Userfaultfd> {
    match event {
        Event::Fault(page) => Notice::Fault(page),
        Event::Fork(child) => Notice::Fork(child),
        Event::Remove(start, end) => Notice::Remove(start, end),
        Event::Unmap => Notice::Unmap,
        Event::Remap(from, to, pages) => Notice::Remap(from, to, pages),
    }
}

/// Short at first, as for a lock; longer if memory is short. By system calls alone:
/// data of the C library may be among the pages that are out.
fn pause(tries: u32) {
    if tries < 32 {
        rustix::thread::sched_yield();
    } else {
        let moment = Timespec { tv_sec: 0, tv_nsec: 100_000 };
        let _ = rustix::thread::nanosleep(&moment);
    }
}

/// Copies the bytes of a page.
///
/// # Safety
/// Both are mapped and hold pages, and no other thread uses them.
unsafe fn copy(to: PageAddr, from: PageAddr) {
    let page = rustix::param::page_size();
    // SAFETY: the caller's contract; two pages do not overlap.
    unsafe { to.as_ptr().copy_from_nonoverlapping(from.as_ptr(), page) };
}

// SAFETY: each call affects the pages named only.
unsafe impl Kernel for UserfaultfdKernel<'_> {
    type Child = Userfaultfd;

    fn inherited(&mut self, live: PageAddr) -> bool {
        !wiped_in_children(live)
    }

    fn take_out(&mut self, slot: PageAddr, live: PageAddr) -> Option<Errno> {
        let Some(mover) = self.mover else {
            return self.take_out_registered(slot, live);
        };
        // SAFETY: the slot is empty and the pool's; the live page may go
        // missing, since the range is registered.
        unsafe { mover.move_run(slot, live, 1) }.stop
    }

    fn copy(&mut self, to: PageAddr, from: PageAddr) {
        // SAFETY: both are slots of the pool that hold pages; no other code has their
        // addresses.
        unsafe { copy(to, from) };
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
            // The table of descriptors is full: close the spare one, or wait until
            // others close some. The forking thread waits, and no data is lost.
            Err(_) => {
                self.spare = None;
                None
            }
        }
    }

    fn is_changing(&mut self) -> bool {
        self.uffd.is_changing()
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

/// Ends a registration, and lets all threads go on that it held back.
///
/// Closing the descriptor is not enough: a child that is being forked, or was, holds it
/// open, and its parent would wait for a reader forever.
fn unregister(uffd: &Userfaultfd, start: PageAddr, pages: usize, discards: &mut Discards) {
    if uffd.unregister(start, pages).is_err() {
        // The range now has a mapping that cannot be registered. The rest is
        // unregistered when the descriptor is closed; discards until then are not
        // reported.
        discards.give_up();
    }
    // Unregistering waits for a fork that is copying page tables, so all messages still
    // to be sent are counted by now; as long as the kernel counts one, it refuses to
    // fill anything.
    for tries in 0.. {
        while let Ok(Some(event)) = uffd.read_event() {
            match event {
                Event::Fork(child) => unregister(&child, start, pages, &mut Discards::default()),
                Event::Remove(start, end) => discards.add(start, end),
                Event::Fault(_) | Event::Unmap | Event::Remap(..) => {}
            }
        }
        if !uffd.is_changing() {
            return;
        }
        pause(tries);
    }
}

/// Keeps a live range registered for the lifetime of this value.
pub(super) struct Registration<'k, 'm> {
    pub kernel: &'k mut UserfaultfdKernel<'m>,
}

impl<'k, 'm> Registration<'k, 'm> {
    /// # Safety
    /// A thread that touches a missing page waits: the caller answers notices until
    /// this is dropped.
    pub unsafe fn new(
        kernel: &'k mut UserfaultfdKernel<'m>,
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
    /// Ends the registration, and notes what was being discarded at the end.
    pub fn finish(mut self, discards: &mut Discards) {
        self.end(discards);
    }

    /// Only once: afterwards another pool may have registered the range.
    fn end(&mut self, discards: &mut Discards) {
        if let Some((start, pages)) = self.kernel.range {
            unregister(&self.kernel.uffd, start, pages, discards);
            // Only now: `unregister` needs the range for children forked at the end.
            self.kernel.range = None;
        }
    }
}

impl Drop for Registration<'_, '_> {
    fn drop(&mut self) {
        self.end(&mut Discards::default());
    }
}

/// Exchanges by `mremap`, without keeping other threads away: for memory that no other
/// thread uses.
pub(super) struct Remapped<'a>(pub &'a dyn Mover);

// SAFETY: each call affects the pages named only.
unsafe impl Kernel for Remapped<'_> {
    type Child = ();

    fn inherited(&mut self, _: PageAddr) -> bool {
        true
    }

    fn take_out(&mut self, slot: PageAddr, live: PageAddr) -> Option<Errno> {
        // SAFETY: the slot is empty and the pool's; no other thread uses the page.
        unsafe { self.0.move_run(slot, live, 1) }.stop
    }

    fn copy(&mut self, to: PageAddr, from: PageAddr) {
        // SAFETY: both are mapped, and no other thread uses them.
        unsafe { copy(to, from) };
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

    fn is_changing(&mut self) -> bool {
        false
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        frames::Pagemap,
        mapping::{Mapping, PageKind},
        place::mechanism,
    };

    /// A registration that ends after another pool has registered the range does not
    /// fill that pool's holes: zeros in one would replace the bytes that belong there.
    #[test]
    fn a_registration_ends_once_and_fills_nothing_of_another_one() {
        let mover = mechanism::open(None).unwrap();
        let (Ok(mut first), Ok(second)) =
            (UserfaultfdKernel::exclusive(&*mover), UserfaultfdKernel::exclusive(&*mover))
        else {
            eprintln!("skipped: needs UFFDIO_MOVE");
            return;
        };
        let memory = Mapping::reserve(4, PageKind::Base).unwrap();
        let start = memory.page(0);
        let present = || Pagemap::open().unwrap().state(start).unwrap().present();
        // SAFETY: no thread touches the memory.
        let mut ended = unsafe { Registration::new(&mut first, start, 4) }.unwrap();
        ended.end(&mut Discards::default());
        assert!(ended.kernel.range.is_none());
        // SAFETY: as above.
        unsafe { second.uffd.register(start, 4) }.unwrap();
        drop(ended);
        assert!(!second.uffd.is_changing());
        assert!(!present());
        // Still registered: otherwise no page could be put there.
        assert_eq!(second.uffd.zero_page(start).stop, None);
        assert!(present());
    }
}
