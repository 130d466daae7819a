// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exchanging the frame below a page while the program goes on using it.
//!
//! One page at a time: its frame is moved out to an empty slot of the pool, its bytes
//! are copied to a page of the wanted color, and that page is moved in. Between the two
//! moves the live range has one hole, and these rules keep the program from seeing it:
//!
//! * The range is registered for missing pages: a thread that touches the hole waits
//!   and is woken by the move that fills it.
//! * A fork copies page tables, hole included. From before it copies those of the range
//!   until its message is read, the kernel refuses (`EAGAIN`) to fill anything in the
//!   range (fs/userfaultfd.c: `dup_userfaultfd` raises `mmap_changing` under
//!   `map_changing_lock`, which a move holds shared). So a fork that copied the hole is
//!   always noticed before the hole is closed, and the bytes are copied into the child,
//!   whose own accesses wait as well.
//! * A thread that moves the hole (`mremap`) is noticed the same way, and the hole is
//!   filled at its new address. If a thread has unmapped the hole, it cannot be filled,
//!   and its bytes are gone, as that thread intended. The kernel sends these messages
//!   only to a descriptor that asked for them; a caller that did not ask must know that
//!   the range stays where it is.
//! * A child finds zeros where the mapping is not inherited
//!   (`MADV_WIPEONFORK`): there nothing is copied into its hole.
//! * A thread that discards pages (`madvise`) is noticed the same way: a hole among
//!   them is not filled. The thread discards at some moment after its message was read,
//!   so those pages are not taken out any more.
//! * If a move cannot put a page in, the old page is put back, or the bytes are copied
//!   in.
//! * Nothing here allocates or prints: a thread that waits for a page may hold
//!   the allocator's lock.

use rustix::io::Errno;

use crate::mapping::PageAddr;

/// The outcome for one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Not tried yet.
    Pending,
    /// The page has the frame it was to get.
    Placed,
    /// It stayed: shared with a child, deduplicated, pinned, or locked.
    Busy,
    /// Nothing was there.
    Absent,
    /// It stayed: the kernel refused to move it.
    Refused,
    /// Its bytes are right, in a frame of the kernel's choice.
    Copied,
    /// The program discarded or unmapped it meanwhile.
    Discarded,
}

/// One page to exchange.
#[derive(Clone, Copy, Debug)]
pub(super) struct Swap {
    /// The page of the program.
    pub live: PageAddr,
    /// The slot of the page that is to replace it; empty once it did.
    pub fresh: PageAddr,
    pub outcome: Outcome,
}

/// What the kernel reports in between.
pub(super) enum Notice<C> {
    /// A thread waits for this page.
    Fault(PageAddr),
    /// The process forked.
    Fork(C),
    /// `[start, end)` is being discarded.
    Remove(PageAddr, PageAddr),
    /// Pages are no longer mapped.
    Unmap,
    /// The number of pages given, from the first address on, are at the second address
    /// now.
    Remap(PageAddr, PageAddr, usize),
}

/// The system calls an exchange consists of; `None` for success.
///
/// # Safety
/// Implementations affect only the pages named. Callers pass live pages of the
/// range being placed and slots of the pool.
pub(super) unsafe trait Kernel {
    /// Access to the copy of the range in a forked child.
    type Child;

    /// Whether children inherit the page, as opposed to finding zeros there.
    fn inherited(&mut self, live: PageAddr) -> bool;

    /// Moves a live page to an empty slot.
    fn take_out(&mut self, slot: PageAddr, live: PageAddr) -> Option<Errno>;
    /// Copies a page's bytes to another slot.
    fn copy(&mut self, to: PageAddr, from: PageAddr);
    /// Moves the page in a slot into the hole.
    fn put_in(&mut self, live: PageAddr, slot: PageAddr) -> Option<Errno>;
    /// Fills the hole with a copy of the page in a slot.
    fn copy_in(&mut self, live: PageAddr, slot: PageAddr) -> Option<Errno>;
    /// Fills a hole that was never written with zeros.
    fn zero_in(&mut self, live: PageAddr) -> Option<Errno>;
    /// Wakes threads that wait for the page; they look again.
    fn wake(&mut self, live: PageAddr);
    /// Discards the page in a slot; whether that was done.
    fn empty(&mut self, slot: PageAddr) -> bool;
    /// The next notice about this process.
    fn notice(&mut self) -> Option<Notice<Self::Child>>;
    /// Whether a notice is being sent that cannot be read yet.
    fn is_changing(&mut self) -> bool;
    /// As [`Kernel::copy_in`], in a child.
    fn copy_to_child(
        &mut self,
        child: &Self::Child,
        live: PageAddr,
        slot: PageAddr,
    ) -> Option<Errno>;
    /// As [`Kernel::notice`], about a child.
    fn notice_of_child(&mut self, child: &Self::Child) -> Option<Notice<Self::Child>>;
    /// Makes touching the hole in a child an error.
    fn poison_child(&mut self, child: &Self::Child, live: PageAddr);
    /// Unregisters a child that has no hole.
    fn finish_child(&mut self, child: Self::Child);
    /// Lets other threads run. `tries` counts the calls without progress.
    fn pause(&mut self, tries: u32);
}

