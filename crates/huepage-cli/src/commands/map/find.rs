// SPDX-License-Identifier: MIT OR Apache-2.0
//! The process that a PID or a name means.

use std::{fs, os::unix::ffi::OsStrExt, path::Path};

use huepage::map::Name;

use crate::{
    escape::{printable, shorten},
    usage::UsageError,
};

/// The kernel cuts a thread's name after so many bytes.
const COMM: usize = 15;

/// The most processes that an error lists.
const LISTED: usize = 8;

/// A process that goes by the name asked for.
struct Candidate {
    pid: u32,
    command: String,
}

/// The process `target`: a PID, or the name of exactly one process but this
/// one.
///
/// # Errors
/// [`UsageError`] if there is none, or more than one.
pub fn find(target: &str) -> Result<u32, UsageError> {
    if !target.is_empty() && target.bytes().all(|byte| byte.is_ascii_digit()) {
        let pid = target.parse().ok().filter(|&pid| pid > 0);
        return pid.filter(|pid| Path::new(&format!("/proc/{pid}")).exists()).ok_or_else(|| {
            UsageError(format!("no process {target} here: list those there are with ps -e"))
        });
    }
    choose(target, named(target))
}

fn choose(name: &str, found: Vec<Candidate>) -> Result<u32, UsageError> {
    let shown = printable(name);
    match &found[..] {
        [] => Err(UsageError(format!(
            "no process is named '{shown}': give its PID, or its name as in ps -e; to start a \
             command, write -- before it"
        ))),
        [one] => Ok(one.pid),
        many => {
            let mut text =
                format!("{} processes are named '{shown}': give one of their PIDs", many.len());
            for one in many.iter().take(LISTED) {
                let command = shorten(&one.command, 60);
                text.push_str(&format!("\n  {:>7}  {command}", one.pid));
            }
            if many.len() > LISTED {
                text.push_str(&format!("\n  and {} more", many.len() - LISTED));
            }
            Err(UsageError(text))
        }
    }
}

/// All processes of that name but this one, by PID. One that ends meanwhile is
/// none.
fn named(name: &str) -> Vec<Candidate> {
    let own = std::process::id();
    let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut pids: Vec<u32> =
        pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    pids.sort_unstable();
    let others = pids.into_iter().filter(|&pid| pid != own);
    others.filter_map(|pid| candidate(pid, name)).collect()
}

fn candidate(pid: u32, name: &str) -> Option<Candidate> {
    let comm = fs::read(format!("/proc/{pid}/comm")).ok()?;
    let comm = comm.strip_suffix(b"\n").unwrap_or(&comm);
    let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let program = arguments.split(|&byte| byte == 0).next().unwrap_or_default();
    let program = program.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let executable = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    let executable = executable.file_name().unwrap_or_default().as_bytes();
    if !goes_by(name.as_bytes(), comm, program, executable) {
        return None;
    }
    let words: Vec<u8> =
        arguments.iter().map(|&byte| if byte == 0 { b' ' } else { byte }).collect();
    let command = match words.trim_ascii_end() {
        [] => format!("[{}]", Name::new(comm)),
        words => Name::new(words).to_string(),
    };
    Some(Candidate { pid, command })
}

/// By the name in ps; one that the kernel has cut, by what was started.
fn goes_by(name: &[u8], comm: &[u8], program: &[u8], executable: &[u8]) -> bool {
    comm == name
        || comm.len() == COMM && name.starts_with(comm) && (program == name || executable == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_name_is_completed_by_what_was_started() {
        let cut = b"systemd-journal";
        assert!(goes_by(b"systemd-journald", cut, b"systemd-journald", b""));
        assert!(goes_by(b"systemd-journald", cut, b"", b"systemd-journald"));
        assert!(goes_by(b"systemd-journal", cut, b"", b""));
        assert!(!goes_by(b"systemd-journalx", cut, b"systemd-journald", b"systemd-journald"));
        assert!(!goes_by(b"sh", b"bash", b"sh", b"sh"));
    }

    #[test]
    fn several_of_a_name_are_listed_and_none_is_taken() {
        let many = |count: u32| {
            (1..=count).map(|pid| Candidate { pid, command: "sleep 9".into() }).collect()
        };
        assert_eq!(choose("sleep", many(1)).unwrap(), 1);
        let error = choose("sleep", many(2)).unwrap_err().0;
        assert_eq!(
            error,
            "2 processes are named 'sleep': give one of their PIDs\n        1  sleep 9\n        2  \
             sleep 9"
        );
        assert!(choose("sleep", many(20)).unwrap_err().0.ends_with("\n  and 12 more"));
        assert!(choose("\x1b", vec![]).unwrap_err().0.contains(r"'\u{1b}'"));
    }

    #[test]
    fn a_number_is_a_pid_that_must_exist() {
        assert_eq!(find(&std::process::id().to_string()).unwrap(), std::process::id());
        for none in ["0", "4294967295", "99999999999999999999"] {
            assert!(find(none).unwrap_err().0.starts_with(&format!("no process {none} here")));
        }
    }
}
