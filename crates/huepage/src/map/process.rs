// SPDX-License-Identifier: MIT OR Apache-2.0
//! Identifies a process, and finds whether it is still the same.

use std::{
    collections::HashSet,
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt,
};

use super::{Change, MapError, Process};
use crate::proc::{AreaLine, Stat, areas, command, find};

/// What distinguishes a program from the next one that the process executes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pid: u32,
    start_time: u64,
    layout: [u64; 3],
    executable: Option<(u64, u64)>,
}

/// How a process has changed since its [`Identity`] was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Since {
    Same,
    Exited,
    Executed,
}

impl Process {
    /// Describes a process.
    ///
    /// # Errors
    /// [`MapError`] for one that does not exist or has no memory.
    pub(super) fn read(pid: u32) -> Result<(Self, Identity), MapError> {
        let stat = Stat::read(pid).map_err(|source| unreadable(pid, source))?;
        if stat.is_kernel_thread() {
            return Err(MapError::KernelThread { pid, name: stat.name });
        }
        if stat.has_ended() {
            return Err(MapError::Zombie { pid, name: stat.name });
        }
        let identity = Identity {
            pid,
            start_time: stat.start_time,
            layout: stat.layout,
            executable: executable(pid),
        };
        let process = Process {
            pid,
            pid_in_namespaces: namespaces(pid).unwrap_or_else(|| vec![pid]),
            name: stat.name,
            command: command(pid),
            start_time: stat.start_time,
            threads: stat.threads,
        };
        Ok((process, identity))
    }

    /// The processes of this PID namespace that are called `name`, as
    /// [`proc::find`](crate::proc::find) finds them. Threads of the kernel are left
    /// out; ascending by number.
    ///
    /// # Errors
    /// What reading `/proc` reports.
    pub fn find(name: &str) -> io::Result<Vec<Process>> {
        // A process that has ended meanwhile is left out.
        Ok(find(name)?.into_iter().filter_map(|pid| Some(Process::read(pid).ok()?.0)).collect())
    }
}

impl Identity {
    /// How the process, which then had the areas `lines`, has changed since; `gone` if
    /// its address space went away while it was read.
    pub fn changes(&self, lines: &[AreaLine], gone: bool) -> Vec<Change> {
        match self.since() {
            Since::Exited => return vec![Change::Exited],
            Since::Executed => return vec![Change::Executed],
            Since::Same if gone => return vec![Change::Executed],
            Since::Same => {}
        }
        let Ok(now) = File::open(format!("/proc/{}/maps", self.pid)).and_then(areas) else {
            return Vec::new();
        };
        let bounds = |lines: &[AreaLine]| -> HashSet<(u64, u64)> {
            lines.iter().map(|line| (line.start, line.end)).collect()
        };
        let (before, after) = (bounds(lines), bounds(&now));
        let (gone, new) = (before.difference(&after).count(), after.difference(&before).count());
        if gone + new == 0 {
            return Vec::new();
        }
        vec![Change::Remapped { gone: gone as u64, new: new as u64 }]
    }

    /// How the process has changed since it was identified.
    fn since(&self) -> Since {
        let Ok(now) = Stat::read(self.pid) else { return Since::Exited };
        if now.start_time != self.start_time || now.has_ended() {
            Since::Exited
        } else if now.layout != self.layout || executable(self.pid) != self.executable {
            Since::Executed
        } else {
            Since::Same
        }
    }
}

fn unreadable(pid: u32, source: io::Error) -> MapError {
    match source.kind() {
        io::ErrorKind::NotFound => MapError::NoProcess { pid },
        // ESRCH: it ended between open and read.
        _ if source.raw_os_error() == Some(libc::ESRCH) => MapError::NoProcess { pid },
        _ => MapError::System { action: format!("read /proc/{pid}/stat"), source },
    }
}

fn executable(pid: u32) -> Option<(u64, u64)> {
    let metadata = fs::metadata(format!("/proc/{pid}/exe")).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// `NSpid: 4321 17 1`, with tabs: the numbers from the reader's namespace inwards.
fn namespaces(pid: u32) -> Option<Vec<u32>> {
    let status = fs::read(format!("/proc/{pid}/status")).ok()?;
    let status = String::from_utf8_lossy(&status);
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    let pids: Vec<u32> = line.split_ascii_whitespace().filter_map(|n| n.parse().ok()).collect();
    (!pids.is_empty()).then_some(pids)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn this_process_is_itself_and_found_by_name() {
        let (process, identity) = Process::read(std::process::id()).unwrap();
        assert_eq!(process.pid_in_namespaces[0], process.pid);
        assert_eq!(identity.since(), Since::Same);
        let found = Process::find(process.name.as_str()).unwrap();
        assert!(found.iter().any(|other| other.pid == process.pid));
        assert!(Process::find("no process has such a name").unwrap().is_empty());
    }

    #[test]
    fn threads_of_the_kernel_zombies_and_nobody_are_told_apart() {
        // Number 2 is kthreadd, except where another namespace hides it.
        if let Err(error) = Process::read(2) {
            let kernel = matches!(error, MapError::KernelThread { pid: 2, .. });
            assert!(kernel || matches!(error, MapError::NoProcess { .. }), "{error}");
        }
        assert!(matches!(Process::read(u32::MAX - 1), Err(MapError::NoProcess { .. })));
        let mut child = Command::new("true").spawn().unwrap();
        let zombie = loop {
            match Process::read(child.id()) {
                Ok(_) => std::thread::yield_now(),
                Err(error) => break error,
            }
        };
        assert!(matches!(zombie, MapError::Zombie { .. }), "{zombie}");
        child.wait().unwrap();
    }

    #[test]
    fn an_exec_and_an_exit_are_noticed() {
        let mut child = Command::new("sh")
            .args(["-c", "read line; exec cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // The child is a copy of this program until its first exec.
        while Process::read(child.id()).unwrap().0.name.as_str() != "sh" {
            std::thread::yield_now();
        }
        let (_, before) = Process::read(child.id()).unwrap();
        assert_eq!(before.since(), Since::Same);
        io::Write::write_all(child.stdin.as_mut().unwrap(), b"go\n").unwrap();
        while before.since() == Since::Same {
            std::thread::yield_now();
        }
        assert_eq!(before.since(), Since::Executed);
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(before.since(), Since::Exited);
    }
}
