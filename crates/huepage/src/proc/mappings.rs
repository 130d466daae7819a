// SPDX-License-Identifier: MIT OR Apache-2.0
//! The mappings of a process: `/proc/PID/smaps` and `maps`.
//!
//! Described in `proc_pid_maps(5)` and `proc_pid_smaps(5)`. Names of files are bytes that another program
//! chose: they need not be UTF-8, which is why they are read by hand. One line
//! is kept at a time, since 65,530 mappings print 45 MiB.

use std::{
    io::{self, BufRead, BufReader, Read},
    ops::Range,
};

use super::VmFlags;
use crate::units::Bytes;

/// What `/proc/PID/smaps` counts of an area, in bytes; see `proc_pid_smaps(5)`.
/// `None` where this kernel does not print the field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KernelCounts {
    /// `Rss`: present; the page of zeros and memory that is no ordinary page
    /// are left out.
    pub rss: Bytes,
    /// `Pss`: `rss` with shared pages divided by how often they are mapped.
    pub pss: Bytes,
    /// `AnonHugePages`: anonymous memory mapped by huge entries.
    pub anon_huge_pages: Option<Bytes>,
    /// `ShmemPmdMapped`: shared memory mapped by huge entries.
    pub shmem_huge: Option<Bytes>,
    /// `FilePmdMapped`: page cache mapped by huge entries.
    pub file_huge: Option<Bytes>,
    /// `Shared_Hugetlb` and `Private_Hugetlb`, which `rss` leaves out.
    pub hugetlb: Bytes,
    /// `KSM`: merged pages, and pages of zeros that KSM made.
    pub ksm: Option<Bytes>,
    /// `Swap`.
    pub swap: Bytes,
    /// `Locked`.
    pub locked: Bytes,
}

/// One mapping as `maps` or `smaps` prints it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AreaLine {
    /// Address of the first byte.
    pub start: u64,
    /// Address after the last byte.
    pub end: u64,
    /// `rwxp`, with `-` for what is missing and `s` for shared.
    pub permissions: [u8; 4],
    /// Offset in the file.
    pub offset: Bytes,
    /// Major and minor number of the file's device; 0 for no file.
    pub device: (u32, u32),
    /// The file's inode; 0 for no file.
    pub inode: u64,
    /// Its name as printed, where newlines are `\012`.
    pub name: Vec<u8>,
    /// The kernel's counts; `None` from `maps`.
    pub counts: Option<KernelCounts>,
    /// `KernelPageSize`, larger than a base page for hugetlbfs; `None` from `maps`.
    pub page_size: Option<Bytes>,
    /// `VmFlags`.
    pub flags: VmFlags,
    /// `ProtectionKey`; 0 where there is none.
    pub protection_key: u32,
}

/// All areas of `maps` or `smaps`, ascending.
///
/// # Errors
/// As [`AreaReader::next_area`].
pub fn areas(from: impl Read) -> io::Result<Vec<AreaLine>> {
    let mut reader = AreaReader::new(BufReader::with_capacity(1 << 16, from));
    let mut areas = Vec::new();
    while let Some(area) = reader.next_area()? {
        areas.push(area);
    }
    Ok(areas)
}

/// Reads areas one by one.
#[derive(Debug)]
pub struct AreaReader<R> {
    from: R,
    line: Vec<u8>,
    /// The area whose fields are being read.
    current: Option<AreaLine>,
}

impl<R: BufRead> AreaReader<R> {
    /// Reads the text of `maps` or `smaps`.
    pub fn new(from: R) -> Self {
        AreaReader { from, line: Vec::new(), current: None }
    }

    /// The next area; `None` at the end.
    ///
    /// # Errors
    /// What `read` reports; `InvalidData` for a line of another shape.
    pub fn next_area(&mut self) -> io::Result<Option<AreaLine>> {
        loop {
            self.line.clear();
            if self.from.read_until(b'\n', &mut self.line)? == 0 {
                return Ok(self.current.take());
            }
            let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
            // Fields begin with a capital letter, areas with a hexadecimal digit.
            if line.first().is_some_and(u8::is_ascii_uppercase) {
                if let Some(area) = &mut self.current {
                    field(line, area);
                }
                continue;
            }
            let area = header(line).ok_or_else(|| {
                let line = String::from_utf8_lossy(line).escape_debug().to_string();
                io::Error::new(io::ErrorKind::InvalidData, format!("no mapping: '{line}'"))
            })?;
            if let Some(done) = self.current.replace(area) {
                return Ok(Some(done));
            }
        }
    }
}

