// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exchanging the frame below a page while the program goes on using it.
//!
//! One page at a time: its frame is taken out to an empty slot of the pool,
//! its bytes are copied to a page of the wanted color, and that page is put
//! in. Between the two moves the live range has one hole, and these rules
//! keep it from being seen:
//!
//! * The range is registered for missing pages: whoever touches the hole waits
//!   and is woken by the move that fills it.
//! * A fork copies page tables, hole included. From before it copies those of
//!   the range until its message is read, the kernel refuses (`EAGAIN`) to
//!   fill anything in the range (fs/userfaultfd.c: `dup_userfaultfd` raises
//!   `mmap_changing` under `map_changing_lock`, which a move holds shared). So
//!   a fork that saw the hole is always noticed before the hole is closed, and
//!   the bytes are copied into the child, whose own accesses wait as well.
//! * A thread that discards pages (`madvise`) is noticed the same way: a hole
//!   among them stays one. The thread goes on to discard after its message was
//!   read, nobody can tell when: so those pages are not taken out any more.
//! * Whatever cannot be put in by a move is put back, or copied in.
//! * Nothing here allocates or prints: the one who waits for a page may hold
//!   the allocator's lock.

use rustix::io::Errno;

use crate::mapping::PageAddr;

/// What became of one page.
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

/// What the kernel has to say in between.
pub(super) enum Notice<C> {
    /// A thread waits for this page.
    Fault(PageAddr),
    /// The process forked.
    Fork(C),
    /// `[start, end)` is being discarded.
    Remove(PageAddr, PageAddr),
}

/// The system calls an exchange consists of; `None` for success.
///
/// # Safety
/// Implementations affect only the pages named. Callers pass live pages of the
/// range being placed and slots of the pool.
pub(super) unsafe trait Kernel {
    /// Access to the copy of the range in a forked child.
    type Child;

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
    /// Makes those who wait for the page look again.
    fn wake(&mut self, live: PageAddr);
    /// Discards the page in a slot; whether that was done.
    fn empty(&mut self, slot: PageAddr) -> bool;
    /// The next notice about this process.
    fn notice(&mut self) -> Option<Notice<Self::Child>>;
    /// As [`Kernel::copy_in`], in a child.
    fn copy_to_child(
        &mut self,
        child: &Self::Child,
        live: PageAddr,
        slot: PageAddr,
    ) -> Option<Errno>;
    /// As [`Kernel::notice`], about a child.
    fn notice_of_child(&mut self, child: &Self::Child) -> Option<Notice<Self::Child>>;
    /// Makes the hole in a child an error to touch.
    fn poison_child(&mut self, child: &Self::Child, live: PageAddr);
    /// Lets a child go on by itself: it has no hole of ours.
    fn finish_child(&mut self, child: Self::Child);
    /// Lets others run. `tries` counts up while nothing moves.
    fn pause(&mut self, tries: u32);
}

/// How often a page that is locked is asked for.
const TRIES: u32 = 64;

/// How often a child's hole is tried to be filled when memory is short.
const TRIES_FOR_CHILD: u32 = 10_000;

/// Ranges that threads have begun to discard since the exchange began.
#[derive(Debug, Default)]
pub(super) struct Discards {
    /// A fixed number, since nothing may be allocated while they come in.
    ranges: [Option<(PageAddr, PageAddr)>; RANGES],
    /// More than that: any page may be among them.
    all: bool,
}

/// Few in tests, so that these run out.
const RANGES: usize = if cfg!(test) { 2 } else { 32 };

impl Discards {
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

/// Exchanges every page in turn. `landing` is an empty slot; the slot that is
/// empty afterwards is returned, or could not be emptied, which ends it. After a swap that was [`Outcome::Placed`] the
/// slot that was empty before holds the old frame.
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
            // The old frame is of no use: its page has another one.
            Outcome::Copied | Outcome::Discarded => free = kernel.empty(landing),
            _ => {}
        }
        answer(kernel, discards);
    }
    landing
}

