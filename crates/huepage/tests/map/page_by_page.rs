// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program with known placement is shown exactly, page by page.

use std::collections::BTreeMap;

use huepage::{
    color::Method,
    map::{Area, HugeCount, Kind, MapOptions, PageSummary, ProcessMap},
    mapping::page_size,
    units::Bytes,
};

use crate::processes::{area, frames_visible, known_placement, map};

/// Without the counts that other programs change by mapping the same files.
fn still(placement: &PageSummary) -> PageSummary {
    let mut placement = placement.clone();
    placement.pages.shared = 0;
    placement
}

struct Known {
    map: ProcessMap,
    ranges: BTreeMap<String, (u64, u64)>,
}

impl Known {
    /// The area of a range, if this machine could make it.
    fn area(&self, name: &str) -> Option<&Area> {
        let (start, pages) = self.ranges.get(name)?;
        let area = area(&self.map, *start);
        assert_eq!(area.placement.pages.reserved, *pages, "{name}");
        Some(area)
    }

    /// All pages present in the range are of one kind, and these are they.
    fn pages(&self, name: &str, kind: Kind, expected: &[u64]) {
        let Some(area) = self.area(name) else { return eprintln!("no {name} on this machine") };
        let pages = &area.placement.pages;
        assert_eq!(pages.of(kind), expected.len() as u64, "{name}: {pages:?}");
        assert_eq!(pages.present + pages.swapped, expected.len() as u64, "{name}: {pages:?}");
        assert_eq!(area.cells.pages_each, 1, "{name}");
        let shown: Vec<u64> = area.cells.cells.iter().map(|cell| cell.at).collect();
        assert_eq!(shown, expected, "{name}");
        for cell in &area.cells.cells {
            assert_eq!((cell.kinds[0].kind, cell.kinds[0].pages), (kind, 1), "{name}");
        }
    }
}

fn all(pages: u64) -> Vec<u64> {
    (0..pages).collect()
}

/// KSM turned on while the value lives, where that is allowed. It touches only
/// memory whose program has asked for it.
struct Ksm;

impl Ksm {
    const SWITCH: &str = "/sys/kernel/mm/ksm/run";

    fn on() -> Option<Self> {
        let off = std::fs::read_to_string(Self::SWITCH).ok()?.trim() == "0";
        (off && std::fs::write(Self::SWITCH, "1").is_ok()).then_some(Ksm)
    }
}

impl Drop for Ksm {
    fn drop(&mut self) {
        let _ = std::fs::write(Self::SWITCH, "0");
    }
}

#[test]
fn every_range_is_shown_as_it_was_made() {
    let _ksm = Ksm::on();
    let (running, ranges) = known_placement();
    let known = Known { map: map(running.pid(), &MapOptions::default()), ranges };
    let visible = frames_visible();
    let seen = |kind, otherwise| if visible { kind } else { otherwise };

    known.pages("zero", Kind::Zero, &all(16));
    let holes: Vec<u64> = (0..8).chain([16, 63]).collect();
    known.pages("holes", Kind::Anonymous, &holes);
    known.pages("guarded", Kind::Anonymous, &[0, 2, 3]);
    known.pages("huge-64k", Kind::Anonymous, &all(16));
    known.pages("reserved", Kind::Anonymous, &[]);
    known.pages("shared-memory", seen(Kind::SharedMemory, Kind::File), &all(4));
    known.pages("ksm", seen(Kind::Ksm, Kind::Anonymous), &all(32));
    known.pages("swapped", Kind::Swapped, &all(16));
    // A file system of memory holds its files as shared memory.
    let file = known.area("file").unwrap();
    assert_eq!(file.placement.pages.present, 8);
    assert_eq!(file.placement.pages.file + file.placement.pages.shared_memory, 8);
    assert_eq!(file.kernel.unwrap().rss.0, 8 * page_size().0);

    if visible {
        let zero = &known.area("zero").unwrap().placement;
        assert_eq!((zero.pages.frames, zero.runs.as_ref().unwrap().count), (Some(0), 0));
        if let Some(merged) = known.area("ksm") {
            assert_eq!(merged.placement.pages.frames, Some(1), "32 pages of the same contents");
            assert_eq!(merged.placement.pages.shared, 32);
        }
        // The kernel may be short of free memory in one piece.
        if let Some(small) = known.area("huge-64k").filter(|area| !area.placement.huge.is_empty()) {
            let huge = small.placement.huge[0];
            assert_eq!((huge.size, huge.pages), (Bytes::kib(64), 16));
            assert_eq!(small.placement.pages.huge_mapped, Some(0));
        }
        if let Some(pool) = known.area("hugetlb") {
            let (size, pages) = (Bytes::mib(2), 1024);
            assert_eq!(pool.page_size, size);
            assert_eq!(pool.placement.pages.hugetlb, pages);
            assert_eq!(pool.placement.huge, [HugeCount { size, pages }]);
        }
        let runs = known.area("holes").unwrap().placement.runs.as_ref().unwrap();
        assert_eq!(runs.histogram.iter().map(|bucket| bucket.pages).sum::<u64>(), 10);
    }
}

