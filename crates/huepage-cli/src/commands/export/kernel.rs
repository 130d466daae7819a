// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counters of the kernel: its coloring, huge pages it could give, pages it merged.

use std::{collections::BTreeMap, fs, path::Path};

use huepage::merged::{self, Domain};
use serde::Serialize;

use crate::commands::run::backend;

/// Counters and states; those that this kernel does not have are left out.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct KernelState {
    /// `None` without the page_color patches.
    pub coloring: Option<Coloring>,
    /// Free blocks of the size of a huge page or larger, in huge pages, by node and zone.
    pub free_huge_pages: Vec<FreeHugePages>,
    /// Files of `/sys/kernel/mm/ksm` that count pages.
    pub merged: BTreeMap<&'static str, u64>,
    /// Merge domains; none without the patches of KSM.
    pub merge_domains: Vec<Domain>,
}

/// Of one zone of a node.
#[derive(Debug, PartialEq, Serialize)]
pub struct FreeHugePages {
    pub node: String,
    pub zone: String,
    pub pages: u64,
}

/// The kernel's own placement.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Coloring {
    pub enabled: bool,
    /// By node, where it has a cache to color for.
    pub colors: BTreeMap<String, u64>,
    /// Pages given since boot, by how well the color was chosen.
    pub pages: BTreeMap<String, u64>,
}

impl KernelState {
    /// Of the running machine.
    pub fn read() -> Self {
        KernelState::below(Path::new("/"))
    }

    fn below(root: &Path) -> Self {
        let text = |path: &str| fs::read_to_string(root.join(path)).ok();
        let number = |path: &str| text(path)?.trim().parse::<u64>().ok();
        let base = rustix::param::page_size() as u64;
        let huge = number("sys/kernel/mm/transparent_hugepage/hpage_pmd_size").unwrap_or(2 << 20);
        let order = (huge / base).max(1).ilog2();
        let ksm = |name| Some((name, number(&format!("sys/kernel/mm/ksm/{name}"))?));
        KernelState {
            coloring: Coloring::below(root),
            free_huge_pages: text("proc/buddyinfo").map_or_else(Vec::new, |text| {
                text.lines().filter_map(|line| free_huge_pages(line, order)).collect()
            }),
            merged: ["pages_shared", "pages_sharing"].into_iter().filter_map(ksm).collect(),
            merge_domains: text("sys/kernel/mm/ksm/merge_domains")
                .map_or_else(Vec::new, |text| merged::domains(&text)),
        }
    }
}

impl Coloring {
    fn below(root: &Path) -> Option<Self> {
        let enabled = fs::read_to_string(root.join("sys/kernel/mm/page_color/enabled")).ok()?;
        let vmstat = fs::read_to_string(root.join("proc/vmstat")).unwrap_or_default();
        let pages = vmstat.lines().filter_map(|line| {
            let (choice, count) = line.strip_prefix("page_color_")?.split_once(' ')?;
            Some((choice.to_owned(), count.parse().ok()?))
        });
        Some(Coloring {
            enabled: enabled.trim() == "1",
            colors: backend::colors_of_nodes(&root.join("sys")),
            pages: pages.collect(),
        })
    }
}

/// `Node 0, zone   Normal   3   2 …`: free blocks of each order.
fn free_huge_pages(line: &str, order: u32) -> Option<FreeHugePages> {
    let (node, rest) = line.strip_prefix("Node ")?.split_once(", zone ")?;
    let mut words = rest.split_whitespace();
    let zone = words.next()?;
    let blocks = words.enumerate().filter_map(|(at, count)| {
        let larger = (at as u32).checked_sub(order)?;
        Some(count.parse::<u64>().ok()? << larger)
    });
    Some(FreeHugePages { node: node.trim().into(), zone: zone.into(), pages: blocks.sum() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_larger_than_a_huge_page_hold_several() {
        let line = "Node 1, zone   Normal    9   8   7   6   5   4   3   2   1   5   3";
        let found = FreeHugePages { node: "1".into(), zone: "Normal".into(), pages: 5 + 2 * 3 };
        assert_eq!(free_huge_pages(line, 9), Some(found));
        assert_eq!(free_huge_pages(line, 8).unwrap().pages, 1 + 2 * 5 + 4 * 3);
        assert_eq!(free_huge_pages("nonsense", 9), None);
    }

    #[test]
    fn a_kernel_that_colors_tells_its_counters_and_others_nothing() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("proc/vmstat", "nr_free_pages 7\npage_color_best 100\npage_color_none 3\n");
        write("sys/kernel/mm/ksm/pages_shared", "4\n");
        let stock = KernelState::below(root.path());
        assert_eq!(stock.coloring, None);
        assert_eq!(stock.merged, BTreeMap::from([("pages_shared", 4)]));
        write("sys/kernel/mm/page_color/enabled", "1\n");
        write("sys/devices/system/node/node0/page_color/colors", "1024\n");
        write("sys/devices/system/node/node1/page_color/colors", "0\n");
        write("sys/devices/system/node/possible", "0-1\n");
        let coloring = Coloring {
            enabled: true,
            colors: [("0".to_owned(), 1024)].into(),
            pages: [("best".to_owned(), 100), ("none".to_owned(), 3)].into(),
        };
        assert_eq!(KernelState::below(root.path()).coloring, Some(coloring));
        assert!(stock.merge_domains.is_empty());
        let line = "nodes 0-1 shared 5 sharing 6 saved 24576 remote 2\n";
        write("sys/kernel/mm/ksm/merge_domains", line);
        let patched = KernelState::below(root.path());
        assert_eq!(patched.merge_domains.len(), 1);
        assert_eq!(
            (&*patched.merge_domains[0].nodes, patched.merge_domains[0].pages_sharing),
            (&[0, 1][..], 6)
        );
    }
}
