// SPDX-License-Identifier: MIT OR Apache-2.0
//! Adds pages up: of one area, and of the whole process.

use std::collections::BTreeMap;

use super::{
    Cells, HugeCount, Kind, MappedCache, NodeCount, PageCounts, PageSummary,
    cell_tally::{CellPage, CellTally, add_node},
    frame_set::FrameSet,
    runs::RunTally,
    spread::Spread,
};
use crate::{
    color::Color,
    units::{Bytes, Pfn},
};

/// Facts about a page that is present or swapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Page {
    /// Counted from the area's start.
    pub at: u64,
    pub kind: Kind,
    /// The size of the huge page it is part of.
    pub huge: Option<Bytes>,
    /// One entry maps the whole huge page.
    pub huge_mapped: bool,
    /// The frame is mapped elsewhere too.
    pub shared: bool,
    /// `None` where hidden, and for pages that have none of their own.
    pub frame: Option<Pfn>,
    pub node: Option<u32>,
}

/// Which facts are visible in the whole map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope<'a> {
    pub caches: &'a [MappedCache],
    pub cell_cache: Option<usize>,
    /// Whether frame numbers are seen.
    pub frames: bool,
    /// Whether the map shows which pages are mapped huge.
    pub huge_mapped: bool,
}

/// Distinct frames by color.
#[derive(Debug)]
struct Frames {
    /// Only frames that are mapped more than once can come twice.
    shared: FrameSet,
    count: u64,
    spreads: Vec<Spread>,
}

impl Frames {
    fn new(scope: Scope) -> Self {
        let spreads = scope.caches.iter().map(|cache| Spread::new(cache.colors)).collect();
        Frames { shared: FrameSet::default(), count: 0, spreads }
    }

    fn add(&mut self, page: &Page, caches: &[MappedCache]) {
        let Some(frame) = page.frame else { return };
        if page.shared && !self.shared.insert(frame) {
            return;
        }
        self.count += 1;
        for (cache, spread) in caches.iter().zip(&mut self.spreads) {
            if cache.node.is_none() || cache.node == page.node {
                spread.add(color_in(cache, frame));
            }
        }
    }

    /// Stores counts and balances in the summary, if frames are visible.
    fn settle(&self, placement: &mut PageSummary, scope: Scope, whole: bool) {
        if scope.frames {
            placement.pages.frames = Some(self.count);
            let balances = scope.caches.iter().zip(&self.spreads);
            placement.balances =
                balances.map(|(cache, spread)| spread.balance(cache.ways, whole)).collect();
        }
    }
}

fn color_in(cache: &MappedCache, frame: Pfn) -> Color {
    Color((frame.0 % u64::from(cache.colors.get())) as u32)
}

/// The pages of one area.
#[derive(Debug)]
pub(super) struct AreaTally<'a> {
    scope: Scope<'a>,
    pages: PageCounts,
    huge: BTreeMap<Bytes, u64>,
    nodes: Vec<NodeCount>,
    runs: RunTally,
    frames: Frames,
    cells: CellTally,
}

impl<'a> AreaTally<'a> {
    /// No pages yet, of an area of so many.
    pub fn new(scope: Scope<'a>, reserved: u64, cells: usize) -> Self {
        let colors = scope.cell_cache.map(|shown| scope.caches[shown].colors);
        AreaTally {
            scope,
            pages: PageCounts {
                reserved,
                huge_mapped: scope.huge_mapped.then_some(0),
                ..PageCounts::default()
            },
            huge: BTreeMap::new(),
            nodes: Vec::new(),
            runs: RunTally::default(),
            frames: Frames::new(scope),
            cells: CellTally::new(cells, colors),
        }
    }

    /// Adds a page; pages come in ascending order.
    pub fn add(&mut self, page: &Page) {
        self.pages.add(page);
        if let Some(size) = page.huge {
            *self.huge.entry(size).or_default() += 1;
        }
        if let Some(node) = page.node {
            add_node(&mut self.nodes, NodeCount { node, pages: 1 });
        }
        self.frames.add(page, self.scope.caches);
        if let Some(run) = self.runs.add(page.at, page.frame) {
            self.cells.add_run(run);
        }
        let shown = self.scope.cell_cache.map(|shown| &self.scope.caches[shown]);
        let color = shown
            .zip(page.frame)
            .filter(|(cache, _)| cache.node.is_none() || cache.node == page.node);
        self.cells.add(&CellPage {
            at: page.at,
            kind: page.kind,
            huge: page.huge.is_some(),
            node: page.node,
            color: color.map(|(cache, frame)| color_in(cache, frame)),
        });
    }

