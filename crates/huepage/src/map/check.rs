// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a map that was read back is consistent: code that draws it relies on that.

use super::{Area, Balance, Cell, Cells, Kind, MappedCache, PageCounts, PageSummary, ProcessMap};
use crate::{color::ColorCount, units::Bytes};

/// More pages than any address space has: sums stay far from overflowing.
const MOST: u64 = 1 << 52;

/// Wrong values, for people.
type Checked = Result<(), String>;

fn ensure(holds: bool, complaint: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(complaint()) }
}

impl ProcessMap {
    /// Checks everything that follows from how maps are made.
    pub(super) fn check(&self) -> Checked {
        let page = self.machine.page_size;
        ensure(page.0.is_power_of_two() && page >= Bytes(512), || {
            format!("a page of {} bytes", page.0)
        })?;
        ensure(self.seconds.is_finite(), || "it took no finite time".to_owned())?;
        for cache in &self.caches {
            ensure(cache.colors.get() > 1 && cache.ways > 0, || {
                format!("a cache of {} colors and {} ways", cache.colors, cache.ways)
            })?;
        }
        ensure(self.cell_cache.is_none_or(|shown| shown < self.caches.len()), || {
            format!("cell_cache is {:?} of {} caches", self.cell_cache, self.caches.len())
        })?;
        let colors = self.cell_cache.map(|shown| self.caches[shown].colors);
        self.total.check(&self.caches).map_err(|what| format!("total: {what}"))?;
        let mut end = 0;
        for area in &self.areas {
            let at = |what| format!("area {:#x}: {what}", area.start);
            ensure(area.start >= end, || at("it begins within the one before".to_owned()))?;
            end = area.end;
            area.check(&self.caches, colors, page).map_err(at)?;
        }
        for range in &self.registered {
            let at = |what| format!("registered range {:#x}: {what}", range.start);
            let bytes = range.pages.checked_mul(page.0);
            ensure(bytes.and_then(|bytes| range.start.checked_add(bytes)).is_some(), || {
                at(format!("{} pages", range.pages))
            })?;
            ensure(range.known <= range.pages, || at("more colors than pages".to_owned()))?;
            range.cells.check(range.pages, Some(range.colors)).map_err(at)?;
            if let Some(balance) = &range.balance {
                balance.check(range.colors, range.ways.unwrap_or(0)).map_err(at)?;
            }
        }
        Ok(())
    }
}

impl Area {
    fn check(&self, caches: &[MappedCache], colors: Option<ColorCount>, page: Bytes) -> Checked {
        let whole = self.start.is_multiple_of(page.0) && self.end.is_multiple_of(page.0);
        ensure(self.start < self.end && whole, || format!("it ends at {:#x}", self.end))?;
        let pages = (self.end - self.start) / page.0;
        ensure(self.placement.pages.reserved == pages, || {
            format!("{} pages reserved of {pages}", self.placement.pages.reserved)
        })?;
        ensure(self.permissions.len() <= 16 && self.permissions.is_ascii(), || {
            "permissions of another shape".to_owned()
        })?;
        ensure(!self.permissions.contains(|c: char| c.is_ascii_control()), || {
            "permissions of another shape".to_owned()
        })?;
        self.placement.check(caches)?;
        self.cells.check(pages, colors)
    }
}

impl PageSummary {
    fn check(&self, caches: &[MappedCache]) -> Checked {
        self.pages.check()?;
        let huge: u64 = sum(self.huge.iter().map(|huge| huge.pages))?;
        let nodes: u64 = sum(self.nodes.iter().map(|node| node.pages))?;
        let present = self.pages.present;
        ensure(huge <= present, || format!("{huge} pages in huge ones, {present} present"))?;
        // Nodes may be the kernel's own count, of another moment.
        ensure(nodes <= MOST, || format!("{nodes} pages on nodes"))?;
        ascending(self.huge.iter().map(|huge| huge.size.0), "huge")?;
        ascending(self.nodes.iter().map(|node| u64::from(node.node)), "nodes")?;
        if let Some(runs) = &self.runs {
            let (count, pages) = (
                sum(runs.histogram.iter().map(|bucket| bucket.runs))?,
                sum(runs.histogram.iter().map(|bucket| bucket.pages))?,
            );
            let sane = count == runs.count && runs.longest <= pages && pages <= present;
            ensure(sane, || format!("{count} runs of {pages} pages"))?;
            ascending(runs.histogram.iter().map(|bucket| bucket.from), "runs.histogram")?;
        }
        let given = self.balances.len();
        ensure(given == 0 || given == caches.len(), || {
            format!("{given} balances of {} caches", caches.len())
        })?;
        let mut pairs = self.balances.iter().zip(caches);
        pairs.try_for_each(|(balance, cache)| balance.check(cache.colors, cache.ways))
    }
}

