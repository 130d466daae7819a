// SPDX-License-Identifier: MIT OR Apache-2.0
//! Signals of a terminal: waiting until one comes, and leaving them to a command.

use std::{io, mem, os::unix::process::CommandExt, process::Command, ptr, time::Duration};

/// The signals that end a program which waits in a terminal.
const ENDING: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// While this value lives, signals that would end the program are blocked, and end
/// [`Signals::wait`] instead.
pub struct Signals {
    ending: libc::sigset_t,
    before: libc::sigset_t,
}

impl Signals {
    /// Blocks them for this thread, and for those it starts.
    pub fn hold() -> Self {
        // SAFETY: a set of signals is plain data, and both are valid for the call.
        unsafe {
            let mut signals = Signals { ending: ending(), before: mem::zeroed() };
            libc::pthread_sigmask(libc::SIG_BLOCK, &signals.ending, &mut signals.before);
            signals
        }
    }

    /// Whether one came since the last call.
    pub fn came(&self) -> bool {
        self.wait(Duration::ZERO)
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

/// While this value lives, Ctrl-C ends the command that runs in the same terminal, and
/// not this program, which then shows the result.
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

/// Those of [`ENDING`] as a set.
fn ending() -> libc::sigset_t {
    // SAFETY: a set of signals is plain data, and sigemptyset makes it one before it is read.
    unsafe {
        let mut signals = mem::zeroed();
        libc::sigemptyset(&mut signals);
        for signal in ENDING {
            libc::sigaddset(&mut signals, signal);
        }
        signals
    }
}

/// Makes a command end when this program does, however that ends, since no process
/// would wait for it. Signals that [`Signals`] blocks here are not blocked in it. It
/// must be started by the thread that waits for it, since the kernel sends the signal
/// when that thread ends.
pub fn ends_with_us(command: &mut Command) {
    let ends = || {
        // SAFETY: the set is valid, and no other is asked for.
        unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &ending(), ptr::null_mut()) };
        // SAFETY: it takes numbers only.
        match unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    // SAFETY: between fork and exec it makes system calls only, and allocates nothing.
    unsafe { command.pre_exec(ends) };
}

/// Ctrl-C came before there was a result.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

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
