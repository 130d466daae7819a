// SPDX-License-Identifier: MIT OR Apache-2.0
//! Blocks signal handlers on a thread for which other threads wait.

use std::mem::MaybeUninit;

/// While this lives, the calling thread takes no signals: a handler that touches a page
/// that only this thread can put back would wait forever.
pub(super) struct Blocked {
    before: libc::sigset_t,
}

impl Blocked {
    pub fn new() -> Self {
        let mut all = MaybeUninit::uninit();
        let mut before = MaybeUninit::uninit();
        // SAFETY: sigfillset writes the whole set; pthread_sigmask reads it
        // and writes the old mask. With SIG_SETMASK neither can fail.
        unsafe {
            libc::sigfillset(all.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
            Blocked { before: before.assume_init() }
        }
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: `before` is the mask pthread_sigmask reported.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut()) };
    }
}
