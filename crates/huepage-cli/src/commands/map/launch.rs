// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs a command and stops it as it ends, its memory still in place.
//!
//! A traced process stops early in `exit`, before its address space is removed
//! (`PTRACE_O_TRACEEXIT`, ptrace(2)). Tracing one's own child takes no privilege.
//! Signals pass through to the command. A stop signal of the terminal does not stop it,
//! since only `PTRACE_SEIZE` distinguishes such stops.

use std::{
    ffi::OsString,
    io::{self, stderr},
    os::{
        fd::AsFd,
        unix::process::{CommandExt, ExitStatusExt},
    },
    process::{Child, Command, ExitStatus},
    ptr,
};

use anyhow::{Context, bail};

use huepage_present::escape::printable;

use crate::exit_text::exit_text;
use crate::signals::LeftToCommand;

/// A command that was started here and is traced by this thread.
pub struct Launched {
    child: Child,
    name: String,
    gone: bool,
    /// Ctrl-C ends the command, and its map is shown.
    _signals: LeftToCommand,
}

/// A status of the traced command, as reported by wait(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// It is about to end; its memory is still there.
    Ending,
    /// It may go on, and is given this signal; 0 is none.
    Passing(libc::c_int),
    /// It has ended.
    Gone,
}

impl Launched {
    /// Starts the command.
    ///
    /// # Errors
    /// If it cannot be run, or not be traced.
    pub fn start(command: &[OsString]) -> anyhow::Result<Self> {
        let (mut command, name) = to_standard_error(command)?;
        // SAFETY: between fork and exec this calls ptrace alone, which is a plain
        // system call.
        unsafe { command.pre_exec(|| trace(libc::PTRACE_TRACEME, 0, 0)) };
        let child = command.spawn().with_context(|| format!("cannot run '{name}'"))?;
        let mut launched = Launched { child, name, gone: false, _signals: LeftToCommand::begin() };
        launched.take_over().context(
            "cannot trace the command, which is needed to map it: start it by itself, then run: \
             huepage map PID",
        )?;
        Ok(launched)
    }

    /// Takes over at the stop that follows exec.
    fn take_over(&mut self) -> io::Result<()> {
        if self.next_stop()? == Stop::Gone {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let options = libc::PTRACE_O_TRACEEXIT | libc::PTRACE_O_TRACEEXEC | libc::PTRACE_O_EXITKILL;
        trace(libc::PTRACE_SETOPTIONS, self.pid(), options as usize)?;
        trace(libc::PTRACE_CONT, self.pid(), 0)
    }

    /// Its PID.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Lets it run until it is about to end.
    ///
    /// # Errors
    /// If it ended without stopping.
    pub fn run_to_end(&mut self) -> anyhow::Result<()> {
        loop {
            match self.next_stop().context("waiting for the command")? {
                Stop::Ending => return Ok(()),
                Stop::Gone => bail!("'{}' ended before it could be mapped", self.name),
                Stop::Passing(signal) => {
                    trace(libc::PTRACE_CONT, self.pid(), signal as usize)
                        .context("letting the command go on")?;
                }
            }
        }
    }

    /// Lets it end; returns in words how it ended if that was not normally.
    ///
    /// # Errors
    /// If it cannot be waited for.
    pub fn finish(mut self) -> anyhow::Result<Option<String>> {
        let status = self.end().context("waiting for the command")?;
        Ok((!status.success()).then(|| format!("'{}' {}", self.name, exit_text(status))))
    }

    /// Lets it go on to its end, past the stop before that.
    fn end(&mut self) -> io::Result<ExitStatus> {
        loop {
            // It may be running, or have been killed meanwhile.
            let _ = trace(libc::PTRACE_CONT, self.pid(), 0);
            let status = self.wait()?;
            if !libc::WIFSTOPPED(status) {
                return Ok(ExitStatus::from_raw(status));
            }
        }
    }

    /// Not by `Child::wait`, which would take a stop for the end.
    fn wait(&mut self) -> io::Result<libc::c_int> {
        let mut status = 0;
        loop {
            // SAFETY: `status` is valid for writing.
            let pid =
                unsafe { libc::waitpid(self.pid() as libc::pid_t, &mut status, libc::__WALL) };
            if pid >= 0 {
                self.gone = !libc::WIFSTOPPED(status);
                return Ok(status);
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }

    fn next_stop(&mut self) -> io::Result<Stop> {
        let status = self.wait()?;
        Ok(self.stop(status))
    }

    fn stop(&self, status: libc::c_int) -> Stop {
        if !libc::WIFSTOPPED(status) {
            return Stop::Gone;
        }
        match status >> 16 {
            libc::PTRACE_EVENT_EXIT => Stop::Ending,
            0 if self.delivers_signal() => Stop::Passing(match libc::WSTOPSIG(status) {
                // After exec.
                libc::SIGTRAP => 0,
                signal => signal,
            }),
            _ => Stop::Passing(0),
        }
    }

    /// Distinguishes a signal on its way from the stop that follows SIGSTOP and the
    /// like.
    fn delivers_signal(&self) -> bool {
        // SAFETY: zeroes are a siginfo, and it is valid for writing.
        unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            let pid = self.pid() as libc::pid_t;
            libc::ptrace(libc::PTRACE_GETSIGINFO, pid, ptr::null_mut::<libc::c_void>(), &mut info)
                == 0
        }
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        // `finish` was not called: after any error, no stopped process stays.
        if !self.gone && self.child.kill().is_ok() {
            let _ = self.end();
        }
    }
}

/// A command that prints to standard error, since the map goes to standard output; and its
/// name, for people.
///
/// # Errors
/// If no command is given, or standard error cannot be duplicated.
pub fn to_standard_error(words: &[OsString]) -> anyhow::Result<(Command, String)> {
    let (program, arguments) = words.split_first().context("no command after --")?;
    let output = stderr().as_fd().try_clone_to_owned().context("duplicating standard error")?;
    let mut command = Command::new(program);
    command.args(arguments).stdout(output);
    Ok((command, printable(&program.to_string_lossy())))
}

/// The type of ptrace(2) requests in the C library: an int, or an enumeration.
#[cfg(target_env = "musl")]
type Request = libc::c_int;
#[cfg(not(target_env = "musl"))]
type Request = libc::c_uint;

/// A request of ptrace(2) without an address.
fn trace(request: Request, pid: u32, data: usize) -> io::Result<()> {
    // SAFETY: of the requests passed here none reads or writes this process's
    // memory: the last argument is a number.
    let result =
        unsafe { libc::ptrace(request, pid as libc::pid_t, ptr::null_mut::<libc::c_void>(), data) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Launched {
        Launched::start(&["sh", "-c", script].map(OsString::from)).unwrap()
    }

    #[test]
    fn signals_and_exec_go_their_way() {
        let mut command = shell("trap 'exec true' USR1; kill -USR1 $$; sleep 60");
        command.run_to_end().unwrap();
        let name = std::fs::read_to_string(format!("/proc/{}/comm", command.pid())).unwrap();
        assert_eq!((name.as_str(), command.finish().unwrap()), ("true\n", None));
    }

    #[test]
    fn a_command_that_is_given_up_does_not_stay() {
        let command = shell("sleep 60");
        let pid = command.pid();
        drop(command);
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
    }

    #[test]
    fn what_cannot_be_run_is_told() {
        let error = Launched::start(&["/nonexistent/x\x1b".into()]).err().unwrap();
        assert_eq!(
            format!("{error:#}"),
            "cannot run '/nonexistent/x\\u{1b}': No such file or directory (os error 2)"
        );
    }
}
