// SPDX-License-Identifier: MIT OR Apache-2.0
//! An initial file system, as the kernel unpacks it.
//!
//! The format ("newc") is in the kernel's
//! `Documentation/driver-api/early-userspace/buffer-format.rst`.

use std::collections::{BTreeMap, BTreeSet};

const DIRECTORY: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const DEVICE: u32 = 0o020_600;

/// An archive with `/init`, and `/dev/console` for its first messages.
pub fn archive(init: &[u8]) -> Vec<u8> {
    archive_with(init, &BTreeMap::new())
}

/// The same with further executable files, by their path without a leading slash, and
/// with their directories.
pub fn archive_with(init: &[u8], files: &BTreeMap<String, Vec<u8>>) -> Vec<u8> {
    let bytes = files.values().map(Vec::len).sum::<usize>() + init.len();
    let mut archive = Vec::with_capacity(bytes + 1024 * (files.len() + 1));
    let mut inodes = 1..;
    let mut add = |name: &str, mode, dev, data: &[u8]| {
        let inode = inodes.next().expect("there are fewer files than numbers");
        entry(&mut archive, inode, name, mode, dev, data);
    };
    add("dev", DIRECTORY, (0, 0), &[]);
    add("dev/console", DEVICE, (5, 1), &[]);
    let directories: BTreeSet<&str> = files.keys().flat_map(|path| above(path)).collect();
    for directory in directories.into_iter().filter(|&directory| directory != "dev") {
        add(directory, DIRECTORY, (0, 0), &[]);
    }
    for (path, data) in files {
        add(path, PROGRAM, (0, 0), data);
    }
    add("init", PROGRAM, (0, 0), init);
    entry(&mut archive, 0, "TRAILER!!!", 0, (0, 0), &[]);
    archive
}

/// The directories that a file is in.
fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

fn entry(archive: &mut Vec<u8>, inode: u32, name: &str, mode: u32, dev: (u32, u32), data: &[u8]) {
    let size = u32::try_from(data.len()).expect("a program is smaller than 4 GiB");
    let name_size = name.len() as u32 + 1;
    // inode, mode, uid, gid, links, time, size, device of the file (2), device
    // it stands for (2), length of the name, checksum.
    let fields = [inode, mode, 0, 0, 1, 0, size, 0, 0, dev.0, dev.1, name_size, 0];
    archive.extend_from_slice(b"070701");
    for field in fields {
        archive.extend_from_slice(format!("{field:08X}").as_bytes());
    }
    archive.extend_from_slice(name.as_bytes());
    archive.push(0);
    pad(archive);
    archive.extend_from_slice(data);
    pad(archive);
}

fn pad(archive: &mut Vec<u8>) {
    archive.resize(archive.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names, modes and content.
    fn entries(archive: &[u8]) -> Vec<(String, usize, Vec<u8>)> {
        let mut at = 0;
        let mut entries = Vec::new();
        loop {
            assert_eq!(&archive[at..at + 6], b"070701");
            let field = |n: usize| {
                let start = at + 6 + 8 * n;
                let text = std::str::from_utf8(&archive[start..start + 8]).unwrap();
                usize::from_str_radix(text, 16).unwrap()
            };
            let (size, name_size) = (field(6), field(11));
            let name = &archive[at + 110..at + 110 + name_size];
            let data = (at + 110 + name_size).next_multiple_of(4);
            if name == b"TRAILER!!!\0" {
                return entries;
            }
            let name = String::from_utf8(name[..name_size - 1].to_vec()).unwrap();
            entries.push((name, field(1), archive[data..data + size].to_vec()));
            at = (data + size).next_multiple_of(4);
        }
    }

    #[test]
    fn entries_are_found_again_at_their_offsets() {
        let program = b"\x7fELF and so on";
        let entries = entries(&archive(program));
        let names: Vec<&str> = entries.iter().map(|entry| entry.0.as_str()).collect();
        assert_eq!(names, ["dev", "dev/console", "init"]);
        assert_eq!(entries[2], ("init".into(), 0o100_755, program.to_vec()));
    }

    #[test]
    fn directories_come_once_and_before_what_is_in_them() {
        let files = ["usr/bin/ls", "usr/lib/x", "bin/sh"].map(|path| (path.into(), b"x".to_vec()));
        let entries = entries(&archive_with(b"init", &files.into()));
        let names: Vec<&str> = entries[2..].iter().map(|entry| entry.0.as_str()).collect();
        let wanted =
            ["bin", "usr", "usr/bin", "usr/lib", "bin/sh", "usr/bin/ls", "usr/lib/x", "init"];
        assert_eq!(names, wanted);
        assert!(entries[2..6].iter().all(|entry| entry.1 == 0o040_755));
        assert_eq!(entries[6], ("bin/sh".into(), 0o100_755, b"x".to_vec()));
    }
}
