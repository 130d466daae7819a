// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kinds, sizes, nodes and runs of all pages together.

use std::fmt::Write;

use huepage::{
    map::{KernelCounts, Kind, PageCounts, ProcessMap, Runs},
    units::Bytes,
};

use huepage_present::{
    number::{share, size},
    paragraph::put,
};

use super::super::in_bytes;

/// The words for a kind.
pub fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Anonymous => "anonymous",
        Kind::Ksm => "merged (KSM)",
        Kind::Zero => "zero page",
        Kind::File => "file",
        Kind::SharedMemory => "shared memory",
        Kind::Hugetlb => "hugetlb",
        Kind::Special => "special",
        Kind::Swapped => "swapped",
    }
}

/// How many pages are of a kind.
pub fn of_kind(pages: &PageCounts, kind: Kind) -> u64 {
    match kind {
        Kind::Anonymous => pages.anonymous,
        Kind::Ksm => pages.ksm,
        Kind::Zero => pages.zero,
        Kind::File => pages.file,
        Kind::SharedMemory => pages.shared_memory,
        Kind::Hugetlb => pages.hugetlb,
        Kind::Special => pages.special,
        Kind::Swapped => pages.swapped,
    }
}

/// A line per kind, then other properties of pages.
pub fn kinds(out: &mut String, map: &ProcessMap) {
    let pages = &map.total.pages;
    out.push_str("\nPages                             count      size   share\n");
    let mut line = |name: &str, count: u64| {
        let bytes = in_bytes(map, count);
        let share = share(count, pages.present);
        let _ = writeln!(out, "  {name:<26} {count:>10} {bytes:>9} {share:>7}");
    };
    line("present", pages.present);
    for kind in Kind::ALL {
        let count = of_kind(pages, kind);
        if count > 0 && kind != Kind::Swapped {
            line(&format!("  {}", kind_name(kind)), count);
        }
    }
    for huge in &map.total.huge {
        line(&format!("in huge pages of {}", huge.size), huge.pages);
    }
    if let Some(mapped) = pages.huge_mapped.filter(|&mapped| mapped > 0) {
        line("mapped by huge entries", mapped);
    }
    if pages.shared > 0 {
        line("mapped elsewhere too", pages.shared);
    }
    if pages.swapped > 0 {
        line("swapped, beside these", pages.swapped);
    }
}

/// The kernel's own counts.
fn kernel(out: &mut String, counts: &KernelCounts) {
    let mut text = format!("counts Rss {}, Pss {}", size(counts.rss), size(counts.pss));
    let others = [
        ("AnonHugePages", counts.anon_huge_pages.unwrap_or_default()),
        ("Hugetlb", counts.hugetlb),
        ("KSM", counts.ksm.unwrap_or_default()),
        ("Swap", counts.swap),
        ("Locked", counts.locked),
    ];
    for (name, bytes) in others.into_iter().filter(|(_, bytes)| bytes.0 > 0) {
        text += &format!(", {name} {}", size(bytes));
    }
    put(out, "Kernel     ", &text);
}

/// Nodes and runs.
pub fn places(out: &mut String, map: &ProcessMap) {
    out.push('\n');
    if let Some(counts) = &map.kernel {
        kernel(out, counts);
    }
    let nodes = &map.total.nodes;
    if !nodes.is_empty() {
        let all: u64 = nodes.iter().map(|node| node.pages).sum();
        let each: Vec<String> = nodes
            .iter()
            .map(|node| {
                let bytes = in_bytes(map, node.pages);
                unbroken(&format!("{}: {bytes} {}", node.node, share(node.pages, all)))
            })
            .collect();
        put(out, "Nodes      ", &each.join(", "));
    }
    if let Some(runs) = &map.total.runs {
        self::runs(out, runs, map.machine.page_size);
    }
}

fn runs(out: &mut String, runs: &Runs, page: Bytes) {
    let pages: u64 = runs.histogram.iter().map(|bucket| bucket.pages).sum();
    let longest = size(Bytes(runs.longest * page.0));
    let text = format!("{} of adjacent frames, the longest {longest}", runs.count);
    put(out, "Runs       ", &format!("{text}; pages by length:"));
    let each: Vec<String> = runs
        .histogram
        .iter()
        .map(|bucket| {
            let from = Bytes(bucket.from * page.0);
            unbroken(&format!(
                "{from}{} {}",
                if bucket.from > 1 { "+" } else { "" },
                share(bucket.pages, pages)
            ))
        })
        .collect();
    put(out, "           ", &each.join(", "));
}

/// No line breaks inside.
fn unbroken(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}
