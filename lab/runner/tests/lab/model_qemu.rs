// SPDX-License-Identifier: MIT OR Apache-2.0
//! The plugin in QEMU, under guests of which every instruction and access is
//! known: lab/model/tests/bare_*.S.

use huepage::units::Bytes;
use huepage_lab::{
    arch::Arch,
    model::{
        Backing, Level, LevelCounts, MemorySideCache, Model, Node, Record, Replacement, Scope,
    },
};

use crate::support::bare_machine::{assemble, qemu, run};

const NODE_SIZE: u64 = 128 << 20;

fn model() -> Model {
    let lru = Replacement::Lru;
    Model {
        levels: vec![
            Level::private("L1", Bytes::kib(32), 8, lru, 4),
            Level { scope: Scope::Shared, ..Level::private("L2", Bytes::mib(1), 16, lru, 14) },
        ],
        memory_side: vec![MemorySideCache {
            size: Bytes::mib(64),
            ways: 1,
            line: Bytes(64),
            backing: Backing::All,
            hit_picoseconds: 190,
            miss_picoseconds: 800,
            latency: 40,
        }],
        ..Model::uncached(100)
    }
}

fn of_region(records: &[Record], region: u32) -> &Record {
    let of = |cpu| records.iter().find(|r| r.region == region && r.cpu == cpu);
    of(0).unwrap_or_else(|| panic!("no record of region {region}"))
}

/// Instructions of the macro read_all before its loops.
fn before_loops(arch: Arch) -> u64 {
    match arch {
        Arch::X86_64 => 1,
        Arch::Arm64 => 6,
    }
}

fn lines_of_one_set_miss_as_often_as_arithmetic_says(arch: Arch) {
    const ROUNDS: u64 = 100_000;
    let (records, _) = run(arch, &[], &model(), &[]);

    let nine = of_region(&records, 9);
    assert_eq!(nine.accesses, 9 * ROUNDS);
    assert_eq!(nine.levels[0], LevelCounts { hits: 0, misses: 9 * ROUNDS });
    assert_eq!(nine.levels[1], LevelCounts { hits: 9 * ROUNDS - 9, misses: 9 });
    assert_eq!(nine.memory_side[0], LevelCounts { hits: 0, misses: 9 });
    assert_eq!(nine.nodes, [9]);
    assert_eq!(nine.instructions, before_loops(arch) + ROUNDS * (4 + 4 * 9));
    assert_eq!(nine.cycles, nine.instructions + 14 * (9 * ROUNDS - 9) + 100 * 9);

    let eight = of_region(&records, 8);
    assert_eq!(eight.levels[0], LevelCounts { hits: 8 * ROUNDS - 8, misses: 8 });
    assert_eq!(eight.instructions, before_loops(arch) + ROUNDS * (4 + 4 * 8));
    assert_eq!(eight.cycles, eight.instructions + 4 * (8 * ROUNDS - 8) + 14 * 8);
}

#[test]
fn lines_of_one_set_miss_as_often_as_arithmetic_says_on_x86() {
    lines_of_one_set_miss_as_often_as_arithmetic_says(Arch::X86_64);
}

#[test]
fn lines_of_one_set_miss_as_often_as_arithmetic_says_on_arm64() {
    lines_of_one_set_miss_as_often_as_arithmetic_says(Arch::Arm64);
}

#[test]
fn regions_that_do_not_pair_are_reported_and_change_nothing() {
    let (records, reported) = run(Arch::X86_64, &[], &model(), &[]);
    let wrong = [
        "region 1 ends without having begun",
        "region 3 begins inside region 2: end that one first",
        "region 3 ends inside region 2: end that one first",
        "region 7 did not end",
    ];
    assert_eq!(reported, wrong.map(|text| format!("{{\"error\":\"{text}\"}}")).join("\n"));
    // Regions 1 and 2 hold no instruction, so no CPU executed any; they count.
    let numbers: Vec<_> = records.iter().map(|r| (r.region, r.sequence)).collect();
    assert_eq!(numbers, [(9, 0), (8, 1), (5, 4)]);
}

#[test]
fn an_access_across_lines_or_pages_is_one_access_to_two_lines() {
    let (records, _) = run(Arch::X86_64, &[], &model(), &[]);
    let crossing = of_region(&records, 5);
    assert_eq!((crossing.instructions, crossing.accesses), (2, 2));
    assert_eq!(crossing.levels[0], LevelCounts { hits: 0, misses: 4 });
}

#[test]
fn instructions_and_accesses_are_those_of_each_cpu() {
    let (records, _) = run(Arch::Arm64, &[], &model(), &[]);
    let second = records.iter().find(|r| r.region == 6 && r.cpu == 1).unwrap();
    // As counted in bare_arm64.S.
    assert_eq!(second.instructions, before_loops(Arch::Arm64) + 10 * (4 + 4 * 5) + 4);
    assert_eq!(second.accesses, 51);
    assert_eq!(second.levels[0], LevelCounts { hits: 45, misses: 6 });
    // Seven instructions, then pairs of one load and one branch.
    let first = of_region(&records, 6);
    assert_eq!(first.instructions, 7 + 2 * first.accesses);
}

