// SPDX-License-Identifier: MIT OR Apache-2.0
//! Totals and single pages against the kernel's own counts, for real programs.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    os::unix::fs::FileExt,
    process::Command,
};

use huepage::{
    map::{Area, Kind, MapOptions, ProcessMap},
    mapping::page_size,
    units::Bytes,
};

use crate::processes::{Running, frames_visible, known_placement, map};

/// Programs of different make, where they are installed, and one of our own.
fn programs() -> Vec<(String, Running)> {
    let commands: [&[&str]; 5] = [
        &["cat"],
        &["sh", "-c", "read line; exit"],
        &["perl", "-e", "my @a = map { $_ x 100 } 1..20000; <STDIN>"],
        &[
            "python3",
            "-c",
            "import sys, json; a = [str(i) for i in range(99999)]; sys.stdin.read()",
        ],
        &["bash", "-c", "a=$(printf %100000s); read line"],
    ];
    let started = commands.iter().filter_map(|words| {
        let running = Running::idle(Command::new(words[0]).args(&words[1..]))?;
        Some((words[0].to_owned(), running))
    });
    let programs: Vec<_> =
        started.chain([("known_placement".to_owned(), known_placement().0)]).collect();
    assert!(programs.len() > 2, "neither a shell nor cat is installed");
    programs
}

fn bytes(pages: u64) -> Bytes {
    Bytes(pages * page_size().0)
}

/// The number of KiB behind a word such as `Rss:` in a file of the process,
/// added up over all lines that begin with it.
fn kernel_sum(pid: u32, file: &str, word: &str) -> Bytes {
    let text = std::fs::read(format!("/proc/{pid}/{file}")).unwrap();
    let text = String::from_utf8_lossy(&text);
    let values = text.lines().filter_map(|line| line.strip_prefix(word)?.strip_suffix(" kB"));
    Bytes(values.map(|kib| kib.trim().parse::<u64>().unwrap()).sum::<u64>() << 10)
}

#[test]
fn totals_are_those_of_smaps_for_every_program_and_area() {
    for (name, running) in programs() {
        let map = map(running.pid(), &MapOptions::default());
        assert!(map.changes.is_empty(), "{name}: {:?}", map.changes);
        let kernel = map.kernel.unwrap();
        let sum = |word| kernel_sum(running.pid(), "smaps", word);
        assert_eq!(kernel.rss, sum("Rss:"), "{name}");
        // Shared pages change as other programs start and end.
        assert!(kernel.pss <= kernel.rss && kernel.pss.0 > 0, "{name}");
        assert_eq!(kernel.anon_huge_pages, Some(sum("AnonHugePages:")), "{name}");
        assert_eq!(kernel.ksm, Some(sum("KSM:")), "{name}");
        assert_eq!(kernel.swap, sum("Swap:"), "{name}");
        let pages = &map.total.pages;
        let ordinary = pages.present - pages.zero - pages.special - pages.hugetlb;
        assert_eq!(bytes(ordinary), kernel.rss, "{name}: {pages:?}");
        assert_eq!(bytes(pages.swapped), kernel.swap, "{name}");
        if frames_visible() {
            assert_eq!(bytes(pages.ksm), kernel.ksm.unwrap(), "{name}");
        }
        map.areas.iter().for_each(|area| area_agrees(&name, area));
    }
}

fn area_agrees(name: &str, area: &Area) {
    let (pages, kernel) = (&area.placement.pages, area.kernel.unwrap());
    let at = format!("{name} {} {:#x}: {pages:?} {kernel:?}", area.name, area.start);
    let ordinary = pages.present - pages.zero - pages.special - pages.hugetlb;
    assert_eq!(bytes(ordinary), kernel.rss, "{at}");
    assert_eq!(bytes(pages.hugetlb), kernel.hugetlb, "{at}");
    let huge = [kernel.anon_huge_pages, kernel.shmem_huge, kernel.file_huge];
    let huge: u64 = huge.iter().map(|bytes| bytes.unwrap().0).sum();
    if let Some(mapped) = pages.huge_mapped {
        assert_eq!(bytes(mapped).0, huge + kernel.hugetlb.0, "{at}");
    }
    let cells: u64 = area.cells.cells.iter().map(|cell| cell.pages).sum();
    assert_eq!(cells, pages.present + pages.swapped, "{at}");
}

#[test]
fn nodes_are_those_of_numa_maps() {
    for (name, running) in programs() {
        let map = map(running.pid(), &MapOptions::default());
        let Ok(text) = std::fs::read(format!("/proc/{}/numa_maps", running.pid())) else {
            return eprintln!("a kernel without NUMA");
        };
        let text = String::from_utf8_lossy(&text);
        let mut compared = 0;
        for line in text.lines() {
            let (start, rest) = line.split_once(' ').unwrap();
            let start = u64::from_str_radix(start, 16).unwrap();
            let area = map.areas.iter().find(|area| area.start == start).unwrap();
            // Pages of the kernel's own are in smaps but not counted here.
            if area.name.as_str().starts_with("[v") {
                continue;
            }
            let each = area.page_size.0 / page_size().0;
            let expected: Vec<(u32, u64)> = rest
                .split(' ')
                .filter_map(|word| {
                    let (node, pages) = word.strip_prefix('N')?.split_once('=')?;
                    Some((node.parse().ok()?, pages.parse::<u64>().ok()? * each))
                })
                .collect();
            let nodes = &area.placement.nodes;
            let found: Vec<_> = nodes.iter().map(|count| (count.node, count.pages)).collect();
            assert_eq!(found, expected, "{name}: {line}");
            compared += expected.len();
        }
        assert!(compared > 3, "{name}");
    }
}

