// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads the page tables of a process, area by area, in large pieces.
//!
//! Entries of many areas are gathered into a batch, so that the flags of their
//! frames can be read in the order of frames: neighbors in memory, however far
//! apart they are mapped, are read together.

use std::io;

use super::{
    Cells, PageSummary,
    classify::classify,
    tally::{AreaTally, Scope, TotalTally},
};
use crate::{
    frames::{FlagWords, FrameFlags, FrameNodes, PageState, Pagemap, Populated, for_flags_of},
    proc::{AreaLine, VmFlags},
    units::{Bytes, Pfn},
};

/// Bits of the number of a page in a batch.
const INDEX: u32 = 20;

/// Pages in a batch, of which each takes 32 bytes meanwhile. The more there
/// are, the nearer their frames are to each other once sorted: frames of 8 GiB
/// in no order are read in half the time of batches of 2^17.
const BATCH: usize = 1 << INDEX;

/// Entries of the page table that are read together.
const ENTRIES: usize = 8192;

/// Populated ranges that one scan returns at most.
const RANGES: usize = 4096;

/// Empty pages that are read along rather than left out.
const GAP: u64 = 512;

/// Areas of up to this many pages are read as a whole if flags of frames show all that
/// a scan would show: reading the entries costs less than a scan.
const SMALL: u64 = 256;

/// So many of the fullest areas keep their cells while others get coarser.
const FULLEST: usize = 64;

/// Areas from this many pages on are left out if the kernel counts nothing in them and
/// has no scan.
const LARGE: u64 = 1 << 18;

/// Everything that can be asked about the pages of a process.
pub(super) struct Sources<'a> {
    pub pagemap: &'a Pagemap,
    /// Whether the kernel has `PAGEMAP_SCAN`.
    pub scan: bool,
    /// Flags of frames; `None` where they, or the frame numbers, are hidden.
    pub flags: Option<&'a dyn FlagWords>,
    pub nodes: &'a FrameNodes,
    pub page_size: Bytes,
    pub cells_per_area: usize,
    pub cells_in_all: usize,
}

/// What was found.
#[derive(Debug)]
pub(super) struct Gathered {
    /// One for every area that was reached.
    pub areas: Vec<(PageSummary, Cells)>,
    pub total: PageSummary,
    /// Large areas left out since the kernel counts nothing there; pages of
    /// zeros may be in them.
    pub left_out: u64,
    /// Whether the address space went away before the end.
    pub gone: bool,
}

/// An entry of the page table with what the scan said of it.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The address in page sizes; areas come in ascending order.
    number: u64,
    state: PageState,
}

/// Reads all of `lines`.
///
/// # Errors
/// What reading the files reports, other than that the process is gone.
pub(super) fn gather<'a>(
    sources: &'a Sources<'a>,
    scope: Scope<'a>,
    lines: &'a [AreaLine],
) -> io::Result<Gathered> {
    let mut gatherer = Gatherer {
        sources,
        scope,
        lines,
        batch: Vec::new(),
        current: None,
        cells: 0,
        trigger: sources.cells_in_all,
        total: TotalTally::new(scope),
        gathered: Vec::new(),
        left_out: 0,
    };
    let mut gone_at = None;
    for index in 0..lines.len() {
        let is_there = match gatherer.area(index) {
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => false,
            read => read?,
        };
        if !is_there {
            gone_at = Some(index);
            break;
        }
    }
    gatherer.flush()?;
    // The area that broke off is shown with what was read of it.
    gatherer.go_to(gone_at.map_or(lines.len(), |index| index + 1));
    gatherer.limit_cells();
    Ok(Gathered {
        areas: gatherer.gathered,
        total: gatherer.total.finish(),
        left_out: gatherer.left_out,
        gone: gone_at.is_some(),
    })
}

struct Gatherer<'a> {
    sources: &'a Sources<'a>,
    scope: Scope<'a>,
    lines: &'a [AreaLine],
    batch: Vec<Slot>,
    /// The area being added up: the one after those in `gathered`.
    current: Option<AreaTally<'a>>,
    /// Cells in `gathered`, and past how many they are made fewer.
    cells: usize,
    trigger: usize,
    total: TotalTally<'a>,
    gathered: Vec<(PageSummary, Cells)>,
    left_out: u64,
}

