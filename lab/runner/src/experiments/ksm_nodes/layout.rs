// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machine: one CPU and equally much memory per node, in one row of physical
//! addresses, and the distances between nodes.

use std::str::FromStr;

use anyhow::{bail, ensure};
use huepage::units::Bytes;

use crate::{
    arch::Arch,
    boot::{Machine, Node},
    experiment::{PAGE, arguments},
    model::{self, Level, Model, Replacement},
};

/// Memory blocks, the least that can go offline, on both architectures.
const BLOCK: u64 = 128 << 20;
/// Blocks plugged into the last node, to be taken away.
const HOT_BLOCKS: u64 = 2;
/// Above this size q35 would put memory behind a hole.
const MOST: u64 = 2 << 30;

/// How nodes are connected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Topology {
    /// On its corners, as far as there are edges between.
    Hypercube,
    /// Two sockets of clusters (sub-NUMA clustering), with distances as firmware gives
    /// them: 12 within a socket, 21 between.
    Sockets,
    /// In a ring, as far as there are nodes between.
    Ring,
}

impl FromStr for Topology {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        Ok(match text {
            "hypercube" => Topology::Hypercube,
            "sockets" => Topology::Sockets,
            "ring" => Topology::Ring,
            other => bail!("topology={other}: there are hypercube, sockets and ring"),
        })
    }
}

/// Where the nodes are.
pub(super) struct Layout {
    arch: Arch,
    topology: Topology,
    nodes: u32,
    size: u64,
}

impl Layout {
    /// `None` if the topology has the same distances as a hypercube: two nodes.
    pub fn new(
        arch: Arch,
        topology: Topology,
        nodes: u32,
        node_mib: u64,
    ) -> anyhow::Result<Option<Self>> {
        ensure!([2, 4, 8].contains(&nodes), "nodes={nodes}: there are 2, 4 and 8");
        let size = node_mib << 20;
        ensure!(
            node_mib < 1 << 20 && size > 0 && size.is_multiple_of(BLOCK),
            "node_mib={node_mib} is no multiple of {}",
            BLOCK >> 20
        );
        ensure!(
            u64::from(nodes) * size <= MOST,
            "{nodes} nodes of {node_mib} MiB are more than 2 GiB: set fewer nodes or a smaller \
             node_mib"
        );
        let is_own = nodes > 2 || topology == Topology::Hypercube;
        Ok(is_own.then_some(Layout { arch, topology, nodes, size }))
    }

    pub fn arch(&self) -> Arch {
        self.arch
    }

    /// Pages that are unmerged may all come to the first node, where the kernel is as
    /// well.
    pub fn check_room(&self, pages: u64, merged: u64) -> anyhow::Result<()> {
        let all = (pages + u64::from(self.nodes) * merged) * PAGE;
        ensure!(
            all <= self.size / 2,
            "{} MiB of pages may come together on one node: set fewer, or node_mib to {} or more",
            all >> 20,
            (2 * all).next_multiple_of(BLOCK) >> 20
        );
        Ok(())
    }

    /// Where the memory of QEMU's machine begins.
    fn base(&self) -> u64 {
        match self.arch {
            Arch::X86_64 => 0,
            Arch::Arm64 => 1 << 30,
        }
    }

    /// Values that the guest compares with its kernel's.
    pub fn arguments(&self) -> Vec<(String, String)> {
        arguments([
            ("nodes", u64::from(self.nodes)),
            ("base", self.base()),
            ("size", self.size),
            ("hot", HOT_BLOCKS),
        ])
    }

    /// As in ACPI SLIT: 10, and `hop` more for each edge of a hypercube or a ring.
    pub fn distances(&self, hop: u32) -> Vec<Vec<u32>> {
        let distance = |from: u32, to: u32| match self.topology {
            Topology::Hypercube => 10 + hop * (from ^ to).count_ones(),
            Topology::Ring => {
                let apart = from.abs_diff(to);
                10 + hop * apart.min(self.nodes - apart)
            }
            Topology::Sockets if from == to => 10,
            Topology::Sockets if from / (self.nodes / 2) == to / (self.nodes / 2) => 12,
            Topology::Sockets => 21,
        };
        let row = |from: u32| (0..self.nodes).map(move |to| distance(from, to)).collect();
        (0..self.nodes).map(row).collect()
    }

