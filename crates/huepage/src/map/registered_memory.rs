// SPDX-License-Identifier: MIT OR Apache-2.0
//! Colors of its own memory that a program has published.

use std::{fs, io, os::unix::fs::OpenOptionsExt};

use serde::{Deserialize, Serialize};

use super::{
    Area, Balance, Cells, Kind, Name, ProcessMap, Shortfall, What,
    cell_tally::{CellPage, CellTally},
    register::{LINK, Told},
};
use crate::{
    color::{ColorCount, Method},
    units::Bytes,
};

/// Cells of a range at most.
const CELLS: usize = 128;

/// A range of the process whose colors the program itself knows, mostly by measurement:
/// these are right even if frame numbers are not. They are those of the moment when the
/// program registered them ([`super::Registration`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegisteredMemory {
    /// The label that the program gave it.
    pub label: Name,
    /// Address of the first byte.
    pub start: u64,
    /// Pages.
    pub pages: u64,
    /// How the program found the colors.
    pub method: Method,
    /// How many colors there are.
    pub colors: ColorCount,
    /// Pages of one color that the cache holds, if the program gave that number.
    pub ways: Option<u32>,
    /// How many of the pages have a color.
    pub known: u64,
    /// The spread of the pages of known color; `None` without `ways`.
    pub balance: Option<Balance>,
    /// The same pages for a picture. Of each cell only `at`, `pages` and `colors` are
    /// filled in, the last for the `colors` given here.
    pub cells: Cells,
}

impl ProcessMap {
    /// Reads the ranges that the process has registered. A range that cannot be valid,
    /// such as one that is not mapped, is left out, and a shortfall says so.
    pub(super) fn read_registered(&mut self) {
        let pid = self.process.pid;
        match told(pid, BUDGET, |told| self.take(told)) {
            Ok(0) => {}
            Ok(beyond) => {
                let why = format!(
                    "{beyond} ranges that the program registered are left out: more than {} of \
                     them, or more than {} in all, are not read",
                    BUDGET.ranges,
                    Bytes(BUDGET.bytes)
                );
                self.shortfalls.push(Shortfall::new(What::Registered, why));
            }
            // The process has ended, which `changes` reports.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => self.shortfalls.push(Shortfall {
                what: What::Registered,
                why: format!("/proc/{pid}/fd cannot be read: {error}"),
                needs: (error.kind() == io::ErrorKind::PermissionDenied)
                    .then(|| "CAP_SYS_PTRACE".to_owned()),
            }),
        }
        self.registered.sort_by(|a, b| (a.start, &a.label).cmp(&(b.start, &b.label)));
    }

    fn take(&mut self, told: io::Result<Told>) {
        let why = match told {
            // The memfd was inherited from a parent process, whose memory it describes.
            Ok(told) if self.process.pid_in_namespaces.last() != Some(&told.pid) => return,
            Ok(told) if told.page_size != self.machine.page_size => {
                format!("its pages are of {}", told.page_size)
            }
            Ok(told) => match range(&told, &self.areas) {
                Some(range) => return self.registered.push(range),
                None => "it is not mapped any more".to_owned(),
            },
            Err(error) => Name::from(error.to_string()).to_string(),
        };
        let why = format!("a range that the program registered is left out: {why}");
        self.shortfalls.push(Shortfall::new(What::Registered, why));
    }
}

/// How much is read of the ranges that a process registered: another program may have
/// registered more than memory here can hold.
#[derive(Clone, Copy, Debug)]
struct Budget {
    ranges: usize,
    /// Bytes of text and of counts by color.
    bytes: u64,
}

const BUDGET: Budget = Budget { ranges: 4096, bytes: 128 << 20 };

impl Budget {
    fn spend(&mut self, ranges: usize, bytes: u64) -> bool {
        let left = (self.ranges.checked_sub(ranges), self.bytes.checked_sub(bytes));
        let (Some(ranges), Some(bytes)) = left else { return false };
        *self = Budget { ranges, bytes };
        true
    }
}

