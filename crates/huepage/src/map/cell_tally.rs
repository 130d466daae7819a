// SPDX-License-Identifier: MIT OR Apache-2.0
//! Gathers pages into cells, coarser ones as there are more.

use super::{
    Cell, Cells, Kind, KindCount, NodeCount, RunPages,
    runs::{FrameRun, class},
};
use crate::color::{Color, ColorCount};

/// What a cell needs to know of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellPage {
    pub at: u64,
    pub kind: Kind,
    pub huge: bool,
    pub node: Option<u32>,
    pub color: Option<Color>,
}

/// Cells under way: at most so many.
#[derive(Debug)]
pub(super) struct CellTally {
    cells: Cells,
    limit: usize,
    colors: Option<ColorCount>,
}

impl CellTally {
    /// No cells yet, of one page each; `colors` are those of the pages added.
    pub fn new(limit: usize, colors: Option<ColorCount>) -> Self {
        let cells = Cells { pages_each: 1, cells: Vec::new() };
        CellTally { cells, limit: limit.max(1), colors }
    }

    /// Adds a page; pages come in ascending order.
    pub fn add(&mut self, page: &CellPage) {
        let cell = self.cell_of(page.at);
        cell.pages += 1;
        cell.huge += u64::from(page.huge);
        add_kind(&mut cell.kinds, KindCount { kind: page.kind, pages: 1 });
        if let Some(node) = page.node {
            add_node(&mut cell.nodes, NodeCount { node, pages: 1 });
        }
        if let (Some(color), Some(colors)) = (page.color, self.colors) {
            let bands = colors.get().min(Cell::BANDS);
            let band = u64::from(color.0) * u64::from(bands) / u64::from(colors.get());
            let cell = self.cells.cells.last_mut().expect("the page was just added to one");
            cell.colors.resize(bands as usize, 0);
            cell.colors[band as usize] += 1;
        }
    }

    /// Adds the length of a run to the cells that its pages are in.
    pub fn add_run(&mut self, run: FrameRun) {
        let each = self.cells.pages_each;
        let cells = &mut self.cells.cells;
        let first = cells.partition_point(|cell| cell.at < run.at / each);
        for cell in &mut cells[first..] {
            let from = run.at.max(cell.at * each);
            let to = (run.at + run.pages).min((cell.at + 1) * each);
            if from >= to {
                break;
            }
            add_run(&mut cell.runs, RunPages { from: class(run.pages), pages: to - from });
        }
    }

    /// The cells, in no more memory than they need: there may be areas by the
    /// ten thousand, with one cell each.
    pub fn into_cells(mut self) -> Cells {
        let cells = &mut self.cells.cells;
        cells.shrink_to_fit();
        for cell in cells {
            cell.kinds.shrink_to_fit();
            cell.nodes.shrink_to_fit();
            cell.runs.shrink_to_fit();
        }
        self.cells
    }

    fn cell_of(&mut self, page: u64) -> &mut Cell {
        while self.is_new(page) && self.cells.cells.len() >= self.limit && self.coarsen(page) {}
        let at = page / self.cells.pages_each;
        if self.is_new(page) {
            self.cells.cells.push(Cell { at, ..Cell::default() });
        }
        self.cells.cells.last_mut().expect("at least the one just pushed")
    }

    fn is_new(&self, page: u64) -> bool {
        self.cells.cells.last().is_none_or(|cell| cell.at != page / self.cells.pages_each)
    }

    /// Doubles the size of cells; false where all pages are in one cell already.
    fn coarsen(&mut self, page: u64) -> bool {
        if page / self.cells.pages_each == 0 {
            return false;
        }
        self.cells.coarsen();
        true
    }
}

impl Cells {
    /// Makes the cells coarser until there are at most `limit` (at least one).
    pub(super) fn limit(&mut self, limit: usize) {
        while self.cells.len() > limit.max(1) {
            self.coarsen();
        }
    }

    /// Doubles the size of cells.
    fn coarsen(&mut self) {
        self.pages_each *= 2;
        let mut coarse: Vec<Cell> = Vec::with_capacity(self.cells.len() / 2 + 1);
        for mut cell in self.cells.drain(..) {
            cell.at /= 2;
            match coarse.last_mut().filter(|last| last.at == cell.at) {
                Some(last) => last.merge(cell),
                None => coarse.push(cell),
            }
        }
        self.cells = coarse;
    }
}

impl Cell {
    fn merge(&mut self, other: Cell) {
        self.pages += other.pages;
        self.huge += other.huge;
        other.kinds.into_iter().for_each(|count| add_kind(&mut self.kinds, count));
        other.nodes.into_iter().for_each(|count| add_node(&mut self.nodes, count));
        other.runs.into_iter().for_each(|count| add_run(&mut self.runs, count));
        if self.colors.is_empty() {
            self.colors = other.colors;
        } else {
            self.colors.iter_mut().zip(other.colors).for_each(|(sum, more)| *sum += more);
        }
    }
}

fn add_kind(counts: &mut Vec<KindCount>, more: KindCount) {
    match counts.binary_search_by_key(&more.kind, |count| count.kind) {
        Ok(found) => counts[found].pages += more.pages,
        Err(place) => counts.insert(place, more),
    }
}