#[test]
fn huge_pages_have_their_size_and_are_one_run_each() {
    let (running, ranges) = known_placement();
    let known = Known { map: map(running.pid(), &MapOptions::default()), ranges };
    let area = known.area("huge").unwrap();
    let (placement, each) = (&area.placement, (2 << 20) / page_size().0);
    assert_eq!(placement.pages.anonymous, 2 * each);
    let granted = area.kernel.unwrap().anon_huge_pages.unwrap().0 / page_size().0;
    assert_eq!(placement.pages.huge_mapped, Some(granted));
    if granted < 2 * each {
        return eprintln!("the kernel granted {granted} pages of {}", 2 * each);
    }
    // 1024 pages are too many for a cell each.
    assert_eq!(area.cells.cells.iter().map(|cell| cell.pages).sum::<u64>(), 2 * each);
    if frames_visible() {
        assert_eq!(placement.huge.len(), 1);
        assert_eq!((placement.huge[0].size, placement.huge[0].pages), (Bytes::mib(2), 2 * each));
        let runs = placement.runs.as_ref().unwrap();
        assert!(runs.longest >= each && runs.count <= 2, "{runs:?}");
        for balance in &placement.balances {
            // A whole number of rounds through the colors, however they begin.
            let even = balance.histogram.len() as u64;
            if even > 0 && each.is_multiple_of(even) {
                assert_eq!((balance.fewest, balance.most), (2 * each / even, 2 * each / even));
                assert_eq!(balance.imbalance, 0);
            }
        }
    }
}

#[test]
fn without_the_scan_call_the_same_is_shown() {
    let (running, ranges) = known_placement();
    let options = MapOptions { page_scan: false, ..MapOptions::default() };
    let (with, without) =
        (map(running.pid(), &MapOptions::default()), map(running.pid(), &options));
    if frames_visible() {
        assert_eq!(with.areas.len(), without.areas.len());
        for (with, without) in with.areas.iter().zip(&without.areas) {
            assert_eq!(still(&with.placement), still(&without.placement), "{}", with.name);
            assert_eq!(with.cells, without.cells, "{}", with.name);
        }
        assert_eq!(still(&with.total), still(&without.total));
    }
    // 64 GiB were not read entry by entry, and a shortfall says so.
    let told = without.shortfalls.iter().any(|short| short.why.contains("PAGEMAP_SCAN"));
    assert!(told, "{:?}", without.shortfalls);
    assert_eq!(area(&without, ranges["reserved"].0).placement.pages.present, 0);
}

#[test]
fn cells_get_coarser_where_there_are_too_many_but_lose_no_page() {
    let (running, _) = known_placement();
    let fine = map(running.pid(), &MapOptions::default());
    let options = MapOptions { cells_per_area: 8, cells_in_all: 100, ..MapOptions::default() };
    let coarse = map(running.pid(), &options);
    assert!(coarse.areas.iter().all(|area| area.cells.cells.len() <= 8));
    for (fine, coarse) in fine.areas.iter().zip(&coarse.areas) {
        let pages = |area: &Area| area.cells.cells.iter().map(|cell| cell.pages).sum::<u64>();
        assert_eq!(pages(fine), pages(coarse));
        assert_eq!(still(&fine.placement), still(&coarse.placement));
    }
}

#[test]
fn what_the_program_told_of_its_colors_is_shown() {
    let (running, ranges) = known_placement();
    let map = map(running.pid(), &MapOptions::default());
    let [told] = &map.registered[..] else { panic!("{:?}", map.registered) };
    assert_eq!(told.label.as_str(), "matrix");
    assert_eq!((told.start, told.pages), ranges["registered"]);
    assert_eq!((told.method, told.colors.get(), told.known), (Method::Measurement, 4, 7));
    let balance = told.balance.as_ref().unwrap();
    assert_eq!(balance.histogram, [4, 1, 1, 1]);
    // Two ways hold two of the four; the other colors have room.
    assert_eq!((balance.held, balance.imbalance), (5, 2));
    assert_eq!(told.cells.cells.len(), 8);
    assert_eq!(told.cells.cells[3].colors, [0, 0, 0, 1]);
    assert!(told.cells.cells[7].colors.is_empty());
    assert!(map.shortfalls.iter().all(|short| short.what != huepage::map::What::Registered));
}
