// SPDX-License-Identifier: MIT OR Apache-2.0
//! A mark by which a segment is recognized when no record names it: its maker died
//! before writing one, or its directory was removed, as at the end of a login.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use rustix::fs::{self, Stat};

/// First bytes of the page that holds a mark.
const MAGIC: &[u8; 16] = b"huepage-segment1";
const HEAD: usize = MAGIC.len() + 8 + 8 + 8;
/// A mark with its path fits a base page.
pub(super) const LONGEST: usize = 4096;

/// The directory whose palette a segment is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    identity: u64,
    /// The mount namespace in which the path names the directory.
    mount_namespace: u64,
    path: PathBuf,
}

impl Mark {
    pub fn of(path: &Path, stat: &Stat) -> Self {
        Mark { identity: identity(stat), mount_namespace: mount_namespace(), path: path.to_owned() }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let path = self.path.as_os_str().as_bytes();
        // A path that is too long is not kept, so it cannot be checked later.
        let path = if HEAD + path.len() <= LONGEST { path } else { &[] };
        let numbers = [self.identity, self.mount_namespace, path.len() as u64];
        let mut bytes = MAGIC.to_vec();
        numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes.extend(path);
        bytes
    }

    /// Reads what [`Mark::to_bytes`] wrote, with anything after it.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (numbers, rest) = rest.split_at_checked(HEAD - MAGIC.len())?;
        let mut numbers = numbers
            .chunks_exact(8)
            .map(|bytes| bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)));
        let mut next = || numbers.next();
        let (identity, mount_namespace, len) = (next()?, next()?, next()?);
        let path = rest.get(..usize::try_from(len).ok()?)?;
        Some(Mark { identity, mount_namespace, path: OsStr::from_bytes(path).into() })
    }

    /// Whether the directory is gone: then no process can find the segment by it.
    pub fn is_homeless(&self) -> bool {
        self.mount_namespace == mount_namespace()
            && !self.path.as_os_str().is_empty()
            && match fs::lstat(&self.path) {
                Ok(stat) => identity(&stat) != self.identity,
                Err(error) => error == rustix::io::Errno::NOENT,
            }
    }
}

fn identity(stat: &Stat) -> u64 {
    stat.st_dev.rotate_left(32) ^ stat.st_ino
}

fn mount_namespace() -> u64 {
    fs::stat("/proc/self/ns/mnt").map_or(0, |stat| stat.st_ino)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_reads_as_it_was_written() {
        let directory = tempfile::tempdir().unwrap();
        let stat = fs::stat(directory.path()).unwrap();
        let mark = Mark::of(directory.path(), &stat);
        let mut page = mark.to_bytes();
        page.resize(LONGEST, 0);
        assert_eq!(Mark::from_bytes(&page), Some(mark.clone()));
        assert_eq!(Mark::from_bytes(&page[..HEAD]), None);
        page[3] ^= 1;
        assert_eq!(Mark::from_bytes(&page), None);
        assert_eq!(Mark::from_bytes(&[0; LONGEST]), None);
    }

    #[test]
    fn a_mark_whose_directory_is_gone_is_homeless() {
        let directory = tempfile::tempdir().unwrap();
        let mark = Mark::of(directory.path(), &fs::stat(directory.path()).unwrap());
        let elsewhere = Mark { mount_namespace: 1, ..mark.clone() };
        assert!(!mark.is_homeless());
        let other = Mark { identity: mark.identity ^ 1, ..mark.clone() };
        assert!(other.is_homeless());
        drop(directory);
        assert!(mark.is_homeless() && !elsewhere.is_homeless());
    }

    #[test]
    fn of_a_path_that_does_not_fit_nothing_is_said() {
        let stat = fs::stat("/").unwrap();
        let mark = Mark::of(Path::new(&"x/".repeat(3000)), &stat);
        let read = Mark::from_bytes(&mark.to_bytes()).unwrap();
        assert_eq!(read.path, PathBuf::new());
        assert!(!read.is_homeless());
    }
}