/// How often a move is repeated while the page is locked.
const TRIES: u32 = 64;

/// How often a child's hole is tried to be filled when memory is short.
const TRIES_FOR_CHILD: u32 = 10_000;

/// Ranges that threads have begun to discard since the exchange began.
#[derive(Debug, Default)]
pub(super) struct Discards {
    /// A fixed number, since nothing may be allocated while they come in.
    ranges: [Option<(PageAddr, PageAddr)>; RANGES],
    /// There were more ranges: any page may be among them.
    all: bool,
}

/// Few in tests, so that tests exceed the limit.
const RANGES: usize = if cfg!(test) { 2 } else { 32 };

impl Discards {
    /// The ranges; `None` if there were too many to note.
    pub fn noted(&self) -> Option<impl Iterator<Item = (PageAddr, PageAddr)>> {
        (!self.all).then(|| self.ranges.iter().flatten().copied())
    }

    /// Any page may be among them from now on.
    pub fn give_up(&mut self) {
        self.all = true;
    }

    pub fn add(&mut self, start: PageAddr, end: PageAddr) {
        match self.ranges.iter_mut().find(|range| range.is_none()) {
            Some(free) => *free = Some((start, end)),
            None => self.all = true,
        }
    }

    /// Whether the page may be among them.
    fn may_hold(&self, page: PageAddr) -> bool {
        self.all || self.ranges.iter().flatten().any(|(start, end)| (*start..*end).contains(&page))
    }
}

/// Exchanges every page in turn. `landing` is an empty slot; the slot that is empty
/// afterwards is returned, or the one that could not be emptied, which ends it. After a
/// swap that was [`Outcome::Placed`] the slot that was empty before holds the old frame.
pub(super) fn exchange<K: Kernel>(
    kernel: &mut K,
    swaps: &mut [Swap],
    mut landing: PageAddr,
    discards: &mut Discards,
) -> PageAddr {
    let mut free = true;
    for swap in swaps {
        if !free {
            swap.outcome = Outcome::Refused;
            continue;
        }
        swap.outcome = one(kernel, swap, landing, discards);
        match swap.outcome {
            Outcome::Placed => landing = swap.fresh,
            // The old frame is not needed: its page has another one.
            Outcome::Copied | Outcome::Discarded => free = kernel.empty(landing),
            _ => {}
        }
        answer(kernel, discards);
    }
    landing
}

/// Exchanges one page; `landing` is an empty slot, which holds the old frame
/// afterwards if the outcome is [`Outcome::Placed`], [`Outcome::Copied`] or
/// [`Outcome::Discarded`].
pub(super) fn one<K: Kernel>(
    kernel: &mut K,
    swap: &Swap,
    landing: PageAddr,
    discards: &mut Discards,
) -> Outcome {
    let mut tries = 0;
    loop {
        if discards.may_hold(swap.live) {
            return Outcome::Busy;
        }
        match kernel.take_out(landing, swap.live) {
            None => break,
            Some(Errno::AGAIN | Errno::INTR) if tries < TRIES => {
                answer(kernel, discards);
                kernel.pause(tries);
                tries += 1;
            }
            Some(Errno::AGAIN | Errno::INTR | Errno::BUSY) => return Outcome::Busy,
            Some(Errno::NOENT) => return Outcome::Absent,
            Some(_) => return Outcome::Refused,
        }
    }
    kernel.copy(swap.fresh, landing);
    fill(kernel, swap, landing, discards)
}

/// The ways to close the hole, best first, as the outcome for the page: its new frame
/// is put in, its old one is put back, or its bytes are copied in.
const WAYS: [Outcome; 3] = [Outcome::Placed, Outcome::Refused, Outcome::Copied];

