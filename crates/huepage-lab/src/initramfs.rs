// SPDX-License-Identifier: MIT OR Apache-2.0
//! An initial file system with one program in it, as the kernel unpacks it.
//!
//! The format ("newc") is in the kernel's
//! `Documentation/driver-api/early-userspace/buffer-format.rst`.

const DIRECTORY: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const DEVICE: u32 = 0o020_600;

/// An archive with `/init`, and `/dev/console` for its first words.
pub fn archive(init: &[u8]) -> Vec<u8> {
    let mut archive = Vec::with_capacity(init.len() + 1024);
    entry(&mut archive, 1, "dev", DIRECTORY, (0, 0), &[]);
    entry(&mut archive, 2, "dev/console", DEVICE, (5, 1), &[]);
    entry(&mut archive, 3, "init", PROGRAM, (0, 0), init);
    entry(&mut archive, 0, "TRAILER!!!", 0, (0, 0), &[]);
    archive
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

    #[test]
    fn entries_are_found_again_at_their_offsets() {
        let program = b"\x7fELF and so on";
        let archive = archive(program);
        let mut at = 0;
        let mut names = Vec::new();
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
                break;
            }
            names.push(String::from_utf8(name[..name_size - 1].to_vec()).unwrap());
            if name == b"init\0" {
                assert_eq!(&archive[data..data + size], program);
                assert_eq!(field(1), 0o100_755);
            }
            at = (data + size).next_multiple_of(4);
        }
        assert_eq!(names, ["dev", "dev/console", "init"]);
    }
}
