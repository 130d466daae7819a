// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds the memory of the program that may be placed.

use std::{
    fs::File,
    io::{self, Seek},
    ops::Range,
};

use huepage::{
    mapped_here,
    proc::{self, AreaLine},
};

use huepage_loaded::{heap, start};

/// Reads the mappings through one file that stays open: so reading still works after
/// the program has changed its root, or its user.
pub struct Areas {
    maps: File,
    heap_only: bool,
}

/// Functions whose objects' data the placer uses while pages are out: this
/// library, the C library, the loader.
fn needed() -> [usize; 3] {
    unsafe extern "C" {
        fn __tls_get_addr();
    }
    [
        start::address(),
        libc::sched_yield as *const () as usize,
        __tls_get_addr as *const () as usize,
    ]
}

impl Areas {
    /// # Errors
    /// What `open` reports.
    pub fn open(heap_only: bool) -> io::Result<Self> {
        Ok(Areas { maps: File::open("/proc/thread-self/maps")?, heap_only })
    }

    /// The addresses of the memory to be placed now, ascending: parts of mappings that are
    /// private, anonymous, readable and writable.
    ///
    /// # Errors
    /// What `read` reports.
    pub fn read(&mut self) -> io::Result<Vec<Range<usize>>> {
        self.maps.rewind()?;
        let lines = proc::areas(&self.maps)?;
        let own: Vec<Range<usize>> = mapped_here().chain([heap::range(), start::stack()]).collect();
        Ok(choose(&lines, &needed(), &own, self.heap_only))
    }
}

/// Of all mappings those to be placed: without the mappings that follow the files of
/// which an address is `needed` (their data that begins as zeros), and without `own`.
fn choose(
    lines: &[AreaLine],
    needed: &[usize],
    own: &[Range<usize>],
    heap_only: bool,
) -> Vec<Range<usize>> {
    let file = |line: &AreaLine| (line.device, line.inode);
    let needed: Vec<_> = lines
        .iter()
        .filter(|line| line.inode != 0)
        .filter(|line| needed.iter().any(|at| (line.start..line.end).contains(&(*at as u64))))
        .map(file)
        .collect();
    let mut areas = Vec::new();
    let mut before: Option<&AreaLine> = None;
    for line in lines {
        let follows = before
            .is_some_and(|b| b.end == line.start && b.inode != 0 && needed.contains(&file(b)));
        before = Some(line);
        if follows || !suitable(line, heap_only) {
            continue;
        }
        areas.extend(without(line.start as usize..line.end as usize, own));
    }
    areas
}

fn suitable(line: &AreaLine, heap_only: bool) -> bool {
    let heap = line.name == b"[heap]";
    let anonymous = line.name.is_empty() || line.name.starts_with(b"[anon:");
    // The stack of the first thread holds the arguments that `ps` reads.
    line.permissions == *b"rw-p" && line.inode == 0 && (heap || anonymous && !heap_only)
}

/// The parts of a range that lie in none of `holes`.
fn without(range: Range<usize>, holes: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut parts = vec![range];
    for hole in holes {
        parts = parts
            .into_iter()
            .flat_map(|part| {
                let end = hole.start.clamp(part.start, part.end);
                let start = hole.end.clamp(part.start, part.end);
                // A hole outside of the part leaves the part unchanged on one side.
                [part.start..end, start.max(end)..part.end]
            })
            .filter(|part| !part.is_empty())
            .collect();
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(range: Range<u64>, permissions: &[u8; 4], inode: u64, name: &str) -> AreaLine {
        let mut line = AreaLine::default();
        (line.start, line.end) = (range.start, range.end);
        line.permissions = *permissions;
        line.inode = inode;
        line.name = name.into();
        line
    }

    fn chosen(own: &[Range<usize>], heap_only: bool) -> Vec<Range<usize>> {
        let lines = [
            line(0x1000..0x2000, b"r-xp", 1, "/bin/a"),
            line(0x2000..0x3000, b"rw-p", 1, "/bin/a"),
            line(0x3000..0x4000, b"rw-p", 0, ""),
            line(0x5000..0x8000, b"rw-p", 0, "[heap]"),
            line(0x9000..0xa000, b"r-xp", 2, "/lib/libc.so.6"),
            line(0xa000..0xb000, b"rw-p", 2, "/lib/libc.so.6"),
            line(0xb000..0xc000, b"rw-p", 0, ""),
            line(0xd000..0xe000, b"rw-s", 0, ""),
            line(0xe000..0xf000, b"rwxp", 0, ""),
            line(0x10000..0x11000, b"rw-p", 0, "[anon:arena]"),
            line(0x12000..0x13000, b"rw-p", 0, "[stack]"),
        ];
        choose(&lines, &[0x9100], own, heap_only)
    }

    #[test]
    fn plain_memory_is_placed_and_the_zeros_of_needed_objects_are_not() {
        let plain = [0x3000..0x4000, 0x5000..0x8000, 0x10000..0x11000];
        assert_eq!(chosen(&[], false), plain);
        assert_eq!(chosen(&[], true), std::slice::from_ref(&(0x5000..0x8000)));
    }

    #[test]
    fn what_this_library_has_mapped_is_cut_out() {
        assert_eq!(
            chosen(&[0x6000..0x7000, 0x3000..0x4000, 0x7000..0x7000], false),
            [0x5000..0x6000, 0x7000..0x8000, 0x10000..0x11000]
        );
    }
}