/// Closes the hole by any of the ways.
fn fill<K: Kernel>(
    kernel: &mut K,
    swap: &Swap,
    landing: PageAddr,
    discards: &mut Discards,
) -> Outcome {
    let places = Places::new(swap.live);
    let mut hole = Hole { places, fresh: swap.fresh, discarded: false };
    let mut tries = 0u32;
    let outcome = loop {
        if let Some(outcome) = fill_once(kernel, &hole, landing) {
            break outcome;
        }
        read_notices(kernel, Some(&mut hole), discards);
        if hole.discarded {
            break Outcome::Discarded;
        }
        kernel.pause(tries);
        tries = tries.saturating_add(1);
    };
    // Threads that wait at an address without a hole are woken to fault again.
    if outcome == Outcome::Discarded || hole.places.len() > 1 {
        hole.places.newest_first().for_each(|place| kernel.wake(place));
    }
    outcome
}

/// Tries all ways at all places; `None` to try again.
fn fill_once<K: Kernel>(kernel: &mut K, hole: &Hole, landing: PageAddr) -> Option<Outcome> {
    let mut gone = true;
    for place in hole.places.newest_first() {
        for outcome in WAYS {
            let errno = match outcome {
                Outcome::Placed => kernel.put_in(place, hole.fresh),
                Outcome::Refused => kernel.put_in(place, landing),
                _ => kernel.copy_in(place, hole.fresh),
            };
            match errno {
                None => return Some(outcome),
                Some(Errno::AGAIN | Errno::INTR) => return None,
                // Another page is mapped there.
                Some(Errno::EXIST) => break,
                // Nothing is registered there: the program has mapped the address
                // again. For a range that is unmapped, a move returns EINVAL.
                Some(Errno::NOENT | Errno::INVAL) => {}
                Some(_) => gone = false,
            }
        }
    }
    gone.then_some(Outcome::Discarded)
}

/// A page that has been taken out.
#[derive(Debug)]
struct Hole {
    /// Where it may be.
    places: Places,
    /// The slot with its bytes.
    fresh: PageAddr,
    /// Whether the program has discarded it.
    discarded: bool,
}

/// Where a hole may be after moves whose notices need not come in the order of the
/// moves: every address to which some order leads.
#[derive(Clone, Debug)]
struct Places {
    /// A fixed number, since nothing may be allocated; if there are more, the last is
    /// kept.
    places: [Option<PageAddr>; 8],
    moves: [Option<(PageAddr, PageAddr, usize)>; 8],
}

impl Places {
    fn new(live: PageAddr) -> Self {
        let mut places = Places { places: [None; 8], moves: [None; 8] };
        places.places[0] = Some(live);
        places
    }

    fn len(&self) -> usize {
        self.places.iter().flatten().count()
    }

    fn contains(&self, place: PageAddr) -> bool {
        self.places.contains(&Some(place))
    }

    fn newest_first(&self) -> impl Iterator<Item = PageAddr> + use<> {
        self.places.into_iter().flatten().rev()
    }

    fn note_move(&mut self, from: PageAddr, to: PageAddr, pages: usize) {
        put(&mut self.moves, (from, to, pages));
        // A move whose notice came earlier may have happened after this one.
        loop {
            let before = self.len();
            for (from, to, pages) in self.moves.into_iter().flatten() {
                for place in self.places.into_iter().flatten() {
                    let now = moved(place, from, to, pages);
                    if !self.contains(now) {
                        put(&mut self.places, now);
                    }
                }
            }
            if self.len() == before {
                return;
            }
        }
    }
}

fn put<T>(list: &mut [Option<T>], item: T) {
    let free = list.iter().position(Option::is_none).unwrap_or(list.len() - 1);
    list[free] = Some(item);
}

/// Answers notices that came while no hole is open.
pub(super) fn answer<K: Kernel>(kernel: &mut K, discards: &mut Discards) {
    read_notices(kernel, None, discards);
}