impl Gatherer<'_> {
    /// Reads one area; false where the address space is gone.
    fn area(&mut self, index: usize) -> io::Result<bool> {
        let line = &self.lines[index];
        // The vsyscall page of x86-64 is not in the process's own page table.
        if line.end > 1 << 63 {
            return Ok(true);
        }
        let page = self.sources.page_size.0;
        let pages = (line.end - line.start) / page;
        if self.sources.scan && (pages > SMALL || self.sources.flags.is_none()) {
            return self.scanned(index);
        }
        let counts = line.counts.unwrap_or_default();
        let nothing = [counts.rss, counts.swap, counts.hugetlb].iter().all(|bytes| bytes.0 == 0);
        if pages >= LARGE
            && nothing
            && line.counts.is_some()
            && !line.flags.any(VmFlags::FRAMES_ONLY)
        {
            self.left_out += 1;
            return Ok(true);
        }
        self.entries(line.start / page, line.end / page, &[])
    }

    /// Reads the populated parts of an area.
    fn scanned(&mut self, index: usize) -> io::Result<bool> {
        let line = &self.lines[index];
        let page = self.sources.page_size.0;
        let mut found = vec![Populated::default(); RANGES];
        let mut from = line.start;
        while from < line.end {
            let (count, next) = self.sources.pagemap.scan(from..line.end, &mut found)?;
            let near = |a: &Populated, b: &Populated| {
                b.addresses().start - a.addresses().end <= GAP * page
            };
            for group in found[..count].chunk_by(near) {
                let (first, last) = (&group[0], &group[group.len() - 1]);
                let (first, last) = (first.addresses().start / page, last.addresses().end / page);
                if !self.entries(first, last, group)? {
                    return Ok(false);
                }
            }
            if next <= from {
                break;
            }
            from = next;
        }
        Ok(true)
    }

    /// Reads the entries of pages `first` to `last`; `ranges` has what the scan found
    /// there.
    fn entries(&mut self, first: u64, last: u64, mut ranges: &[Populated]) -> io::Result<bool> {
        let page = self.sources.page_size.0;
        let mut states = [PageState::default(); ENTRIES];
        let mut number = first;
        while number < last {
            let wanted = (last - number).min(ENTRIES as u64) as usize;
            let count = self.sources.pagemap.read_numbered(number, &mut states[..wanted])?;
            for (number, &state) in (number..).zip(&states[..count]) {
                if !state.present() && !state.swapped() {
                    continue;
                }
                let address = number * page;
                while ranges.first().is_some_and(|range| range.addresses().end <= address) {
                    ranges = &ranges[1..];
                }
                let range = ranges.first().filter(|range| range.addresses().contains(&address));
                let zero = range.is_some_and(Populated::zero);
                let huge = range.is_some_and(Populated::huge);
                self.batch.push(Slot { number, state: state.with_scan(zero, huge) });
                if self.batch.len() == BATCH {
                    self.flush()?;
                }
            }
            if count < wanted {
                return Ok(false);
            }
            number += count as u64;
        }
        Ok(true)
    }

    /// Adds the batch up.
    fn flush(&mut self) -> io::Result<()> {
        let batch = std::mem::take(&mut self.batch);
        let flags = self.flags(&batch)?;
        let page = self.sources.page_size.0;
        for (index, slot) in batch.iter().enumerate() {
            let mut area = self.gathered.len();
            while self.lines[area].end <= slot.number * page {
                area += 1;
            }
            self.go_to(area);
            let flags = flags.as_ref().map(|flags| flags[index]);
            let page = classify(slot.number, slot.state, flags, &self.lines[area], self.sources);
            self.total.add_frame(&page);
            self.current.as_mut().expect("go_to has begun this area").add(&page);
        }
        self.batch = batch;
        self.batch.clear();
        Ok(())
    }

    /// The flags of every slot's frame, read in the order of frames.
    fn flags(&self, batch: &[Slot]) -> io::Result<Option<Vec<FrameFlags>>> {
        let Some(source) = self.sources.flags else { return Ok(None) };
        // Frame and index in one number: physical addresses have at most 52 bits, so
        // frame numbers have 40.
        let framed = (0u64..).zip(batch);
        let mut order: Vec<u64> =
            framed.filter_map(|(index, slot)| Some(slot.state.pfn()?.0 << INDEX | index)).collect();
        order.sort_unstable();
        let mut flags = vec![FrameFlags::default(); batch.len()];
        for_flags_of(
            source,
            &order,
            |item| Pfn(item >> INDEX),
            |item, found| flags[(item & (BATCH as u64 - 1)) as usize] = found,
        )?;
        Ok(Some(flags))
    }

    /// Finishes areas until `area` is the one being added up.
    fn go_to(&mut self, area: usize) {
        while self.gathered.len() < area {
            let tally = self.current.take().unwrap_or_else(|| self.begin(self.gathered.len()));
            let (placement, cells) = tally.finish();
            self.total.add_area(&placement);
            self.cells += cells.cells.len();
            self.gathered.push((placement, cells));
            if self.cells > self.trigger {
                self.limit_cells();
                // So that not every further area tries again if one cell for each area
                // is too many.
                self.trigger = self.sources.cells_in_all.max(2 * self.cells);
            }
        }
        if self.current.is_none() && area < self.lines.len() {
            self.current = Some(self.begin(area));
        }
    }

    fn begin<'b>(&self, area: usize) -> AreaTally<'b>
    where
        Self: 'b,
    {
        let line = &self.lines[area];
        let pages = (line.end - line.start) / self.sources.page_size.0;
        AreaTally::new(self.scope, pages, self.sources.cells_per_area)
    }

    /// Makes cells coarser until they are no more than allowed: those of the
    /// fullest areas last, since pictures show these.
    fn limit_cells(&mut self) {
        let touched = |(placement, _): &(PageSummary, Cells)| {
            placement.pages.present + placement.pages.swapped
        };
        let mut pages: Vec<u64> = self.gathered.iter().map(touched).collect();
        pages.sort_unstable_by(|a, b| b.cmp(a));
        let full = pages.get(FULLEST).copied();
        for fullest in [false, true] {
            let mut limit = self.sources.cells_per_area;
            while self.cells > self.sources.cells_in_all && limit > 1 {
                limit /= 2;
                self.cells = 0;
                for area in &mut self.gathered {
                    if full.is_none_or(|full| touched(area) > full) == fullest {
                        area.1.limit(limit);
                    }
                    self.cells += area.1.cells.len();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