/// Adds pages of a node to a list by node.
pub(super) fn add_node(counts: &mut Vec<NodeCount>, more: NodeCount) {
    match counts.binary_search_by_key(&more.node, |count| count.node) {
        Ok(found) => counts[found].pages += more.pages,
        Err(place) => counts.insert(place, more),
    }
}

fn add_run(counts: &mut Vec<RunPages>, more: RunPages) {
    match counts.binary_search_by_key(&more.from, |count| count.from) {
        Ok(found) => counts[found].pages += more.pages,
        Err(place) => counts.insert(place, more),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    fn page(at: u64) -> CellPage {
        CellPage {
            at,
            kind: Kind::ALL[at as usize % 8],
            huge: at.is_multiple_of(3),
            node: (!at.is_multiple_of(5)).then_some(at as u32 % 2),
            color: (!at.is_multiple_of(7)).then_some(Color(at as u32 % 4)),
        }
    }

    #[test]
    fn few_pages_are_shown_one_by_one_and_holes_are_left_out() {
        let mut tally = CellTally::new(8, ColorCount::new(4));
        for at in [3, 4, 1 << 40] {
            tally.add(&page(at));
        }
        tally.add_run(FrameRun { at: 3, pages: 2 });
        let cells = tally.into_cells();
        assert_eq!(cells.pages_each, 1);
        assert_eq!(cells.cells.iter().map(|c| c.at).collect::<Vec<_>>(), [3, 4, 1 << 40]);
        assert_eq!(cells.cells[0].kinds, [KindCount { kind: Kind::File, pages: 1 }]);
        assert_eq!(cells.cells[0].colors, [0, 0, 0, 1]);
        assert_eq!(cells.cells[1].runs, [RunPages { from: 2, pages: 1 }]);
        assert!(cells.cells[2].runs.is_empty());
    }

    #[test]
    fn many_colors_are_told_in_bands() {
        let mut tally = CellTally::new(8, ColorCount::new(1024));
        for (at, color) in [(0, 0), (1, 3), (2, 1023)] {
            tally.add(&CellPage { color: Some(Color(color)), ..page(at) });
        }
        let mut cells = tally.into_cells();
        cells.limit(1);
        assert_eq!(cells.cells[0].colors.len(), 256);
        assert_eq!((cells.cells[0].colors[0], cells.cells[0].colors[255]), (2, 1));
    }

    proptest! {
        #[test]
        fn cells_are_what_counting_afterwards_finds(
            pages in proptest::collection::btree_set(
                prop_oneof![0u64..300, (1u64 << 30)..(1 << 30) + 300], 1..200),
            limit in 1usize..20,
            squeeze in 1usize..20,
        ) {
            let mut tally = CellTally::new(limit, ColorCount::new(4));
            // Runs are those of the page numbers themselves, ending as they do.
            let mut runs = super::super::runs::RunTally::default();
            for &at in &pages {
                let ended = runs.add(at, Some(crate::units::Pfn(at)));
                ended.into_iter().for_each(|run| tally.add_run(run));
                tally.add(&page(at));
            }
            runs.end().into_iter().for_each(|run| tally.add_run(run));
            let mut cells = tally.into_cells();
            cells.limit(squeeze);
            prop_assert!(cells.cells.len() <= limit.min(squeeze));
            prop_assert!(cells.pages_each.is_power_of_two());

            let each = cells.pages_each;
            let ats: BTreeSet<u64> = pages.iter().map(|at| at / each).collect();
            prop_assert!(cells.cells.iter().map(|cell| cell.at).eq(ats));
            for cell in &cells.cells {
                let inside: Vec<CellPage> = pages.range(cell.at * each..(cell.at + 1) * each)
                    .map(|&at| page(at)).collect();
                prop_assert_eq!(cell.pages, inside.len() as u64);
                prop_assert_eq!(cell.huge, inside.iter().filter(|p| p.huge).count() as u64);
                let mut kinds: BTreeMap<Kind, u64> = BTreeMap::new();
                let mut nodes: BTreeMap<u32, u64> = BTreeMap::new();
                let mut colors = vec![0; 4];
                let mut classes: BTreeMap<u64, u64> = BTreeMap::new();
                for page in &inside {
                    *kinds.entry(page.kind).or_default() += 1;
                    page.node.into_iter().for_each(|n| *nodes.entry(n).or_default() += 1);
                    page.color.into_iter().for_each(|c| colors[c.index()] += 1);
                    let after = (page.at..).take_while(|at| pages.contains(at)).count();
                    let before = (0..page.at).rev().take_while(|at| pages.contains(at)).count();
                    *classes.entry(class((before + after) as u64)).or_default() += 1;
                }
                prop_assert!(cell.kinds.iter().map(|k| (k.kind, k.pages)).eq(kinds));
                prop_assert!(cell.nodes.iter().map(|n| (n.node, n.pages)).eq(nodes));
                prop_assert!(cell.runs.iter().map(|r| (r.from, r.pages)).eq(classes));
                let colored = colors.iter().any(|&n| n > 0);
                prop_assert_eq!(&cell.colors, if colored { &colors } else { &cell.colors });
                prop_assert!(colored || cell.colors.is_empty());
            }
        }
    }
}