/// What reading page by page finds in an area.
#[derive(Default)]
struct Naive {
    kinds: Vec<Kind>,
    frames: BTreeSet<u64>,
    /// Pages of private memory that are mapped more than once.
    shared: u64,
    /// Pages by the size of their huge page, in base pages.
    huge: BTreeMap<u64, u64>,
}

/// Reads every page of an area one by one, without using the library.
fn page_by_page(pid: u32, area: &Area) -> Naive {
    let pagemap = File::open(format!("/proc/{pid}/pagemap")).unwrap();
    let (flags, counts) =
        (File::open("/proc/kpageflags").unwrap(), File::open("/proc/kpagecount").unwrap());
    let word = |file: &File, index: u64| {
        let mut bytes = [0; 8];
        // Beyond the end of memory there is nothing to read.
        (file.read_at(&mut bytes, index * 8).unwrap() == 8).then(|| u64::from_ne_bytes(bytes))
    };
    let mut naive = Naive::default();
    for page in area.start / page_size().0..area.end / page_size().0 {
        let entry = word(&pagemap, page).unwrap_or(0);
        let is = |bit: u32| entry >> bit & 1 == 1;
        if is(62) && !is(58) {
            naive.kinds.push(Kind::Swapped);
        }
        if !is(63) {
            continue;
        }
        let frame = entry & ((1 << 55) - 1);
        let flags_of = |frame: u64| word(&flags, frame).unwrap_or(1 << 20);
        let has = |bit: u32| flags_of(frame) >> bit & 1 == 1;
        let kind = match () {
            () if has(24) => Kind::Zero,
            () if has(17) => Kind::Hugetlb,
            () if has(20) || !has(11) => Kind::Special,
            () if has(21) => Kind::Ksm,
            () if has(12) => Kind::Anonymous,
            () if has(14) => Kind::SharedMemory,
            () => Kind::File,
        };
        naive.kinds.push(kind);
        if matches!(kind, Kind::Zero | Kind::Special) {
            continue;
        }
        naive.frames.insert(frame);
        if matches!(kind, Kind::Anonymous | Kind::Ksm) {
            naive.shared += u64::from(word(&counts, frame).unwrap() > 1);
        }
        let tail = |frame: u64| flags_of(frame) >> 16 & 1 == 1;
        if has(22) || has(17) {
            let head = (0..=frame).rev().find(|frame| !tail(*frame)).unwrap();
            let end = (head + 1..).find(|frame| !tail(*frame)).unwrap();
            *naive.huge.entry(end - head).or_default() += 1;
        }
    }
    naive
}

#[test]
fn kinds_frames_and_sharing_are_those_of_kpageflags_and_kpagecount() {
    if !frames_visible() {
        return eprintln!("frame numbers are hidden");
    }
    for (name, running) in programs() {
        let map = map(running.pid(), &MapOptions::default());
        let mut frames = BTreeSet::new();
        for area in map.areas.iter().filter(|area| area.end < 1 << 63) {
            let pages = &area.placement.pages;
            // One call per page: large holes would take minutes.
            if pages.reserved > 1 << 13 {
                continue;
            }
            let at = format!("{name} {} {:#x}", area.name, area.start);
            let naive = page_by_page(running.pid(), area);
            for kind in Kind::ALL {
                let expected = naive.kinds.iter().filter(|other| **other == kind).count() as u64;
                assert_eq!(pages.of(kind), expected, "{at}: {kind:?}");
            }
            assert_eq!(pages.frames, Some(naive.frames.len() as u64), "{at}");
            if pages.anonymous + pages.ksm == pages.present {
                assert_eq!(pages.shared, naive.shared, "{at}");
            }
            let huge = area.placement.huge.iter().map(|h| (h.size.0 / page_size().0, h.pages));
            assert_eq!(huge.collect::<BTreeMap<_, _>>(), naive.huge, "{at}");
            colors_agree(&map, area, &naive.frames);
            frames.extend(naive.frames);
        }
        assert_eq!(map.total.pages.frames, Some(frames.len() as u64), "{name}");
    }
}

/// The histograms of an area are those of its frame numbers.
fn colors_agree(map: &ProcessMap, area: &Area, frames: &BTreeSet<u64>) {
    for (cache, balance) in map.caches.iter().zip(&area.placement.balances) {
        if cache.node.is_some() || balance.histogram.is_empty() {
            continue;
        }
        let mut histogram = vec![0; cache.colors.get() as usize];
        for frame in frames {
            histogram[(frame % u64::from(cache.colors.get())) as usize] += 1;
        }
        assert_eq!(balance.histogram, histogram, "{} {}", area.name, cache.name);
    }
}