    /// Where the pages are.
    pub fn finish(mut self) -> (PageSummary, Cells) {
        if let Some(run) = self.runs.end() {
            self.cells.add_run(run);
        }
        self.nodes.shrink_to_fit();
        let mut placement = PageSummary {
            pages: self.pages,
            huge: self.huge.into_iter().map(|(size, pages)| HugeCount { size, pages }).collect(),
            nodes: self.nodes,
            runs: self.scope.frames.then(|| self.runs.into_runs()),
            balances: Vec::new(),
        };
        self.frames.settle(&mut placement, self.scope, false);
        (placement, self.cells.into_cells())
    }
}

/// All pages.
#[derive(Debug)]
pub(super) struct TotalTally<'a> {
    scope: Scope<'a>,
    sum: PageSummary,
    frames: Frames,
}

impl<'a> TotalTally<'a> {
    /// No pages yet.
    pub fn new(scope: Scope<'a>) -> Self {
        let pages =
            PageCounts { huge_mapped: scope.huge_mapped.then_some(0), ..PageCounts::default() };
        let runs = scope.frames.then(Default::default);
        TotalTally {
            scope,
            sum: PageSummary { pages, runs, ..PageSummary::default() },
            frames: Frames::new(scope),
        }
    }

    /// Counts the frame of a page, unless it has come before.
    pub fn add_frame(&mut self, page: &Page) {
        self.frames.add(page, self.scope.caches);
    }

    /// Adds the counts of an area that is finished.
    pub fn add_area(&mut self, area: &PageSummary) {
        self.sum.add_counts(area);
    }

    /// Where all pages are.
    pub fn finish(mut self) -> PageSummary {
        self.frames.settle(&mut self.sum, self.scope, true);
        self.sum
    }
}

impl PageSummary {
    /// Adds the pages, huge pages, nodes and runs of another area. Distinct frames and
    /// balances stay as they are, since they follow from the frames only.
    pub fn add_counts(&mut self, area: &PageSummary) {
        self.pages.merge(&area.pages);
        for huge in &area.huge {
            match self.huge.binary_search_by_key(&huge.size, |sum| sum.size) {
                Ok(found) => self.huge[found].pages += huge.pages,
                Err(place) => self.huge.insert(place, *huge),
            }
        }
        area.nodes.iter().for_each(|count| add_node(&mut self.nodes, *count));
        if let Some(runs) = &area.runs {
            self.runs.get_or_insert_default().merge(runs);
        }
    }
}

impl PageCounts {
    /// The pages of one kind.
    pub fn of(&self, kind: Kind) -> u64 {
        let mut counts = *self;
        *counts.of_mut(kind)
    }

    fn of_mut(&mut self, kind: Kind) -> &mut u64 {
        match kind {
            Kind::Anonymous => &mut self.anonymous,
            Kind::Ksm => &mut self.ksm,
            Kind::Zero => &mut self.zero,
            Kind::File => &mut self.file,
            Kind::SharedMemory => &mut self.shared_memory,
            Kind::Hugetlb => &mut self.hugetlb,
            Kind::Special => &mut self.special,
            Kind::Swapped => &mut self.swapped,
        }
    }

    fn add(&mut self, page: &Page) {
        *self.of_mut(page.kind) += 1;
        self.present += u64::from(page.kind != Kind::Swapped);
        self.shared += u64::from(page.shared);
        if let Some(mapped) = &mut self.huge_mapped {
            *mapped += u64::from(page.huge_mapped);
        }
    }

    fn merge(&mut self, other: &PageCounts) {
        Kind::ALL.iter().for_each(|&kind| *self.of_mut(kind) += other.of(kind));
        self.reserved += other.reserved;
        self.present += other.present;
        self.shared += other.shared;
        if let (Some(mapped), Some(more)) = (&mut self.huge_mapped, other.huge_mapped) {
            *mapped += more;
        }
    }
}
