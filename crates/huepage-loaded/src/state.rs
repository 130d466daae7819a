// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which library this is, and whether the program and its thread have ended.
//!
//! Statics that are usable at any time, also in code that must not allocate.

use std::{
    ptr,
    sync::atomic::{AtomicPtr, AtomicU32, Ordering},
};

use rustix::thread::futex;

/// The functions of a library, beside the thread itself.
#[derive(Debug)]
pub struct Library {
    /// Runs on the thread, for its whole life.
    pub run: fn(),
    /// In a forked child, before it has a thread of its own.
    pub forked: fn(),
    /// Runs when the thread was started, in the process and in a child.
    pub begun: fn(),
    /// Runs at the end of the program, before it waits for the thread.
    pub ending: fn(),
    /// Runs on the thread before it rests forever for lack of memory: from then on no
    /// thread may wait for it.
    pub resting: fn(),
}

static LIBRARY: AtomicPtr<Library> = AtomicPtr::new(ptr::null_mut());

/// The library that was loaded, if any.
pub fn library() -> Option<&'static Library> {
    // SAFETY: null, or what `set_library` was given, which lives as long as the process.
    unsafe { LIBRARY.load(Ordering::Acquire).as_ref() }
}

/// Sets the library, once, when it is loaded.
pub fn set_library(library: &'static Library) {
    LIBRARY.store(ptr::from_ref(library).cast_mut(), Ordering::Release);
}

/// Whether the program ends: 1 once it does.
pub static ENDING: AtomicU32 = AtomicU32::new(0);
/// Whether the thread has ended: 1 if there is a last report, 2 if there is none.
pub static ENDED: AtomicU32 = AtomicU32::new(0);

/// Rests forever: there is no memory to go on, or to report that.
pub fn rest() -> ! {
    if let Some(library) = library() {
        (library.resting)();
    }
    ENDED.store(2, Ordering::Release);
    let _ = futex::wake(&ENDED, futex::Flags::PRIVATE, u32::MAX);
    loop {
        let _ = futex::wait(&ENDED, futex::Flags::PRIVATE, 2, None);
    }
}
