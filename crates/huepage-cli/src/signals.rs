// SPDX-License-Identifier: MIT OR Apache-2.0
//! Signals of a terminal: waiting until one comes, and leaving them to a command.

use std::{mem, ptr, time::Duration};

/// The signals that end a program which waits in a terminal.
const ENDING: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// While this value lives, signals that would end the program are held back,
/// and end [`Signals::wait`] instead.
pub struct Signals {
    ending: libc::sigset_t,
    before: libc::sigset_t,
}

impl Signals {
    /// Holds them back from this thread, and from those it starts.
    pub fn hold() -> Self {
        // SAFETY: sets of signals are plain data; both are valid for writing,
        // and sigemptyset makes the first a set before it is read.
        unsafe {
            let mut signals = Signals { ending: mem::zeroed(), before: mem::zeroed() };
            libc::sigemptyset(&mut signals.ending);
            for signal in ENDING {
                libc::sigaddset(&mut signals.ending, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &signals.ending, &mut signals.before);
            signals
        }
    }

    /// Waits for so long; true if a signal came first.
    pub fn wait(&self, duration: Duration) -> bool {
        let timeout = libc::timespec {
            tv_sec: duration.as_secs() as _,
            tv_nsec: duration.subsec_nanos().into(),
        };
        // SAFETY: the set and the timeout are valid; no information is asked for.
        unsafe { libc::sigtimedwait(&self.ending, ptr::null_mut(), &timeout) >= 0 }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // SAFETY: `before` was filled by pthread_sigmask.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, ptr::null_mut()) };
    }
}

/// While this value lives, Ctrl-C is for the command that runs in the same
/// terminal, and not for this program, which shows what became of it.
pub struct LeftToCommand([(libc::c_int, libc::sighandler_t); 2]);

impl LeftToCommand {
    /// Begins to ignore it. Commands started before do not inherit that.
    pub fn begin() -> Self {
        // SAFETY: ignoring a signal installs no code.
        let ignore = |signal| (signal, unsafe { libc::signal(signal, libc::SIG_IGN) });
        LeftToCommand([libc::SIGINT, libc::SIGQUIT].map(ignore))
    }
}

impl Drop for LeftToCommand {
    fn drop(&mut self) {
        for (signal, before) in self.0 {
            // SAFETY: it was in place before.
            unsafe { libc::signal(signal, before) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_ends_the_wait_and_not_the_program() {
        let signals = Signals::hold();
        assert!(!signals.wait(Duration::from_millis(1)));
        // SAFETY: to this thread, which holds the signal back.
        unsafe { libc::pthread_kill(libc::pthread_self(), libc::SIGTERM) };
        assert!(signals.wait(Duration::from_secs(3600)));
        assert!(!signals.wait(Duration::ZERO));
    }
}