/// `55d0-55d2 r-xp 00002000 fe:00 247026        /usr/bin/cat`.
fn header(line: &[u8]) -> Option<AreaLine> {
    let mut rest = line;
    let mut word = || {
        let start = rest.iter().position(|b| *b != b' ')?;
        let end = rest[start..].iter().position(|b| *b == b' ').map_or(rest.len(), |n| start + n);
        let word = &rest[start..end];
        rest = &rest[end..];
        Some(word)
    };
    let (addresses, permissions, offset) = (addresses(word()?)?, word()?, text(word()?)?);
    let (device, inode) = (text(word()?)?, text(word()?)?);
    let (major, minor) = device.split_once(':')?;
    let hex = |digits: &str| u64::from_str_radix(digits, 16).ok();
    let area = AreaLine {
        start: addresses.start,
        end: addresses.end,
        permissions: permissions.try_into().ok()?,
        offset: Bytes(hex(offset)?),
        device: (hex(major)?.try_into().ok()?, hex(minor)?.try_into().ok()?),
        inode: inode.parse().ok()?,
        name: rest.trim_ascii_start().to_vec(),
        ..AreaLine::default()
    };
    (area.start < area.end).then_some(area)
}

/// The addresses that a line begins with; `None` for a line of another shape.
pub(super) fn addresses(line: &[u8]) -> Option<Range<u64>> {
    let (start, end) = text(line.split(|b| *b == b' ').next()?)?.split_once('-')?;
    let hex = |digits| u64::from_str_radix(digits, 16).ok();
    Some(hex(start)?..hex(end)?)
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// `Rss:      8 kB`, where kB means KiB, or `VmFlags: rd ex mr`.
fn field(line: &[u8], area: &mut AreaLine) {
    let Some((key, value)) = text(line).and_then(|line| line.split_once(':')) else { return };
    if key == "VmFlags" {
        area.flags = VmFlags::parse(value);
        return;
    }
    if key == "ProtectionKey" {
        area.protection_key = value.trim_ascii().parse().unwrap_or(0);
        return;
    }
    let kib = value.trim_ascii().strip_suffix(" kB").and_then(|n| n.trim_ascii().parse().ok());
    let Some(bytes) = kib.map(|kib: u64| Bytes(kib.saturating_mul(1024))) else { return };
    let counts = area.counts.get_or_insert_default();
    match key {
        "KernelPageSize" => area.page_size = Some(bytes),
        "Rss" => counts.rss = bytes,
        "Pss" => counts.pss = bytes,
        "AnonHugePages" => counts.anon_huge_pages = Some(bytes),
        "ShmemPmdMapped" => counts.shmem_huge = Some(bytes),
        "FilePmdMapped" => counts.file_huge = Some(bytes),
        "Shared_Hugetlb" | "Private_Hugetlb" => counts.hugetlb.0 += bytes.0,
        "KSM" => counts.ksm = Some(bytes),
        "Swap" => counts.swap = bytes,
        "Locked" => counts.locked = bytes,
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &[u8] = b"55d0000-55d2000 r-xp 00002000 fe:00 247026     /tmp/a b\xff\x1b[31m\n\
        Size:                  8 kB\nKernelPageSize:        4 kB\nRss:                   8 kB\n\
        Pss:                   4 kB\nKSM:                   0 kB\nShared_Hugetlb:      2048 kB\n\
        Private_Hugetlb:     2048 kB\nSwap:                 12 kB\nTHPeligible:           0\n\
        ProtectionKey:         3\nVmFlags: rd ex mr mw me \n\
        7fff0000-7fff4000 r--p 00000000 00:00 0              [vvar]\n\
        Size:                 16 kB\nKernelPageSize:        4 kB\nVmFlags: rd mr pf io \n\
        ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n";

    #[test]
    fn areas_are_read_with_their_counts_and_their_names_as_bytes() {
        let areas = areas(SMAPS).unwrap();
        assert_eq!(areas.len(), 3);
        let first = &areas[0];
        assert_eq!((first.start, first.end), (0x55d_0000, 0x55d_2000));
        assert_eq!((first.device, first.inode, first.offset), ((0xfe, 0), 247_026, Bytes(0x2000)));
        assert_eq!(first.name, b"/tmp/a b\xff\x1b[31m");
        let counts = first.counts.unwrap();
        assert_eq!((counts.rss, counts.pss), (Bytes::kib(8), Bytes::kib(4)));
        assert_eq!((counts.swap, counts.hugetlb), (Bytes::kib(12), Bytes::kib(4096)));
        assert_eq!((counts.ksm, counts.anon_huge_pages), (Some(Bytes(0)), None));
        assert_eq!(first.page_size, Some(Bytes::kib(4)));
        assert_eq!([first.protection_key, areas[1].protection_key], [3, 0]);
        let device = VmFlags::FRAMES_ONLY.and(VmFlags::IO);
        assert_eq!([first.flags, areas[1].flags], [VmFlags::default(), device]);
        assert_eq!(areas[2].start, 0xffff_ffff_ff60_0000);
    }

    #[test]
    fn maps_have_no_counts_and_other_lines_are_refused() {
        let read = areas(&b"1000-2000 rw-s 00000000 00:01 7   /memfd:x (deleted)\n"[..]).unwrap();
        assert_eq!((read[0].counts, read[0].page_size), (None, None));
        assert_eq!(&read[0].permissions, b"rw-s");
        assert_eq!(read[0].name, b"/memfd:x (deleted)");
        for bad in [&b"2000-1000 rw-p 0 00:00 0\n"[..], b"xyz\n", b"1000-2000 rw 0 0:0 0\n", b"\n"]
        {
            assert_eq!(areas(bad).unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
    }
}