/// Reads all notices, and notes what they mean for the hole that is open.
///
/// Notices of different threads come in any order. A call returns only after its notice
/// was read, so calls that a program makes one after the other are read in that order;
/// but an address that one thread has just unmapped, or moved its pages away from, may
/// be given to another thread before the notice of the first is queued. So all places
/// are kept to which some order leads, and the hole is the one where the kernel allows
/// a page to be put: it is registered and missing. (Two such places can exist only if
/// the other one was never touched.) A notice that the hole was unmapped is not needed:
/// no page can be put there. A child may have been copied before or after a move whose
/// notice is read before or after that of the fork.
fn read_notices<K: Kernel>(kernel: &mut K, mut hole: Option<&mut Hole>, discards: &mut Discards) {
    let mut children: [Option<K::Child>; CHILDREN] = [const { None }; CHILDREN];
    let mut tries = 0;
    loop {
        while let Some(notice) = kernel.notice() {
            let open = hole.as_deref_mut().filter(|hole| !hole.discarded);
            match (notice, open) {
                // The move that fills the hole wakes the threads that wait there.
                (Notice::Fault(page), Some(hole)) if hole.places.contains(page) => {}
                // Zeros, as an untouched page has. Refused while another notice is
                // unread: then the thread faults again and is reported again.
                (Notice::Fault(page), _) => {
                    if kernel.zero_in(page).is_some() {
                        kernel.wake(page);
                    }
                }
                (Notice::Fork(child), Some(hole)) => {
                    match children.iter_mut().find(|free| free.is_none()) {
                        Some(free) => *free = Some(child),
                        None => fill_child(kernel, child, &hole.places, hole.fresh),
                    }
                }
                (Notice::Fork(child), None) => kernel.finish_child(child),
                (Notice::Remove(start, end), open) => {
                    discards.add(start, end);
                    if let Some(hole) = open {
                        let removed = |place| (start..end).contains(&place);
                        hole.discarded = hole.places.newest_first().all(removed);
                    }
                }
                (Notice::Unmap, _) => {}
                (Notice::Remap(from, to, pages), Some(hole)) => {
                    hole.places.note_move(from, to, pages);
                }
                (Notice::Remap(..), None) => {}
            }
        }
        // The child may have been copied after a move whose notice is not there yet.
        if children[0].is_none() || !kernel.is_changing() {
            break;
        }
        kernel.pause(tries);
        tries = tries.saturating_add(1);
    }
    for child in children.into_iter().flatten() {
        match &hole {
            Some(hole) => fill_child(kernel, child, &hole.places, hole.fresh),
            None => kernel.finish_child(child),
        }
    }
}

/// Children that are kept until all notices are read.
const CHILDREN: usize = 8;

/// The address of a page after pages were moved.
fn moved(page: PageAddr, from: PageAddr, to: PageAddr, pages: usize) -> PageAddr {
    match page.get().checked_sub(from.get()) {
        Some(offset) if offset < pages * rustix::param::page_size() => {
            PageAddr::at(to.get() + offset)
        }
        _ => page,
    }
}

/// Puts the bytes into a child that was forked while the hole was open, and
/// into its own children if it has forked before that was done.
fn fill_child<K: Kernel>(kernel: &mut K, child: K::Child, places: &Places, slot: PageAddr) {
    let mut places = places.clone();
    let mut tries = 0;
    'again: loop {
        for place in places.newest_first() {
            if !kernel.inherited(place) {
                continue;
            }
            match kernel.copy_to_child(&child, place, slot) {
                None => break 'again,
                Some(Errno::AGAIN | Errno::INTR) => {
                    let mut discarded = false;
                    while let Some(notice) = kernel.notice_of_child(&child) {
                        match notice {
                            Notice::Fork(grandchild) => {
                                fill_child(kernel, grandchild, &places, slot);
                            }
                            Notice::Remove(start, end) => {
                                discarded |= (start..end).contains(&place);
                            }
                            Notice::Remap(from, to, pages) => places.note_move(from, to, pages),
                            Notice::Unmap | Notice::Fault(_) => {}
                        }
                    }
                    // The child discards the page, so it stays empty.
                    if discarded {
                        break 'again;
                    }
                    kernel.pause(tries);
                    tries = tries.saturating_add(1);
                    continue 'again;
                }
                // The page is present there; or the child has ended or has unmapped it;
                // or the page never was there.
                Some(Errno::EXIST | Errno::SRCH | Errno::NOENT | Errno::INVAL) => {}
                Some(_) if tries < TRIES_FOR_CHILD => {
                    kernel.pause(tries);
                    tries += 1;
                    continue 'again;
                }
                // An error on access, instead of wrong zeros.
                Some(_) => {
                    kernel.poison_child(&child, place);
                    break 'again;
                }
            }
        }
        break;
    }
    kernel.finish_child(child);
}

#[cfg(test)]
mod tests;