    /// In ascending order.
    pub fn different_distances(&self, hop: u32) -> Vec<u32> {
        let mut all: Vec<u32> = self.distances(hop).concat();
        all.sort_unstable();
        all.dedup();
        all
    }

    pub fn machine(&self, hop: u32, with_hot: bool) -> Machine {
        let memory = u64::from(self.nodes) * self.size;
        let mut machine = Machine::plain(self.nodes, Bytes(memory));
        machine.nodes = (0..self.nodes)
            .map(|node| Node { memory: Bytes(self.size), cpus: Some((node, node)) })
            .collect();
        machine.distances = self.distances(hop);
        if with_hot {
            // Memory present at boot never goes offline on arm64. A block that is
            // plugged in as movable holds no page that cannot be moved away.
            machine.kernel_options = vec!["memhp_default_state=online_movable".into()];
            let (hot, last) = (HOT_BLOCKS * BLOCK, self.nodes - 1);
            machine.qemu_options = vec![
                "-m".into(),
                format!("maxmem={}K", (memory + hot) >> 10),
                "-object".into(),
                format!("memory-backend-ram,id=hot,size={hot}"),
                "-device".into(),
                // arm64's kernel is not given the node: it takes the first node that
                // the device tree names, which is QEMU's last.
                format!("virtio-mem-pci,memdev=hot,node={last},requested-size={hot}"),
            ];
        }
        machine
    }

    /// Without caches each access goes to memory, with the latency of its distance.
    /// With caches, each node has three levels, for its one CPU.
    pub fn model(&self, memory_latency: u32, hop: u32, caches: bool) -> Model {
        let node = |node: u32| {
            let start = self.base() + u64::from(node) * self.size;
            model::Node { memory: vec![(start, start + self.size)], cpus: vec![node] }
        };
        Model {
            nodes: (0..self.nodes).map(node).collect(),
            distances: self.distances(hop),
            page_times: true,
            levels: if caches { levels() } else { Vec::new() },
            ..Model::uncached(memory_latency)
        }
    }
}

/// Sizes and latencies of servers of the source's time, except for the last level: it
/// is half of what a worker reads by default, since that of a server is smaller than
/// the memory of its guests.
fn levels() -> Vec<Level> {
    let level = |name, size, ways, latency| {
        Level::private(name, size, ways, Replacement::TreePlru, latency)
    };
    vec![
        level("L1", Bytes::kib(32), 8, 4),
        level("L2", Bytes::kib(256), 8, 12),
        level("L3", Bytes::kib(2048), 16, 40),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(topology: Topology, nodes: u32) -> Layout {
        Layout::new(Arch::Arm64, topology, nodes, 128).unwrap().unwrap()
    }

    #[test]
    fn sockets_and_rings_have_their_distances() {
        let first = |topology, nodes| layout(topology, nodes).distances(6)[0].clone();
        assert_eq!(first(Topology::Sockets, 4), [10, 12, 21, 21]);
        assert_eq!(first(Topology::Ring, 8), [10, 16, 22, 28, 34, 28, 22, 16]);
        assert_eq!(layout(Topology::Ring, 8).different_distances(6), [10, 16, 22, 28, 34]);
        assert!(Layout::new(Arch::Arm64, Topology::Ring, 2, 128).unwrap().is_none());
    }

    #[test]
    fn distances_grow_with_the_edges_between() {
        let layout = layout(Topology::Hypercube, 4);
        let row = |text: [u32; 4]| text.to_vec();
        let expected =
            [[10, 16, 16, 22], [16, 10, 22, 16], [16, 22, 10, 16], [22, 16, 16, 10]].map(row);
        assert_eq!(layout.distances(6), expected);
    }

    #[test]
    fn nodes_follow_each_other_from_where_memory_begins() {
        let layout = layout(Topology::Hypercube, 2);
        let model = layout.model(100, 6, false);
        assert_eq!(model.nodes[0].memory, [(0x4000_0000, 0x4800_0000)]);
        assert_eq!(model.nodes[1].memory, [(0x4800_0000, 0x5000_0000)]);
        assert_eq!(layout.machine(6, false).memory, Bytes(256 << 20));
    }
}