impl PageCounts {
    fn check(&self) -> Checked {
        let present = Kind::ALL.iter().filter(|kind| **kind != Kind::Swapped);
        let present = sum(present.map(|kind| self.of(*kind)))?;
        ensure(present == self.present, || {
            format!("kinds add up to {present}, {} present", self.present)
        })?;
        let touched = sum([present, self.swapped])?;
        let sane = touched <= self.reserved && self.reserved <= MOST;
        ensure(sane, || format!("{touched} pages of {} reserved", self.reserved))?;
        let parts = [Some(self.shared), self.huge_mapped, self.frames];
        ensure(parts.into_iter().flatten().all(|part| part <= MOST), || {
            "more pages than there can be".to_owned()
        })
    }
}

impl Balance {
    fn check(&self, colors: ColorCount, ways: u32) -> Checked {
        let room = u64::from(colors.get()) * u64::from(ways);
        let sane = self.frames <= MOST
            && self.held.checked_add(self.imbalance) == Some(self.frames.min(room))
            && self.fewest <= self.most
            && self.most <= self.frames
            && self.imbalance_if_random.is_finite()
            && self.imbalance_if_random >= 0.0;
        ensure(sane, || "a balance that does not add up".to_owned())?;
        if self.histogram.is_empty() {
            return Ok(());
        }
        let (listed, counted) = (self.histogram.len(), sum(self.histogram.iter().copied())?);
        ensure(listed == colors.get() as usize && counted == self.frames, || {
            format!("a histogram of {listed} colors and {counted} frames")
        })
    }
}

impl Cells {
    fn check(&self, pages: u64, colors: Option<ColorCount>) -> Checked {
        let each = self.pages_each;
        ensure(each.is_power_of_two(), || format!("cells of {each} pages"))?;
        ascending(self.cells.iter().map(|cell| cell.at), "cells")?;
        self.cells.iter().try_for_each(|cell| {
            let first = cell.at.checked_mul(each);
            ensure(first.is_some_and(|first| first < pages), || {
                format!("cell {} of {pages} pages", cell.at)
            })?;
            cell.check(each, colors).map_err(|what| format!("cell {}: {what}", cell.at))
        })
    }
}

impl Cell {
    fn check(&self, each: u64, colors: Option<ColorCount>) -> Checked {
        ensure((1..=each).contains(&self.pages), || format!("{} pages", self.pages))?;
        let parts = [
            ("kinds", sum(self.kinds.iter().map(|kind| kind.pages))?),
            ("huge", self.huge),
            ("nodes", sum(self.nodes.iter().map(|node| node.pages))?),
            ("colors", sum(self.colors.iter().map(|&pages| u64::from(pages)))?),
            ("runs", sum(self.runs.iter().map(|run| run.pages))?),
        ];
        for (what, part) in parts {
            ensure(part <= self.pages, || format!("{part} {what} of {} pages", self.pages))?;
        }
        ascending(self.kinds.iter().map(|kind| kind.kind.index() as u64), "kinds")?;
        ascending(self.nodes.iter().map(|node| u64::from(node.node)), "nodes")?;
        ascending(self.runs.iter().map(|run| run.from), "runs")?;
        let bands = colors.map_or(0, |colors| colors.get().min(Cell::BANDS)) as usize;
        ensure(self.colors.is_empty() || self.colors.len() == bands, || {
            format!("{} colors of {bands}", self.colors.len())
        })
    }
}

/// The sum, where it is no more than there can be.
fn sum(parts: impl IntoIterator<Item = u64>) -> Result<u64, String> {
    let sum = parts.into_iter().try_fold(0u64, |sum, part| sum.checked_add(part));
    sum.filter(|&sum| sum <= MOST).ok_or_else(|| "more pages than there can be".to_owned())
}

fn ascending(keys: impl Iterator<Item = u64>, what: &str) -> Checked {
    ensure(keys.is_sorted_by(|a, b| a < b), || format!("{what} out of order"))
}