fn one<K: Kernel>(
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

/// The ways to close the hole, best first.
const WAYS: [Way; 3] = [Way::New, Way::Old, Way::Copy];

#[derive(Clone, Copy)]
enum Way {
    New,
    Old,
    Copy,
}

/// Closes the hole, whatever it takes.
fn fill<K: Kernel>(
    kernel: &mut K,
    swap: &Swap,
    landing: PageAddr,
    discards: &mut Discards,
) -> Outcome {
    let mut tries = 0;
    loop {
        let mut again = false;
        let mut gone = true;
        for way in WAYS {
            let (errno, outcome) = match way {
                Way::New => (kernel.put_in(swap.live, swap.fresh), Outcome::Placed),
                Way::Old => (kernel.put_in(swap.live, landing), Outcome::Refused),
                Way::Copy => (kernel.copy_in(swap.live, swap.fresh), Outcome::Copied),
            };
            match errno {
                None => return outcome,
                // Something else lies there, or nothing is registered there:
                // the program has mapped the address anew.
                Some(Errno::EXIST) => return Outcome::Discarded,
                Some(Errno::AGAIN | Errno::INTR) => {
                    again = true;
                    break;
                }
                Some(Errno::NOENT) => {}
                // A range that is gone is refused as invalid by a move.
                Some(Errno::INVAL) => {}
                Some(_) => gone = false,
            }
        }
        if gone && !again {
            return Outcome::Discarded;
        }
        if read_notices(kernel, Some((swap.live, swap.fresh)), discards) {
            kernel.wake(swap.live);
            return Outcome::Discarded;
        }
        kernel.pause(tries);
        tries = tries.saturating_add(1);
    }
}

/// Answers what has come in while no hole is open.
pub(super) fn answer<K: Kernel>(kernel: &mut K, discards: &mut Discards) {
    read_notices(kernel, None, discards);
}

/// Reads all notices; whether the open hole is being discarded. Its bytes are
/// in the slot beside it.
fn read_notices<K: Kernel>(
    kernel: &mut K,
    hole: Option<(PageAddr, PageAddr)>,
    discards: &mut Discards,
) -> bool {
    let mut open = hole;
    while let Some(notice) = kernel.notice() {
        match notice {
            // The move that fills the hole wakes who waits there.
            Notice::Fault(page) if open.is_some_and(|(live, _)| live == page) => {}
            // Zeros, as an untouched page has. Refused while another notice is
            // unread: then the thread faults again and is reported again.
            Notice::Fault(page) => {
                if kernel.zero_in(page).is_some() {
                    kernel.wake(page);
                }
            }
            Notice::Fork(child) => match open {
                Some((live, slot)) => fill_child(kernel, child, live, slot),
                None => kernel.finish_child(child),
            },
            Notice::Remove(start, end) => {
                discards.add(start, end);
                open = open.filter(|(live, _)| !(start..end).contains(live));
            }
        }
    }
    open.is_none() && hole.is_some()
}

/// Puts the bytes into a child that was forked while the hole was open, and
/// into its own children if it has forked before that was done.
fn fill_child<K: Kernel>(kernel: &mut K, child: K::Child, live: PageAddr, slot: PageAddr) {
    let mut tries = 0;
    loop {
        match kernel.copy_to_child(&child, live, slot) {
            Some(Errno::AGAIN | Errno::INTR) => {
                let mut discarded = false;
                while let Some(notice) = kernel.notice_of_child(&child) {
                    match notice {
                        Notice::Fork(grandchild) => fill_child(kernel, grandchild, live, slot),
                        Notice::Remove(start, end) => discarded |= start <= live && live < end,
                        Notice::Fault(_) => {}
                    }
                }
                // The child discards the page: it is to stay empty.
                if discarded {
                    break;
                }
                kernel.pause(tries);
                tries = tries.saturating_add(1);
            }
            // Filled; or present there; or the child is gone or has unmapped it.
            None | Some(Errno::EXIST | Errno::SRCH | Errno::NOENT) => break,
            Some(_) if tries < TRIES_FOR_CHILD => {
                kernel.pause(tries);
                tries += 1;
            }
            // An error when touched, rather than false zeros.
            Some(_) => {
                kernel.poison_child(&child, live);
                break;
            }
        }
    }
    kernel.finish_child(child);
}

#[cfg(test)]
mod tests;
