// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which process it is, and whether it still is the same.

use std::{fs, io, os::unix::fs::MetadataExt};

use super::{MapError, Name, Process};

/// `PF_KTHREAD` of the kernel's `include/linux/sched.h`.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// What `/proc/PID/stat` says that a map needs.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stat {
    name: Name,
    state: u8,
    flags: u64,
    threads: u32,
    start_time: u64,
    /// Addresses of its code and stack, which another program has elsewhere; 0
    /// where they are hidden.
    layout: [u64; 3],
}

/// What tells one program of a process from the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pid: u32,
    start_time: u64,
    layout: [u64; 3],
    executable: Option<(u64, u64)>,
}

/// How a process has changed since its [`Identity`] was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Since {
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
        let stat = stat(pid).map_err(|source| unreadable(pid, source))?;
        if stat.flags & KERNEL_THREAD != 0 {
            return Err(MapError::KernelThread { pid, name: stat.name });
        }
        if ended(stat.state) {
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

    /// The processes of this PID namespace that are called `name`: by their
    /// short name, or by the last part of their first argument. Threads of the
    /// kernel are left out; ascending by number.
    ///
    /// # Errors
    /// What reading `/proc` reports.
    pub fn find(name: &str) -> io::Result<Vec<Process>> {
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc")? {
            let Some(pid) = entry?.file_name().to_str().and_then(|pid| pid.parse().ok()) else {
                continue;
            };
            // One that has ended meanwhile is no error.
            let Ok((process, _)) = Process::read(pid) else { continue };
            let program = process.command.first().map(|first| {
                let path = first.as_str();
                path.rsplit_once('/').map_or(path, |(_, last)| last)
            });
            if process.name.as_str() == name || program == Some(name) {
                found.push(process);
            }
        }
        found.sort_unstable_by_key(|process| process.pid);
        Ok(found)
    }
}

impl Identity {
    /// The process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether the process is still what it was.
    pub fn since(&self) -> Since {
        let Ok(now) = stat(self.pid) else { return Since::Exited };
        if now.start_time != self.start_time || ended(now.state) {
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

/// When a process that runs began, in clock ticks since boot: with its number, that
/// is one process only.
pub(crate) fn began(pid: u32) -> Option<u64> {
    stat(pid).ok().filter(|stat| !ended(stat.state)).map(|stat| stat.start_time)
}

/// Zombie or dead.
fn ended(state: u8) -> bool {
    matches!(state, b'Z' | b'X' | b'x')
}

fn stat(pid: u32) -> io::Result<Stat> {
    let text = fs::read(format!("/proc/{pid}/stat"))?;
    parse(&text).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}

/// `1234 (name) S 1 …`; see `proc_pid_stat(5)`. The name may hold anything, also
/// parentheses, but nothing after it does.
fn parse(text: &[u8]) -> Option<Stat> {
    let open = text.iter().position(|b| *b == b'(')?;
    let close = text.iter().rposition(|b| *b == b')')?;
    let fields: Vec<&str> =
        std::str::from_utf8(&text[close + 1..]).ok()?.split_ascii_whitespace().collect();
    // proc_pid_stat(5) counts from 1, and two fields are before these.
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    Some(Stat {
        name: Name::new(text.get(open + 1..close)?),
        state: *fields.first()?.as_bytes().first()?,
        flags: number(9)?,
        threads: u32::try_from(number(20)?).ok()?,
        start_time: number(22)?,
        layout: [number(26)?, number(27)?, number(28)?],
    })
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

fn command(pid: u32) -> Vec<Name> {
    let Ok(text) = fs::read(format!("/proc/{pid}/cmdline")) else { return Vec::new() };
    arguments(&text)
}

/// Programs that write a title over their arguments leave empty ones behind it.
fn arguments(text: &[u8]) -> Vec<Name> {
    let Some(last) = text.iter().rposition(|b| *b != 0) else { return Vec::new() };
    text[..=last].split(|b| *b == 0).map(Name::new).collect()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_name_full_of_parentheses_is_read_whole_and_safe() {
        let tail = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 3 18 777 20 21 22 23 24 25\n";
        let stat = parse(format!("42 (a) S) \x1b(x) {tail}").as_bytes()).unwrap();
        assert_eq!(stat.name.as_str(), "a) S) \\u{1b}(x");
        assert_eq!((stat.state, stat.flags, stat.threads), (b'S', 6, 3));
        assert_eq!((stat.start_time, stat.layout), (777, [23, 24, 25]));
        assert!(parse(b"42 (x").is_none() && parse(b"42 (x) S 1").is_none());
    }

    #[test]
    fn arguments_end_where_only_empty_ones_follow() {
        let words = |text: &[u8]| -> Vec<String> {
            arguments(text).iter().map(|name| name.to_string()).collect()
        };
        assert_eq!(words(b"cat\0\0-\x07\0"), ["cat", "", "-\\u{7}"]);
        assert_eq!(words(b"postgres: idle\0\0\0\0"), ["postgres: idle"]);
        assert!(words(b"").is_empty() && words(b"\0\0").is_empty());
    }

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
