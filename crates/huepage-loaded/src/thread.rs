// SPDX-License-Identifier: MIT OR Apache-2.0
//! The thread's own resources: pauses, CPU time, descriptors.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use rustix::{
    thread::{Timespec, futex},
    time::{ClockId, clock_gettime},
};

use crate::{start, state};

/// Pauses; returns whether the program ends, and returns early if it does.
pub fn sleep(pause: Duration) -> bool {
    let ending = || state::ENDING.load(Ordering::Acquire) != 0;
    let end = now() + pause;
    loop {
        let left = end.saturating_sub(now()).min(LOOK_AROUND);
        if ending() || left.is_zero() {
            return ending();
        }
        let timeout: Option<Timespec> = left.try_into().ok();
        let _ = futex::wait(&state::ENDING, futex::Flags::PRIVATE, 0, timeout.as_ref());
        if looks_around() && start::is_alone() {
            return true;
        }
    }
}

/// Time between two checks whether any thread of the program is left.
const LOOK_AROUND: Duration = Duration::from_millis(500);

/// Whether such a check is due.
fn looks_around() -> bool {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = now().as_millis() as u64;
    let due =
        now.saturating_sub(LAST.load(Ordering::Relaxed)) + 1 >= LOOK_AROUND.as_millis() as u64;
    if due {
        LAST.store(now, Ordering::Relaxed);
    }
    due
}

fn now() -> Duration {
    clock(ClockId::Monotonic)
}

/// CPU time that this thread has used.
pub fn cpu_time() -> Duration {
    clock(ClockId::ThreadCPUTime)
}

fn clock(clock: ClockId) -> Duration {
    clock_gettime(clock).try_into().unwrap_or_default()
}

/// Gives the thread an empty table of descriptors of its own: the program may close,
/// count and replace its descriptors, and streams that it closes must end.
///
/// # Errors
/// What `close_range` reports.
pub fn leave_descriptors() -> std::io::Result<()> {
    const UNSHARE: u32 = 1 << 1;
    // SAFETY: the descriptors of other threads are not affected, and this one
    // has opened none.
    let done = unsafe { libc::syscall(libc::SYS_close_range, 0, u32::MAX, UNSHARE) };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}
