// SPDX-License-Identifier: MIT OR Apache-2.0
//! A cgroup with a limit of memory, below that of the tests.

use std::{
    fs, io,
    os::{fd::AsRawFd, unix::process::CommandExt},
    path::{Path, PathBuf},
    process::Command,
};

/// Removed when dropped; nothing may be in it then.
pub struct Cgroup(PathBuf);

impl Cgroup {
    /// # Errors
    /// Why there is none: no controller of memory here, or no right to use it.
    pub fn new(bytes: u64) -> Result<Self, String> {
        let own = fs::read_to_string("/proc/self/cgroup").map_err(|e| e.to_string())?;
        let mounts = fs::read_to_string("/proc/self/mounts").map_err(|e| e.to_string())?;
        // Of version 2 (`0::/path`) or 1 (`4:memory:/path`).
        let mut why = "none is mounted".to_owned();
        for line in own.lines() {
            let Some((controllers, path)) =
                line.split_once(':').and_then(|(_, l)| l.split_once(':'))
            else {
                continue;
            };
            let (kind, file) = match controllers {
                "" => ("cgroup2", "memory.max"),
                list if list.split(',').any(|name| name == "memory") => {
                    ("cgroup", "memory.limit_in_bytes")
                }
                _ => continue,
            };
            let Some(mount) = mount(&mounts, kind) else { continue };
            let parent = mount.join(path.trim_start_matches('/'));
            match limited(&parent, file, bytes) {
                Ok(cgroup) => return Ok(cgroup),
                Err(error) => why = format!("{}: {error}", parent.display()),
            }
        }
        Err(why)
    }

    /// What the command runs is in it.
    pub fn hold(&self, command: &mut Command) {
        let file = fs::File::options().write(true).open(self.0.join("cgroup.procs")).unwrap();
        // SAFETY: one system call between fork and exec.
        unsafe {
            command.pre_exec(move || {
                match libc::write(file.as_raw_fd(), c"0".as_ptr().cast(), 1) {
                    1 => Ok(()),
                    _ => Err(io::Error::last_os_error()),
                }
            });
        }
    }

    /// Whether what is in it has wanted more than it may have.
    pub fn was_at_its_limit(&self) -> bool {
        let number = |text: &str| text.trim().parse::<u64>().is_ok_and(|times| times > 0);
        let old = fs::read_to_string(self.0.join("memory.failcnt"));
        let events = fs::read_to_string(self.0.join("memory.events")).unwrap_or_default();
        old.is_ok_and(|times| number(&times))
            || events.lines().filter_map(|line| line.strip_prefix("max ")).any(number)
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

fn mount(mounts: &str, kind: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(' ').collect();
        let memory = kind == "cgroup2" || fields.get(3)?.split(',').any(|o| o == "memory");
        (*fields.get(2)? == kind && memory).then(|| PathBuf::from(fields[1]))
    })
}

fn limited(parent: &Path, file: &str, bytes: u64) -> io::Result<Cgroup> {
    let cgroup = Cgroup(parent.join(format!("huepage-test-{}", std::process::id())));
    fs::create_dir(&cgroup.0)?;
    fs::OpenOptions::new().write(true).open(cgroup.0.join(file))?;
    fs::write(cgroup.0.join(file), bytes.to_string())?;
    Ok(cgroup)
}
