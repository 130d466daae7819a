// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a range of the program's own memory can be placed page by page.

use std::{fmt, ops::Range};

use super::PlaceError;
use crate::mapping::PageAddr;

/// What is wrong with a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsuitable {
    /// No pages.
    Empty,
    /// Nothing is mapped there.
    Unmapped,
    /// The range spans several mappings.
    SeveralMappings,
    /// Memory of a file, or shared with other processes.
    NotPrivateAnonymous,
    /// Not both readable and writable.
    NotReadWrite,
    /// Locked by `mlock`.
    Locked,
    /// Pages of `hugetlbfs`.
    HugeTlb,
    /// Mapped by a device driver.
    Device,
    /// Behind a protection key.
    ProtectionKey,
    /// Registered with another userfaultfd.
    Registered,
    /// The stack or data of the thread that does the placing.
    InUseHere,
}

impl fmt::Display for Unsuitable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Unsuitable::Empty => "it has no pages",
            Unsuitable::Unmapped => "nothing is mapped there",
            Unsuitable::SeveralMappings => {
                "it spans several mappings: place each line of /proc/self/maps by itself"
            }
            Unsuitable::NotPrivateAnonymous => {
                "it is no private anonymous memory: files and shared memory stay where they are"
            }
            Unsuitable::NotReadWrite => "it is not readable and writable: mprotect it first",
            Unsuitable::Locked => "it is locked: munlock it first, lock it again afterwards",
            Unsuitable::HugeTlb => "it consists of hugetlbfs pages, which cannot be taken apart",
            Unsuitable::Device => "a device driver maps it",
            Unsuitable::ProtectionKey => "it has a protection key: take it away first",
            Unsuitable::Registered => "it is registered with another userfaultfd",
            Unsuitable::InUseHere => {
                "the placing thread itself uses it (its stack or the pool's own data)"
            }
        })
    }
}

/// Checks that `pages` pages from `start` lie in one mapping of private,
/// anonymous, writable memory that nothing pins down.
pub(super) fn check(start: PageAddr, pages: usize) -> Result<(), PlaceError> {
    let smaps = std::fs::read_to_string("/proc/self/smaps")
        .map_err(PlaceError::system("read /proc/self/smaps"))?;
    let range = start.get()..start.get().saturating_add(pages * rustix::param::page_size());
    judge(&smaps, range).map_err(|(start, reason)| PlaceError::Unsuitable { start, reason })
}

/// Checks that none of these lies in the range: what the placing thread needs
/// while pages are out.
pub(super) fn check_apart(
    start: PageAddr,
    pages: usize,
    needed: impl IntoIterator<Item = Range<usize>>,
) -> Result<(), PlaceError> {
    let range = start.get()..start.get().saturating_add(pages * rustix::param::page_size());
    for part in needed {
        if part.start < range.end && range.start < part.end {
            let reason = Unsuitable::InUseHere;
            return Err(PlaceError::Unsuitable { start: part.start.max(range.start), reason });
        }
    }
    Ok(())
}

/// One mapping of smaps, as far as it matters here.
struct Area<'a> {
    range: Range<usize>,
    permissions: &'a str,
    inode: &'a str,
    flags: &'a str,
    key: &'a str,
}

/// The format is in proc_pid_smaps(5).
fn areas(smaps: &str) -> Vec<Area<'_>> {
    let mut areas: Vec<Area<'_>> = Vec::new();
    for line in smaps.lines() {
        if let Some(area) = header(line) {
            areas.push(area);
        } else if let (Some(area), Some((name, value))) = (areas.last_mut(), line.split_once(':')) {
            match name {
                "VmFlags" => area.flags = value.trim(),
                "ProtectionKey" => area.key = value.trim(),
                _ => {}
            }
        }
    }
    areas
}

fn header(line: &str) -> Option<Area<'_>> {
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let start = usize::from_str_radix(start, 16).ok()?;
    let end = usize::from_str_radix(end, 16).ok()?;
    let permissions = words.next()?;
    let (_offset, _device, inode) = (words.next()?, words.next()?, words.next()?);
    Some(Area { range: start..end, permissions, inode, flags: "", key: "0" })
}

fn judge(smaps: &str, range: Range<usize>) -> Result<(), (usize, Unsuitable)> {
    if range.is_empty() {
        return Err((range.start, Unsuitable::Empty));
    }
    let areas = areas(smaps);
    let Some(at) = areas.iter().position(|a| a.range.contains(&range.start)) else {
        return Err((range.start, Unsuitable::Unmapped));
    };
    let area = &areas[at];
    if area.range.end < range.end {
        let adjacent = areas.get(at + 1).is_some_and(|next| next.range.start == area.range.end);
        let reason = if adjacent { Unsuitable::SeveralMappings } else { Unsuitable::Unmapped };
        return Err((area.range.end, reason));
    }
    let flag = |name: &str| area.flags.split_ascii_whitespace().any(|flag| flag == name);
    let reason = if flag("ht") {
        Unsuitable::HugeTlb
    } else if flag("io") || flag("pf") || flag("mm") {
        Unsuitable::Device
    } else if area.inode != "0" || !area.permissions.ends_with('p') {
        Unsuitable::NotPrivateAnonymous
    } else if !area.permissions.starts_with("rw") {
        Unsuitable::NotReadWrite
    } else if flag("lo") {
        Unsuitable::Locked
    } else if area.key != "0" {
        Unsuitable::ProtectionKey
    } else if flag("um") || flag("uw") || flag("ui") {
        Unsuitable::Registered
    } else {
        return Ok(());
    };
    Err((range.start, reason))
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
        ]);
        for (range, want) in [
            (0x1000..0x5000, Ok(())),
            (0x2000..0x3000, Ok(())),
            (0x2000..0x2000, Err((0x2000, Unsuitable::Empty))),
            (0x0..0x2000, Err((0x0, Unsuitable::Unmapped))),
            (0x1000..0x6000, Err((0x5000, Unsuitable::SeveralMappings))),
            (0x5000..0x6000, Err((0x5000, Unsuitable::NotReadWrite))),
            (0x5000..0x7000, Err((0x6000, Unsuitable::Unmapped))),
            (0x8000..0x9000, Err((0x8000, Unsuitable::NotPrivateAnonymous))),
            (0x9000..0xa000, Err((0x9000, Unsuitable::NotPrivateAnonymous))),
            (0xa000..0xb000, Err((0xa000, Unsuitable::Locked))),
            (0xb000..0xc000, Err((0xb000, Unsuitable::HugeTlb))),
            (0xc000..0xd000, Err((0xc000, Unsuitable::Registered))),
            (0xd000..0xe000, Err((0xd000, Unsuitable::Device))),
        ] {
            assert_eq!(judge(&text, range.clone()), want, "{range:x?}");
        }
        let keyed = text.replacen("ProtectionKey:         0", "ProtectionKey:         3", 1);
        assert_eq!(judge(&keyed, 0x1000..0x2000), Err((0x1000, Unsuitable::ProtectionKey)));
    }
}
