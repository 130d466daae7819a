// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which library this is, and whether the program and its thread have ended.
//!
//! Statics that are usable at any time, also where nothing may be allocated.

use std::{
    ptr,
    sync::atomic::{AtomicPtr, AtomicU32, Ordering},
};

use rustix::thread::futex;

/// What a library does, beside having a thread.
#[derive(Debug)]
pub struct Library {
    /// On the thread: all that it does.
    pub run: fn(),
    /// In a forked child, before it has a thread of its own.
    pub forked: fn(),
    /// When the thread was started, in the process and in a child.
    pub begun: fn(),
    /// At the end of the program, before the thread is waited for.
    pub ending: fn(),
    /// On the thread, before it rests forever for want of memory: no thread is to wait
    /// for it from then on.
    pub resting: fn(),
}

static LIBRARY: AtomicPtr<Library> = AtomicPtr::new(ptr::null_mut());

/// What the library is, once it was loaded.
pub fn library() -> Option<&'static Library> {
    // SAFETY: null, or what `set_library` was given, which lives as long as the process.
    unsafe { LIBRARY.load(Ordering::Acquire).as_ref() }
}

/// Says what the library is, once, when it is loaded.
pub fn set_library(library: &'static Library) {
    LIBRARY.store(ptr::from_ref(library).cast_mut(), Ordering::Release);
}

/// Whether the program ends: 1 from then on.
pub static ENDING: AtomicU32 = AtomicU32::new(0);
/// Whether the thread has ended: 1 where there is a last report, 2 where there is none.
pub static ENDED: AtomicU32 = AtomicU32::new(0);

/// The thread does nothing any more: where there is no memory to go on, or to say so.
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
