// SPDX-License-Identifier: MIT OR Apache-2.0
//! One builder at a time, also among several programs.

use std::{
    fs::{self, File},
    path::Path,
};

use anyhow::Context;
use rustix::{
    fs::{FlockOperation, flock},
    io::{Errno, retry_on_intr},
};

use crate::progress::Progress;

/// Held until dropped; if a program dies, the kernel releases it.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Takes the lock `name` in `directory`, and waits while another program has it.
///
/// # Errors
/// If the lock file cannot be made, or the file system has no locks.
pub fn take(directory: &Path, name: &str, progress: &Progress) -> anyhow::Result<Lock> {
    fs::create_dir_all(directory).with_context(|| format!("make {}", directory.display()))?;
    let path = directory.join(format!("{name}.lock"));
    let file = File::create(&path).with_context(|| format!("make {}", path.display()))?;
    let lock = match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => {
            progress.stage(&format!("waiting for another huepage-lab that makes {name}"));
            retry_on_intr(|| flock(&file, FlockOperation::LockExclusive))
        }
        other => other,
    };
    lock.with_context(|| format!("lock {}", path.display()))?;
    Ok(Lock { _file: file })
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicU32, Ordering},
        thread,
        time::Duration,
    };

    use super::*;

    #[test]
    fn holders_of_one_name_take_turns() {
        let directory = tempfile::tempdir().unwrap();
        let inside = AtomicU32::new(0);
        let most = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let _lock = take(directory.path(), "same", &Progress::silent()).unwrap();
                    let now = inside.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(now, Ordering::SeqCst);
                    thread::sleep(Duration::from_millis(20));
                    inside.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert_eq!(most.into_inner(), 1);
    }

    #[test]
    fn other_names_do_not_wait() {
        let directory = tempfile::tempdir().unwrap();
        let _one = take(directory.path(), "one", &Progress::silent()).unwrap();
        let _other = take(directory.path(), "other", &Progress::silent()).unwrap();
    }
}
