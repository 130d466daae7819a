// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mutexes that the kernel itself reads and writes.
//!
//! If threads contend for a mutex with priority inheritance, the kernel writes to it
//! without waiting for a page that has been taken out, and the lock fails with `EFAULT`
//! (`fault_in_user_writeable` in kernel/futex/core.c); glibc then ends the program. The
//! same holds for robust mutexes whose owner ends. Both kinds are made by
//! `pthread_mutex_init`, which this library replaces.

use std::{
    ffi::{c_int, c_void},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

/// Pages with such mutexes; 0 for a free entry.
static PAGES: [AtomicUsize; 1024] = [const { AtomicUsize::new(0) }; 1024];
/// There were more such pages: any page may hold such a mutex.
static FULL: AtomicBool = AtomicBool::new(false);
/// The page that the placer is about to take out; 0 for none.
static NEXT: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];

const PAGE: usize = 4096;

/// Whether the page holds such a mutex, or may hold one.
pub fn is_in(page: usize) -> bool {
    FULL.load(Ordering::SeqCst) || PAGES.iter().any(|held| held.load(Ordering::SeqCst) == page)
}

/// Announces pages to be taken out, at most 64, and keeps those that hold no such
/// mutex. The creation of a mutex in one of them then waits until [`done`].
pub fn announce<T>(pages: &mut Vec<T>, address: impl Fn(&T) -> usize) {
    assert!(pages.len() <= NEXT.len(), "{} pages at once", pages.len());
    for (next, page) in NEXT.iter().zip(pages.iter()) {
        next.store(address(page), Ordering::SeqCst);
    }
    // Either this sees the mutex, or the thread that makes it sees the announcement.
    pages.retain(|page| !is_in(address(page)));
}

/// The announced pages are back; in a child no page is taken out yet.
pub fn done() {
    NEXT.iter().for_each(|next| next.store(0, Ordering::SeqCst));
}

fn note(page: usize) {
    if !is_in(page) {
        let free = PAGES.iter().any(|entry| {
            entry.compare_exchange(0, page, Ordering::SeqCst, Ordering::SeqCst).is_ok()
        });
        if !free {
            FULL.store(true, Ordering::SeqCst);
        }
    }
    while NEXT.iter().any(|next| next.load(Ordering::SeqCst) == page) {
        rustix::thread::sched_yield();
    }
}

type Init =
    unsafe extern "C" fn(*mut libc::pthread_mutex_t, *const libc::pthread_mutexattr_t) -> c_int;

/// As that of the C library, which it calls.
///
/// # Safety
/// As `pthread_mutex_init(3)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_init(
    mutex: *mut libc::pthread_mutex_t,
    attributes: *const libc::pthread_mutexattr_t,
) -> c_int {
    // SAFETY: the caller's contract.
    if unsafe { is_the_kernels(attributes) } {
        // A mutex is smaller than a page, and may lie across two.
        let start = mutex.addr() & !(PAGE - 1);
        let end = (mutex.addr() + size_of::<libc::pthread_mutex_t>() - 1) & !(PAGE - 1);
        note(start);
        note(end);
    }
    match next_init() {
        // SAFETY: the caller's contract, handed on.
        Some(init) => unsafe { init(mutex, attributes) },
        None => libc::ENOSYS,
    }
}

/// # Safety
/// The attributes are null or initialized.
unsafe fn is_the_kernels(attributes: *const libc::pthread_mutexattr_t) -> bool {
    if attributes.is_null() {
        return false;
    }
    let (mut protocol, mut robust) = (0, 0);
    // SAFETY: initialized attributes, by contract.
    unsafe {
        libc::pthread_mutexattr_getprotocol(attributes, &raw mut protocol);
        libc::pthread_mutexattr_getrobust(attributes, &raw mut robust);
    }
    protocol != libc::PTHREAD_PRIO_NONE || robust != libc::PTHREAD_MUTEX_STALLED
}

/// The C library's function, looked up once.
fn next_init() -> Option<Init> {
    static FOUND: AtomicUsize = AtomicUsize::new(0);
    let mut found = FOUND.load(Ordering::Relaxed);
    if found == 0 {
        // SAFETY: a name that ends with a zero.
        let symbol: *mut c_void =
            unsafe { libc::dlsym(libc::RTLD_NEXT, c"pthread_mutex_init".as_ptr()) };
        found = symbol.expose_provenance();
        FOUND.store(found, Ordering::Relaxed);
    }
    // SAFETY: null, or a function of this type.
    unsafe {
        std::mem::transmute::<*mut c_void, Option<Init>>(std::ptr::with_exposed_provenance_mut(
            found,
        ))
    }
}
