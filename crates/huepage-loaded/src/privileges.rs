// SPDX-License-Identifier: MIT OR Apache-2.0
//! System calls by which a program changes the privileges of the calling thread alone.
//!
//! If the program gave privileges up, the thread of this library would keep them in the
//! same address space. If the program then changes its user, the C library makes all
//! threads do so, and ends the program if the results differ. Other calls fail if there
//! is a second thread. So the thread ends before the program makes any of these calls.

use std::{
    ffi::{c_int, c_long, c_ulong, c_void},
    sync::atomic::{AtomicBool, Ordering},
};

use crate::start;

/// Whether the thread has ended, or is to end, for this reason.
static CHANGED: AtomicBool = AtomicBool::new(false);

/// Whether the program has changed its privileges.
pub fn changed() -> bool {
    CHANGED.load(Ordering::Acquire)
}

/// To be called in a child, which has a thread of its own with the privileges of the
/// child.
pub fn begin_anew() {
    CHANGED.store(false, Ordering::Release);
}

/// Ends the thread before the program makes such a call; runs on a thread of the
/// program.
fn change() {
    CHANGED.store(true, Ordering::Release);
    start::end_thread();
}

fn changes(option: c_int) -> bool {
    [
        libc::PR_SET_KEEPCAPS,
        libc::PR_CAPBSET_DROP,
        libc::PR_SET_SECUREBITS,
        libc::PR_SET_NO_NEW_PRIVS,
        libc::PR_SET_SECCOMP,
        libc::PR_CAP_AMBIENT,
    ]
    .contains(&option)
}

/// `prctl(2)`, which has as many arguments as its option takes.
pub fn prctl(option: c_int, arguments: [c_ulong; 4]) -> c_int {
    if changes(option) {
        change();
    }
    let [a, b, c, d] = arguments;
    // SAFETY: the program's own call.
    unsafe { libc::syscall(libc::SYS_prctl, c_long::from(option), a, b, c, d) as c_int }
}

/// `capset(2)`.
///
/// # Safety
/// As `capset(2)`.
pub unsafe fn capset(header: *mut c_void, data: *const c_void) -> c_int {
    change();
    // SAFETY: the program's own call.
    unsafe { libc::syscall(libc::SYS_capset, header, data) as c_int }
}

/// `unshare(2)`: for a user namespace, or for what threads share, the process must have
/// a single thread.
pub fn unshare(flags: c_int) -> c_int {
    const ALONE: c_int =
        libc::CLONE_NEWUSER | libc::CLONE_THREAD | libc::CLONE_SIGHAND | libc::CLONE_VM;
    if flags & ALONE != 0 {
        change();
    }
    // SAFETY: the program's own call.
    unsafe { libc::syscall(libc::SYS_unshare, c_long::from(flags)) as c_int }
}

/// `setns(2)`: for a user namespace the process must have a single thread.
pub fn setns(descriptor: c_int, kind: c_int) -> c_int {
    change();
    // SAFETY: the program's own call.
    unsafe { libc::syscall(libc::SYS_setns, c_long::from(descriptor), c_long::from(kind)) as c_int }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_changes_nothing_and_a_capability_does() {
        assert!(!changes(libc::PR_SET_NAME) && !changes(libc::PR_GET_KEEPCAPS));
        assert!(changes(libc::PR_SET_KEEPCAPS) && changes(libc::PR_SET_NO_NEW_PRIVS));
    }
}
