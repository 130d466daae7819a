// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/proc/PID/stat` and `cmdline`: the name of a process, and whether it still runs.

use std::{fs, io};

use super::Name;

/// `PF_KTHREAD` of the kernel's `include/linux/sched.h`.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// The fields of `/proc/PID/stat` that distinguish processes, and programs executed by
/// one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    pub name: Name,
    state: u8,
    flags: u64,
    pub threads: u32,
    pub start_time: u64,
    /// Addresses of its code and stack, which another program has elsewhere; 0 if they
    /// are hidden.
    pub layout: [u64; 3],
    /// The CPU that it ran on last.
    pub cpu: Option<u32>,
}

impl Stat {
    /// Reads it of a process.
    ///
    /// # Errors
    /// What reading reports; `InvalidData` for a file of another shape.
    pub fn read(pid: u32) -> io::Result<Self> {
        from_file(format!("/proc/{pid}/stat"))
    }

    /// The same of a thread, whose file has the same format.
    ///
    /// # Errors
    /// As [`Stat::read`].
    pub fn of_thread(pid: u32, thread: u32) -> io::Result<Self> {
        from_file(format!("/proc/{pid}/task/{thread}/stat"))
    }

    /// Whether it is a thread of the kernel, which has no memory of its own.
    pub fn is_kernel_thread(&self) -> bool {
        self.flags & KERNEL_THREAD != 0
    }

    /// Whether it is a zombie or dead.
    pub fn has_ended(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x')
    }
}

/// When a running process began, in clock ticks since boot: with its number, this
/// identifies the process.
pub(crate) fn began(pid: u32) -> Option<u64> {
    Stat::read(pid).ok().filter(|stat| !stat.has_ended()).map(|stat| stat.start_time)
}

fn from_file(path: String) -> io::Result<Stat> {
    parse(&fs::read(path)?).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
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
        cpu: number(39).and_then(|cpu| cpu.try_into().ok()),
    })
}

/// The words that a process was started with.
pub(crate) fn command(pid: u32) -> Vec<Name> {
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
    fn the_cpu_of_a_thread_is_read_whatever_its_name_is() {
        let tail = |last| (4..=last).map(|field| format!(" {field}")).collect::<String>();
        let stat = |last| parse(format!("12 (a) 7 b) S{}", tail(last)).as_bytes()).unwrap();
        assert_eq!(stat(52).cpu, Some(39));
        assert_eq!(stat(30).cpu, None);
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
}
