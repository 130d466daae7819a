// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which node's memory a frame is.
//!
//! `/sys/devices/system/node/nodeN/memoryM` names the blocks of memory of a
//! node (Documentation/admin-guide/mm/memory-hotplug.rst); kernels without
//! memory hotplug have only the zones of `/proc/zoneinfo`.

use std::ops::Range;

use crate::{
    topology::{MachineSource, Topology},
    units::{Bytes, Pfn},
};

/// Ranges of frames by node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameNodes {
    /// Ascending and disjoint; empty if no source shows them.
    ranges: Vec<(Range<u64>, u32)>,
}

impl FrameNodes {
    /// The nodes of `topology`, with their memory as `source` shows it.
    pub fn read(source: &dyn MachineSource, topology: &Topology) -> Self {
        let nodes: Vec<u32> = topology.nodes.iter().map(|node| node.id).collect();
        let ranges = match nodes[..] {
            [] => Vec::new(),
            [only] => vec![(0..u64::MAX, only)],
            _ => {
                let ranges = blocks(source, &nodes, topology.page_size);
                if ranges.is_empty() { zones(source) } else { ranges }
            }
        };
        FrameNodes { ranges: disjoint(ranges) }
    }

    /// The node of a frame; `None` if no source shows it.
    pub fn node_of(&self, frame: Pfn) -> Option<u32> {
        let after = self.ranges.partition_point(|(range, _)| range.start <= frame.0);
        let (range, node) = self.ranges.get(after.checked_sub(1)?)?;
        range.contains(&frame.0).then_some(*node)
    }

    /// The node of every frame, where there is only one.
    pub fn only(&self) -> Option<u32> {
        match self.ranges[..] {
            [(Range { start: 0, end: u64::MAX }, node)] => Some(node),
            _ => None,
        }
    }

    /// Whether no source shows the node of any frame.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

fn blocks(source: &dyn MachineSource, nodes: &[u32], page: Bytes) -> Vec<(Range<u64>, u32)> {
    let size = source.read("/sys/devices/system/memory/block_size_bytes");
    let Some(size) = size.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()) else {
        return Vec::new();
    };
    let frames = size / page.0;
    let mut ranges = Vec::new();
    for &node in nodes {
        for name in source.list(&format!("/sys/devices/system/node/node{node}")) {
            let block = name.strip_prefix("memory").and_then(|number| number.parse::<u64>().ok());
            let start = block.and_then(|block| block.checked_mul(frames));
            if let Some(start) = start.filter(|_| frames > 0) {
                ranges.push((start..start.saturating_add(frames), node));
            }
        }
    }
    ranges
}

/// `Node 0, zone  DMA32`, then `spanned  1044480` and `start_pfn:  4096`.
fn zones(source: &dyn MachineSource) -> Vec<(Range<u64>, u32)> {
    let Some(text) = source.read("/proc/zoneinfo") else { return Vec::new() };
    let mut ranges = Vec::new();
    let (mut node, mut spanned) = (None, 0);
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["Node", number, "zone", _] => {
                (node, spanned) = (number.trim_end_matches(',').parse().ok(), 0);
            }
            ["spanned", count] => spanned = count.parse().unwrap_or(0),
            ["start_pfn:", first] => {
                if let (Some(node), Ok(first), true) = (node, first.parse::<u64>(), spanned > 0) {
                    ranges.push((first..first.saturating_add(spanned), node));
                }
            }
            _ => {}
        }
    }
    ranges
}

/// Sorted, neighbors of one node joined. A block that two nodes share counts for the
/// lower number, since no source shows which of its frames are on which node.
fn disjoint(mut ranges: Vec<(Range<u64>, u32)>) -> Vec<(Range<u64>, u32)> {
    ranges.sort_unstable_by_key(|(range, node)| (range.start, *node));
    let mut joined: Vec<(Range<u64>, u32)> = Vec::new();
    for (mut range, node) in ranges {
        match joined.last_mut() {
            Some((last, same)) if *same == node && last.end >= range.start => {
                last.end = last.end.max(range.end);
                continue;
            }
            Some((last, _)) => range.start = range.start.max(last.end),
            None => {}
        }
        if range.start < range.end {
            joined.push((range, node));
        }
    }
    joined
}

#[cfg(all(test, feature = "serde"))]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::topology::RecordedMachine;

    fn machine(files: &[(&str, &str)]) -> FrameNodes {
        let mut all: BTreeMap<String, String> =
            files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        all.insert("/sys/devices/system/cpu/online".into(), "0".into());
        let machine = RecordedMachine {
            schema: String::new(),
            source: String::new(),
            architecture: "x86_64".into(),
            page_size: Bytes::kib(4),
            cpu: 0,
            files: all,
            cpuid: Vec::new(),
            curve: None,
        };
        FrameNodes::read(&machine, &Topology::read(&machine).unwrap())
    }

    const NODE: &str = "/sys/devices/system/node";

    fn nodes_of(nodes: &FrameNodes, frames: &[u64]) -> Vec<Option<u32>> {
        frames.iter().map(|&frame| nodes.node_of(Pfn(frame))).collect()
    }

    #[test]
    fn blocks_of_memory_belong_to_their_node_and_holes_to_none() {
        let nodes = machine(&[
            (&format!("{NODE}/online"), "1-2"),
            ("/sys/devices/system/memory/block_size_bytes", "8000000\n"),
            (&format!("{NODE}/node1/memory0/x"), ""),
            (&format!("{NODE}/node1/memory1/x"), ""),
            (&format!("{NODE}/node2/memory3/x"), ""),
            (&format!("{NODE}/node2/memory1/x"), ""),
        ]);
        let expected = [Some(1), Some(1), Some(1), None, Some(2), Some(2), None];
        assert_eq!(nodes_of(&nodes, &[0, 32768, 65535, 65536, 98304, 131071, 131072]), expected);
        assert_eq!(nodes.only(), None);
    }

    #[test]
    fn zones_tell_where_blocks_do_not() {
        let nodes = machine(&[
            (&format!("{NODE}/online"), "0-1"),
            (
                "/proc/zoneinfo",
                "Node 0, zone      DMA\n  pages free 1\n        spanned  4095\n  start_pfn:  1\n\
                 Node 0, zone  Movable\n        spanned  0\n  start_pfn:  0\n\
                 Node 1, zone   Normal\n        spanned  100\n  start_pfn:  4096\n",
            ),
        ]);
        assert_eq!(
            nodes_of(&nodes, &[0, 1, 4095, 4096, 4195, 4196]),
            [None, Some(0), Some(0), Some(1), Some(1), None]
        );
    }

    #[test]
    fn one_node_has_everything_and_without_nodes_nothing_is_known() {
        let one = machine(&[(&format!("{NODE}/online"), "3")]);
        assert_eq!((one.only(), one.node_of(Pfn(1 << 40))), (Some(3), Some(3)));
        let none = machine(&[]);
        assert!(none.is_empty() && none.node_of(Pfn(1)).is_none() && none.only().is_none());
    }
}