/// Passes on the ranges in the open files of a process one by one; returns how many
/// were not read since they are beyond the budget.
fn told(
    pid: u32,
    mut budget: Budget,
    mut take: impl FnMut(io::Result<Told<'static>>),
) -> io::Result<usize> {
    let mut beyond = 0;
    for entry in fs::read_dir(format!("/proc/{pid}/fd"))? {
        let path = entry?.path();
        if !fs::read_link(&path).is_ok_and(|link| link.as_os_str() == LINK) {
            continue;
        }
        // Any file may have this name, so opening it must never block.
        let mut options = fs::OpenOptions::new();
        let opened = options.read(true).custom_flags(libc::O_NONBLOCK).open(&path);
        let len = opened.and_then(|file| Ok(Told::len_in(&file)?.map(|len| (file, len))));
        let told = match len {
            Ok(None) => continue,
            Ok(Some((_, len))) if !budget.spend(1, len) => {
                beyond += 1;
                continue;
            }
            Ok(Some((file, _))) => Told::read(&file),
            Err(error) => Err(error),
        };
        let counts = told.as_ref().map_or(0, |told| 8 * u64::from(told.colors.get()));
        if budget.spend(0, counts) { take(told) } else { beyond += 1 }
    }
    Ok(beyond)
}

/// The range as data; `None` unless all of it is mapped.
fn range(told: &Told, areas: &[Area]) -> Option<RegisteredMemory> {
    let pages = told.pages.len() as u64;
    let end = told.start + pages * told.page_size.0;
    let mut mapped = told.start;
    let first = areas.partition_point(|area| area.end <= told.start);
    for area in &areas[first..] {
        if area.start > mapped || mapped >= end {
            break;
        }
        mapped = area.end;
    }
    if mapped < end {
        return None;
    }
    let mut histogram = vec![0; told.colors.get() as usize];
    let mut tally = CellTally::new(CELLS, Some(told.colors));
    for (at, &color) in (0..).zip(told.pages.iter()) {
        color.into_iter().for_each(|color| histogram[color.index()] += 1);
        let kind = Kind::Anonymous;
        tally.add(&CellPage { at, kind, huge: false, node: None, color });
    }
    let mut cells = tally.into_cells();
    // The kind was needed only to add up; the area knows it.
    cells.cells.iter_mut().for_each(|cell| cell.kinds.clear());
    Some(RegisteredMemory {
        label: Name::new(told.label.as_bytes()),
        start: told.start,
        pages,
        method: told.method,
        colors: told.colors,
        ways: told.ways,
        known: told.pages.iter().flatten().count() as u64,
        balance: told.ways.map(|ways| Balance::of(histogram, ways)),
        cells,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        color::Color,
        map::Registration,
        mapping::{Mapping, PageKind},
    };

    #[test]
    fn no_more_is_read_of_what_a_program_told_than_can_be_held() {
        let memory = Mapping::reserve(1, PageKind::Base).unwrap();
        let label = "registered_memory::tests";
        let register = |pages: usize, colors| {
            let pages = vec![Some(Color(0)); pages];
            let colors = ColorCount::new(colors).unwrap();
            let method = Method::Measurement;
            Registration::new(label, memory.page(0), &pages, method, colors, None).unwrap()
        };
        // How many of the ranges of this test are passed on, and how many are not read.
        // Other tests of this process may have registered ranges too.
        let read = |ranges, bytes| {
            let mut mine = 0;
            let beyond = told(std::process::id(), Budget { ranges, bytes }, |told| {
                mine += usize::from(told.is_ok_and(|told| told.label == label));
            });
            (mine, beyond.unwrap())
        };
        let few: Vec<_> = (0..8).map(|_| register(1, 2)).collect();
        assert_eq!(read(1000, 1 << 20).0, 8);
        let (mine, beyond) = read(3, 1 << 20);
        assert!(mine <= 3 && beyond >= 5, "{mine}, {beyond}");
        drop(few);
        let long = register(100_000, 2);
        let (mine, beyond) = read(1000, 100_000);
        assert!(mine == 0 && beyond >= 1, "{mine}, {beyond}");
        drop(long);
        // A short text may ask for many counts.
        let _many = register(1, 1 << 20);
        let (mine, beyond) = read(1000, 1 << 20);
        assert!(mine == 0 && beyond >= 1, "{mine}, {beyond}");
        assert_eq!(read(1000, 16 << 20).0, 1);
    }
}
