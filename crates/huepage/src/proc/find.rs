// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds processes by name.

use std::{fs, io, os::unix::ffi::OsStrExt};

use super::numeric_entries;

/// The kernel cuts the name of a thread after so many bytes.
const COMM: usize = 15;

/// The processes of this PID namespace with the name `name`, ascending by number: the
/// name that `ps` shows or, if the kernel has truncated that, the program that was
/// started. A process that ends meanwhile is left out.
///
/// # Errors
/// What reading `/proc` reports.
pub fn find(name: &str) -> io::Result<Vec<u32>> {
    let mut pids = numeric_entries(c"/proc")?;
    pids.retain(|&pid| is_called(pid, name).unwrap_or(false));
    pids.sort_unstable();
    Ok(pids)
}

fn is_called(pid: u32, name: &str) -> io::Result<bool> {
    let comm = fs::read(format!("/proc/{pid}/comm"))?;
    let comm = comm.strip_suffix(b"\n").unwrap_or(&comm);
    if comm.len() < COMM {
        return Ok(comm == name.as_bytes());
    }
    let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let program = arguments.split(|&byte| byte == 0).next().unwrap_or_default();
    let program = program.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let executable = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    let executable = executable.file_name().unwrap_or_default().as_bytes();
    Ok(goes_by(name.as_bytes(), comm, program, executable))
}

/// By the name in `ps`; if the kernel truncated it, by the program started.
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
}
