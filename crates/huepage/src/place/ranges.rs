// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a range of the program's own memory can be placed page by page.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    ops::Range,
};

use super::PlaceError;
use crate::{
    mapping::PageAddr,
    proc::{AreaLine, AreaReader, VmFlags},
};

/// What is wrong with a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsuitable {
    /// No pages.
    #[error("it has no pages")]
    Empty,
    /// Nothing is mapped there.
    #[error("nothing is mapped there")]
    Unmapped,
    /// Memory of a file, or shared with other processes.
    #[error("it is no private anonymous memory: files and shared memory stay where they are")]
    NotPrivateAnonymous,
    /// Not both readable and writable.
    #[error("it is not readable and writable: mprotect it first")]
    NotReadWrite,
    /// Locked by `mlock`.
    #[error("it is locked: munlock it first, lock it again afterwards")]
    Locked,
    /// Pages of `hugetlbfs`.
    #[error("it consists of hugetlbfs pages, which cannot be taken apart")]
    HugeTlb,
    /// Mapped by a device driver.
    #[error("a device driver maps it")]
    Device,
    /// Behind a protection key.
    #[error("it has a protection key: remove the key first")]
    ProtectionKey,
    /// Registered with another userfaultfd.
    #[error("it is registered with another userfaultfd")]
    Registered,
    /// The stack or data of the thread that does the placing.
    #[error("the placing thread itself uses it (its stack or the pool's own data)")]
    InUseHere,
}

/// Checks that `pages` pages from `start` are private, anonymous, writable
/// memory that nothing pins down. It may be several mappings, one at the other:
/// advice for a part of one makes two of it.
pub(super) fn check(start: PageAddr, pages: usize) -> Result<(), PlaceError> {
    let smaps =
        File::open("/proc/self/smaps").map_err(PlaceError::system("open /proc/self/smaps"))?;
    let from = start.get() as u64;
    let range = from..from.saturating_add((pages * rustix::param::page_size()) as u64);
    judge(BufReader::with_capacity(1 << 16, smaps), range)
        .map_err(PlaceError::system("read /proc/self/smaps"))?
        .map_err(|(start, reason)| PlaceError::Unsuitable { start: start as usize, reason })
}

/// Checks that none of these lies in the range: what the placing thread needs
/// while pages are out.
pub(super) fn check_apart(
    start: PageAddr,
    pages: usize,
    needed: impl IntoIterator<Item = Range<usize>>,
) -> Result<(), PlaceError> {
    let range = start.span(pages);
    for part in needed {
        if part.start < range.end && range.start < part.end {
            let reason = Unsuitable::InUseHere;
            return Err(PlaceError::Unsuitable { start: part.start.max(range.start), reason });
        }
    }
    Ok(())
}

/// Where the range is first unsuitable, and why.
fn judge(smaps: impl BufRead, range: Range<u64>) -> io::Result<Result<(), (u64, Unsuitable)>> {
    if range.is_empty() {
        return Ok(Err((range.start, Unsuitable::Empty)));
    }
    let mut areas = AreaReader::new(smaps);
    let mut at = range.start;
    while let Some(area) = areas.next_area()? {
        if area.end <= at {
            continue;
        }
        if area.start > at {
            break;
        }
        if let Some(reason) = unsuitable(&area) {
            return Ok(Err((at, reason)));
        }
        at = area.end;
        if at >= range.end {
            return Ok(Ok(()));
        }
    }
    Ok(Err((at, Unsuitable::Unmapped)))
}

fn unsuitable(area: &AreaLine) -> Option<Unsuitable> {
    const DEVICE: VmFlags = VmFlags::IO.and(VmFlags::FRAMES_ONLY).and(VmFlags::MIXED);
    let [read, write, _, share] = area.permissions;
    let reason = if area.flags.any(VmFlags::HUGETLB) {
        Unsuitable::HugeTlb
    } else if area.flags.any(DEVICE) {
        Unsuitable::Device
    } else if area.inode != 0 || share != b'p' {
        Unsuitable::NotPrivateAnonymous
    } else if [read, write] != *b"rw" {
        Unsuitable::NotReadWrite
    } else if area.flags.any(VmFlags::LOCKED) {
        Unsuitable::Locked
    } else if area.protection_key != 0 {
        Unsuitable::ProtectionKey
    } else if area.flags.any(VmFlags::REGISTERED) {
        Unsuitable::Registered
    } else {
        return None;
    };
    Some(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn smaps(areas: &[(&str, &str, &str, &str)]) -> String {
        areas
            .iter()
            .map(|(range, permissions, inode, flags)| {
                format!(
                    "{range} {permissions} 00000000 00:00 {inode}    [name]\nSize: 8 kB\n\
                     Rss:   4 kB\nProtectionKey:         0\nVmFlags: {flags} \n"
                )
            })
            .collect()
    }

    #[test]
    fn plain_memory_is_suitable_and_each_fault_has_its_name() {
        let text = smaps(&[
            ("1000-5000", "rw-p", "0", "rd wr mr mw me ac"),
            ("5000-6000", "r--p", "0", "rd mr mw me"),
            ("8000-9000", "rw-s", "77", "rd wr sh"),
            ("9000-a000", "rw-p", "12", "rd wr"),
            ("a000-b000", "rw-p", "0", "rd wr lo"),
            ("b000-c000", "rw-p", "0", "rd wr ht"),
            ("c000-d000", "rw-p", "0", "rd wr um"),
            ("d000-e000", "rw-p", "0", "rd wr pf io"),
            ("e000-f000", "rw-p", "0", "rd wr nh"),
            ("f000-10000", "rw-p", "0", "rd wr dc"),
        ]);
        for (range, want) in [
            (0x1000..0x5000, Ok(())),
            (0x2000..0x3000, Ok(())),
            (0x2000..0x2000, Err((0x2000, Unsuitable::Empty))),
            (0x0..0x2000, Err((0x0, Unsuitable::Unmapped))),
            (0xe800..0x10000, Ok(())),
            (0xe000..0x11000, Err((0x10000, Unsuitable::Unmapped))),
            (0x1000..0x6000, Err((0x5000, Unsuitable::NotReadWrite))),
            (0x5000..0x6000, Err((0x5000, Unsuitable::NotReadWrite))),
            (0x1000..0x7000, Err((0x5000, Unsuitable::NotReadWrite))),
            (0x4000..0x5000, Ok(())),
            (0x10000..0x10001, Err((0x10000, Unsuitable::Unmapped))),
            (0x8000..0x9000, Err((0x8000, Unsuitable::NotPrivateAnonymous))),
            (0x9000..0xa000, Err((0x9000, Unsuitable::NotPrivateAnonymous))),
            (0xa000..0xb000, Err((0xa000, Unsuitable::Locked))),
            (0xb000..0xc000, Err((0xb000, Unsuitable::HugeTlb))),
            (0xc000..0xd000, Err((0xc000, Unsuitable::Registered))),
            (0xd000..0xe000, Err((0xd000, Unsuitable::Device))),
        ] {
            assert_eq!(judge(text.as_bytes(), range.clone()).unwrap(), want, "{range:x?}");
        }
        let keyed = text.replacen("ProtectionKey:         0", "ProtectionKey:         3", 1);
        let judged = judge(keyed.as_bytes(), 0x1000..0x2000).unwrap();
        assert_eq!(judged, Err((0x1000, Unsuitable::ProtectionKey)));
    }
}
