// SPDX-License-Identifier: MIT OR Apache-2.0
//! Models that can't be are refused with the part that is wrong.

use huepage::units::Bytes;
use huepage_lab::model::{Backing, Level, MemorySideCache, Model, Node, Outside, Replacement};

type Change = fn(&mut Model);

fn model() -> Model {
    let level = |name| Level::private(name, Bytes::kib(32), 8, Replacement::TreePlru, 4);
    let side = |backing| MemorySideCache {
        size: Bytes::mib(64),
        ways: 1,
        line: Bytes(64),
        backing,
        hit_picoseconds: 190,
        miss_picoseconds: 800,
        latency: 40,
    };
    let node =
        |n: u32| Node { memory: vec![(u64::from(n) << 20, u64::from(n + 1) << 20)], cpus: vec![n] };
    Model {
        levels: vec![level("L1"), level("L2")],
        memory_side: vec![
            side(Backing::Node(0)),
            side(Backing::Range { start: 1 << 20, end: 1 << 21 }),
        ],
        nodes: vec![node(0), node(1)],
        distances: vec![vec![10, 20], vec![20, 10]],
        outside: Outside::Model,
        color_conflicts: true,
        page_times: true,
        ..Model::uncached(100)
    }
}

#[test]
fn a_model_of_everything_is_accepted() {
    assert_eq!(model().check(), Ok(()));
}

#[test]
fn each_impossible_part_is_named_with_its_reason() {
    let refused: [(Change, &str); 14] = [
        (
            |m| m.levels[0].size = Bytes(1000),
            "L1: size 1000 is no multiple, up to 281474976710656, of 8 ways of 64 bytes",
        ),
        (|m| m.levels[0].ways = 0, "L1: it has no ways"),
        (|m| m.levels[1].line = Bytes(96), "L2: line size 96 is no power of two up to 4096"),
        (
            |m| m.levels[1].line = Bytes(32),
            "L2: its lines are smaller than the 64 bytes of those before",
        ),
        (
            |m| {
                m.levels[0].size = Bytes(12 << 12);
                m.levels[0].ways = 12
            },
            "L1: tree-PLRU takes a power of two up to 64 ways, not 12",
        ),
        (|m| m.levels[1].name = "L1".to_owned(), "L1: two levels have this name"),
        (|m| m.levels[1].latency = 2_000_000, "L2: latency 2000000 is more than 1000000 cycles"),
        (|m| m.nodes[1].memory[0].0 = 1, "node 1: memory 0x1-0x200000 overlaps that of node 0"),
        (|m| m.nodes[1].memory[0].1 = 1, "node 1: memory 0x100000-0x1 is empty"),
        (|m| m.nodes[1].cpus.push(0), "node 1: CPU 0 is in node 0 already"),
        (|m| m.distances.truncate(1), "distances: they must be 2 rows of 2"),
        (
            |m| m.memory_side[0].backing = Backing::Node(2),
            "memory-side cache 0: there is no node 2",
        ),
        (
            |m| m.memory_side[0].backing = Backing::All,
            "memory-side cache 1: it caches memory that cache 0 caches too",
        ),
        (
            |m| {
                m.levels.clear();
                m.memory_side.clear()
            },
            "color conflicts: there is no cache to have colors",
        ),
    ];
    for (change, why) in refused {
        let mut model = model();
        change(&mut model);
        assert_eq!(model.check().unwrap_err().to_string(), why);
    }
}