#[test]
fn executions_by_address_are_all_instructions_of_a_region() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("records.jsonl");
    let model = Model { addresses: true, ..model() };
    for arch in [Arch::X86_64, Arch::Arm64] {
        let guest = assemble(arch, &[], folder.path());
        qemu(arch, &guest, &model.plugin_options(&out), &[]);
        let text = std::fs::read_to_string(&out).unwrap();
        let (mut instructions, mut regions) = (0, 0);
        for line in text.lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            if let Some(executed) = line["addresses"].as_array() {
                let times = |pair: &serde_json::Value| pair[1].as_u64().unwrap();
                assert_eq!(executed.iter().map(times).sum::<u64>(), instructions);
                // The loops of region 9 are 4 instructions around 4 for each of 9 lines.
                let rounds = executed.iter().filter(|pair| times(pair) == 100_000).count();
                assert_eq!(rounds > 0, regions < 2, "{arch:?}: region {regions}");
                (instructions, regions) = (0, regions + 1);
            }
            instructions += line["instructions"].as_u64().unwrap_or(0);
        }
        assert!(regions > 2, "{arch:?}: {regions}");
    }
}

/// QEMU 7.2 reports offsets into its memory blocks, which with a block per node
/// are no physical addresses.
fn memory_of_a_node_is_found_at_its_address(arch: Arch) {
    let start = if arch == Arch::Arm64 { 0x4000_0000 } else { 0 };
    let node = |n: u64| Node {
        memory: vec![(start + n * NODE_SIZE, start + (n + 1) * NODE_SIZE)],
        cpus: vec![n as u32],
    };
    let mut model = model();
    model.levels.clear();
    model.memory_side.clear();
    model.nodes = vec![node(0), node(1)];
    model.distances = vec![vec![10, 25], vec![25, 10]];
    let more = [
        "-object",
        "memory-backend-ram,id=m0,size=128M",
        "-object",
        "memory-backend-ram,id=m1,size=128M",
        "-numa",
        "node,memdev=m0,cpus=0",
        "-numa",
        "node,memdev=m1,cpus=1",
    ];
    let (records, _) = run(arch, &[format!("-DSECOND_NODE={NODE_SIZE:#x}")], &model, &more);
    let near = of_region(&records, 8);
    assert_eq!((&near.nodes[..], near.elsewhere), (&[800_000, 0][..], 0));
    assert_eq!(near.cycles, near.instructions + 100 * 800_000);
    let far = of_region(&records, 4);
    assert_eq!((&far.nodes[..], far.elsewhere), (&[0, 1][..], 0));
    assert_eq!(far.cycles, far.instructions + 250);
}

#[test]
fn memory_of_a_node_is_found_at_its_address_on_x86() {
    memory_of_a_node_is_found_at_its_address(Arch::X86_64);
}

#[test]
fn memory_of_a_node_is_found_at_its_address_on_arm64() {
    memory_of_a_node_is_found_at_its_address(Arch::Arm64);
}

#[test]
fn what_can_not_be_modelled_ends_qemu_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let guest = assemble(Arch::Arm64, &[], folder.path());
    let out = format!("out={}", folder.path().join("records").display());
    let level = "level0=32768:8:64:lru:private:4";
    let nodes = "node0=0-4096:0,node1=4096-8192:1,distance0=10+20";
    let cases = [
        (
            "level0=32768:8:64:fifo:private:4",
            "level0=32768:8:64:fifo:private:4: replacement 'fifo' is unknown",
        ),
        ("level0=32768:8:64:lru:private", "latency is missing"),
        ("level0=32768:7:64:lru:private:4", "size 32768 is no multiple of 7 ways of 64 bytes"),
        (
            "level0=49152:12:64:tree-plru:private:4",
            "tree-plru takes a power of two up to 64 ways, not 12",
        ),
        ("level0=32768:8:64:lru:private:4:5", "nothing is expected behind it, but there is ':5'"),
        ("level1=32768:8:64:lru:private:4", "expected number 0"),
        ("levels=3", "option levels=3: there is no such option"),
        ("memory=-3", "latency '-3' is no number"),
        ("seed=99999999999999999999", "seed 99999999999999999999 is too large"),
        ("node0=0-4096:0", "CPU 1 is in no node: add it to one of them"),
        ("node0=0-4096:0,node1=4095-8192:1", "memory of node0 and node1 overlaps"),
        ("node0=0-4096:0+1+1", "node0 and node0 have the same CPU"),
        (nodes, "distances are given of some nodes only: give all or none"),
        ("memside0=65536:1:64:node1:9", "memside0 is of node 1 of 1"),
        (
            "memside0=65536:1:64:all:9,memside1=65536:1:64:0-4096:9",
            "memside0 and memside1 cache the same memory",
        ),
        ("colors=on", "colors=on takes a cache to have colors"),
        ("pages=yes", "value 'yes' is unknown"),
    ];
    for (options, why) in cases {
        let output = qemu(Arch::Arm64, &guest, &format!("{out},{options}"), &[]);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && errors.contains(why), "{options}: {errors}");
    }
    let without_out = qemu(Arch::Arm64, &guest, level, &[]);
    assert!(!without_out.status.success());
    assert!(String::from_utf8(without_out.stderr).unwrap().contains("out=FILE is missing"));

    let threads = ["-accel", "tcg,thread=multi"];
    let output = qemu(Arch::Arm64, &guest, &format!("{out},{level}"), &threads);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("run QEMU with -accel tcg,thread=single"), "{errors}");
}

/// Prints how fast it is. The goal is 25 million accesses per second:
/// `cargo test -p huepage-lab --test lab accesses_per_second -- --ignored --nocapture`
#[test]
#[ignore = "a benchmark: its figure depends on the machine and on who else uses it"]
fn accesses_per_second_in_qemu() {
    let seconds = |rounds: u32| {
        let start = std::time::Instant::now();
        let (records, _) = run(Arch::X86_64, &[format!("-DBENCHMARK={rounds}")], &model(), &[]);
        (records[0].accesses as f64, start.elapsed().as_secs_f64())
    };
    let (few, short) = seconds(1);
    let (many, long) = seconds(401);
    let rate = (many - few) / (long - short);
    println!("{:.1} million accesses per second with L1, L2 and memory side", rate / 1e6);
}
