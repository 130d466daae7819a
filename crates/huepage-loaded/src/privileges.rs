// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program that changes what it may do, by calls that change the calling thread alone.
//!
//! The thread of this library would keep what the program gives up, in the same address
//! space; and where the program then changes its user, the C library has all threads do
//! so, and ends the program if they fare differently. Other calls fail where there is a
//! second thread. So the thread ends before the program does any of that.

use std::{
    ffi::{c_int, c_long, c_ulong, c_void},
    sync::atomic::{AtomicBool, Ordering},
};

use crate::start;

/// Whether the thread has ended, or is to, for this.
static CHANGED: AtomicBool = AtomicBool::new(false);

/// Whether the program has changed what it may do.
pub fn changed() -> bool {
    CHANGED.load(Ordering::Acquire)
}

/// In a child, which has a thread of its own with what the child may do.
pub fn begin_anew() {
    CHANGED.store(false, Ordering::Release);
}

/// The program is about to. On one of its threads.
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

/// `unshare(2)`: of a user namespace, or of what threads share, it takes a single thread.
pub fn unshare(flags: c_int) -> c_int {
    const ALONE: c_int =
        libc::CLONE_NEWUSER | libc::CLONE_THREAD | libc::CLONE_SIGHAND | libc::CLONE_VM;
    if flags & ALONE != 0 {
        change();
    }
    // SAFETY: the program's own call.
    unsafe { libc::syscall(libc::SYS_unshare, c_long::from(flags)) as c_int }
}

/// `setns(2)`: a user namespace takes a single thread.
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
