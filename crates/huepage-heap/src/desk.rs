// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the program's threads ask the placer to fill memory: one range at a time,
//! through words that both wait on.
//!
//! The program's side neither allocates nor waits for long: a request that the placer
//! has not begun to fill can be taken back, and no other request is made until the
//! placer is idle again. A request that the placer has begun to fill is waited for,
//! since no thread may touch the range meanwhile; that takes some microseconds for each
//! page.

use std::{
    ops::Range,
    sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use huepage_loaded::state;
use rustix::thread::{Timespec, futex, gettid};

/// There is no request.
const IDLE: u32 = 0;
/// A range is requested; the requesting thread may take the request back.
const ASKED: u32 = 1;
/// The placer fills it.
const TAKEN: u32 = 2;
/// The placer is done with it.
const DONE: u32 = 3;
/// There is no placer any more.
const CLOSED: u32 = 4;
/// There is no placer yet.
const NOT_YET: u32 = 5;

static STATE: AtomicU32 = AtomicU32::new(NOT_YET);
static START: AtomicUsize = AtomicUsize::new(0);
static END: AtomicUsize = AtomicUsize::new(0);
/// Held by the thread that makes a request.
static LOCKED: AtomicU32 = AtomicU32::new(0);
/// The placer still works on a request that was taken back.
static BEHIND: AtomicBool = AtomicBool::new(false);

/// How long a thread of the program waits at most until the placer begins to fill its
/// range. Opening the palette and classifying a stock of frames takes 20 ms of CPU
/// time, which took 0.3 s when fifteen other processes wanted the same two CPUs. No
/// thread waits for a palette to be made.
const PATIENCE: Duration = Duration::from_secs(2);

/// The placer's thread; 0 for none. The C library allocates on that thread, too.
static PLACER: AtomicI32 = AtomicI32::new(0);

/// Whether the calling thread is the placer, which must not wait for itself.
pub fn is_placer() -> bool {
    gettid().as_raw_nonzero().get() == PLACER.load(Ordering::Relaxed)
}

/// Asks the placer to fill a range that is not used yet; returns whether it has
/// answered.
pub fn ask(range: Range<usize>) -> bool {
    let deadline = Instant::now() + PATIENCE;
    if !lock(deadline) {
        return false;
    }
    let asked = !BEHIND.load(Ordering::Acquire) && {
        START.store(range.start, Ordering::Relaxed);
        END.store(range.end, Ordering::Relaxed);
        go(IDLE, ASKED)
    };
    let answered = asked && {
        wake(&STATE);
        wait_for_answer(deadline)
    };
    LOCKED.store(0, Ordering::Release);
    wake(&LOCKED);
    answered
}

fn lock(deadline: Instant) -> bool {
    while LOCKED.swap(1, Ordering::Acquire) != 0 {
        // With a deadline: a signal handler of the thread that holds the lock would
        // wait forever.
        if !wait(&LOCKED, 1, Some(deadline)) {
            return false;
        }
    }
    true
}

fn wait_for_answer(deadline: Instant) -> bool {
    loop {
        match STATE.load(Ordering::Acquire) {
            ASKED => {
                if !wait(&STATE, ASKED, Some(deadline)) {
                    BEHIND.store(true, Ordering::Release);
                    if go(ASKED, IDLE) {
                        return false;
                    }
                }
            }
            TAKEN => {
                wait(&STATE, TAKEN, None);
            }
            DONE => {
                // Only if it was not closed meanwhile.
                go(DONE, IDLE);
                return true;
            }
            _ => return false,
        }
    }
}

/// Waits until a word has another value, at most to the deadline; false if the deadline
/// has passed.
fn wait(word: &AtomicU32, value: u32, deadline: Option<Instant>) -> bool {
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    if left.is_some_and(|left| left.is_zero()) {
        return false;
    }
    let timeout: Option<Timespec> = left.and_then(|left| left.try_into().ok());
    let _ = futex::wait(word, futex::Flags::PRIVATE, value, timeout.as_ref());
    true
}

/// Changes the state from `from` to `to`; returns false, and changes nothing, if it is
/// in another state.
fn go(from: u32, to: u32) -> bool {
    STATE.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
}

fn wake(word: &AtomicU32) {
    let _ = futex::wake(word, futex::Flags::PRIVATE, 1);
}

/// The placer was started, so requests may be made.
pub fn open() {
    go(NOT_YET, IDLE);
    wake(&STATE);
}

/// The calling thread is the placer from now on.
pub fn take_seat() {
    PLACER.store(gettid().as_raw_nonzero().get(), Ordering::Relaxed);
}

/// On the placer: waits for the next range; `None` when the program ends.
pub fn next() -> Option<Range<usize>> {
    loop {
        // If a thread takes its request back from now on, it sets this again.
        BEHIND.store(false, Ordering::Release);
        // The program may have ended while a range was being filled.
        if state::ENDING.load(Ordering::Acquire) != 0 {
            return None;
        }
        match STATE.load(Ordering::Acquire) {
            ASKED => return Some(START.load(Ordering::Relaxed)..END.load(Ordering::Relaxed)),
            CLOSED => return None,
            state => {
                wait(&STATE, state, None);
            }
        }
    }
}

/// Begins to fill the range; false if it was taken back.
pub fn take(range: &Range<usize>) -> bool {
    if !go(ASKED, TAKEN) {
        return false;
    }
    let same = *range == (START.load(Ordering::Relaxed)..END.load(Ordering::Relaxed));
    if !same {
        // Meanwhile another range was requested.
        STATE.store(ASKED, Ordering::Release);
        wake(&STATE);
    }
    same
}

/// Gives a range that was taken back to the program, filled or not.
pub fn done() {
    if go(TAKEN, DONE) {
        wake(&STATE);
    }
}

/// Ends placing. A thread whose range is being filled still waits until the placer is
/// done.
pub fn close() {
    for state in [NOT_YET, IDLE, ASKED, DONE] {
        go(state, CLOSED);
    }
    let _ = futex::wake(&STATE, futex::Flags::PRIVATE, u32::MAX);
}

/// The placer has ended, in whatever state it was.
pub fn leave() {
    STATE.store(CLOSED, Ordering::Release);
    let _ = futex::wake(&STATE, futex::Flags::PRIVATE, u32::MAX);
}

/// In a forked child there is no request, and the thread that held the lock does not
/// exist.
pub fn begin_anew() {
    LOCKED.store(0, Ordering::Relaxed);
    BEHIND.store(false, Ordering::Relaxed);
    PLACER.store(0, Ordering::Relaxed);
    STATE.store(NOT_YET, Ordering::Release);
}

#[cfg(test)]
mod tests;
