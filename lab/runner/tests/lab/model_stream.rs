// SPDX-License-Identifier: MIT OR Apache-2.0
//! The model's code without QEMU, compared count by count with a naive twin over
//! random hierarchies and random accesses.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::LazyLock,
};

use huepage::units::Bytes;
use huepage_lab::model::{
    Backing, Level, MemorySideCache, Model, Node, Outside, PageTimes, Records, Replacement, Scope,
    plugin,
};
use proptest::{collection::vec, prelude::*, sample::select};

use crate::support::twin::{self, Step};

/// lab/model/tests/stream.c, with the compiler looking for undefined behavior.
static STREAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/model");
    let stream = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stream");
    let pure = [
        "tests/stream",
        "addresses",
        "cache",
        "check",
        "frames",
        "hierarchy",
        "hierarchy_init",
        "options",
        "pages",
        "reader",
        "recency",
        "region",
    ];
    let status = Command::new("cc")
        .args(["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O1", "-g"])
        .args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-o"])
        .arg(&stream)
        .args(pure.map(|name| sources.join(name).with_extension("c")))
        .arg("-lm")
        .status()
        .expect("a C compiler is installed: ./setup does it");
    assert!(status.success());
    stream
});

const CPUS: u32 = 3;
/// Of each node, and of the range of a memory-side cache.
const PART: u64 = 3 << 14;

/// The records of these steps on so many CPUs, by a model of options that go with a file.
fn streamed(cpus: u32, options: impl Fn(&Path) -> String, steps: &str) -> Records {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut stream = Command::new(&*STREAM)
        // What the model has lasts as long as the process.
        .env("ASAN_OPTIONS", "detect_leaks=0")
        .arg(cpus.to_string())
        .args(options(&out).split(','))
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    stream.stdin.take().unwrap().write_all(steps.as_bytes()).unwrap();
    assert!(stream.wait().unwrap().success());
    plugin::read_records(&out).unwrap()
}

fn modelled(model: &Model, steps: &[Step]) -> Records {
    model.check().unwrap();
    let mut text = String::new();
    for step in steps {
        text += &match *step {
            Step::Access { cpu, address, size } => format!("a {cpu} {address} {size}\n"),
            Step::Instructions { cpu, count } => format!("i {cpu} {count}\n"),
            Step::Begin(region) => format!("b {region}\n"),
            Step::End(region) => format!("e {region}\n"),
        };
    }
    streamed(CPUS, |out| model.plugin_options(out), &text)
}

#[test]
fn with_pairs_a_miss_brings_the_other_line_along() {
    for (pairs, hits, misses) in [("off", 1, 4), ("on", 3, 2)] {
        let level = "level0=256:1:64:lru:private:4";
        let options =
            |out: &Path| format!("memory=100,{level},out={},pairs={pairs}", out.display());
        // Two pairs of lines, both lines of each, and the first line again.
        let steps = "b 1\na 0 64 8\na 0 0 8\na 0 128 8\na 0 192 8\na 0 64 8\ni 0 1\ne 1\n";
        let level = &streamed(1, options, steps).regions[0].levels[0];
        assert_eq!((level.hits, level.misses), (hits, misses), "pairs={pairs}");
    }
}

fn is_close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 + 1e-9 * b.abs()
}

/// Times are sums of floating-point numbers in no particular order.
fn assert_equal(modelled: Records, expected: Records) {
    assert_eq!(modelled.frames, expected.frames);
    assert_eq!(modelled.regions.len(), expected.regions.len());
    for (mut a, mut b) in modelled.regions.into_iter().zip(expected.regions) {
        if let (Some(x), Some(y)) = (a.page_times.take(), b.page_times.take()) {
            let four = |t: PageTimes| [t.mean, t.deviation, t.access_mean, t.access_deviation];
            let close = four(x).into_iter().zip(four(y)).all(|(x, y)| is_close(x, y));
            assert!(x.pages == y.pages && close, "{x:?} is not {y:?}");
        } else {
            assert!(a.page_times.is_none() && b.page_times.is_none());
        }
        assert_eq!(a, b);
    }
}

/// Sets, ways, replacement.
fn geometry() -> impl Strategy<Value = (u64, u32, Replacement)> {
    let sets = prop_oneof![4 => 1..20u64, 1 => 100..300u64];
    let any = (1..9u32, select(vec![Replacement::Lru, Replacement::Random, Replacement::Qlru]));
    let tree = (select(vec![1, 2, 4, 8, 16u32]), Just(Replacement::TreePlru));
    let few = (sets, prop_oneof![2 => any, 1 => tree]);
    let few = few.prop_map(|(sets, (ways, replacement))| (sets, ways, replacement));
    // From 128 ways on, the plugin keeps them otherwise.
    let many = (1..3u64, 127..200u32, Just(Replacement::Lru));
    prop_oneof![4 => few, 1 => many]
}

/// Levels, the last of which has the line size for what lies behind.
fn levels() -> impl Strategy<Value = Vec<Level>> {
    let level = (geometry(), 4..7u32, any::<bool>(), 1..50u32);
    vec(level, 0..4).prop_map(|mut levels| {
        levels.sort_by_key(|level| level.1);
        let level = |(i, ((sets, ways, replacement), line, shared, latency))| Level {
            name: format!("L{i}"),
            size: Bytes((sets * u64::from(ways)) << line),
            ways,
            line: Bytes(1u64 << line),
            replacement,
            scope: if shared { Scope::Shared } else { Scope::Private },
            latency,
        };
        levels.into_iter().enumerate().map(level).collect()
    })
}

/// Memory-side caches that do not overlap: none, one of all, of each node, of a
/// range.
fn backings(base: u64, nodes: u32) -> Vec<Vec<Backing>> {
    let range = Backing::Range { start: base + PART / 2, end: base + 2 * PART };
    vec![vec![], vec![Backing::All], (0..nodes).map(Backing::Node).collect(), vec![range]]
}

/// A model, and the base of its addresses: some are so high that a line's number
/// takes more than 32 bits.
fn model() -> impl Strategy<Value = (Model, u64)> {
    let base = select(vec![0, 1u64 << 20, 1 << 45]);
    let memory = (base, 0..4u32, 0..4usize, vec((1..200u64, 1..5u32, 6..8u32), 3), any::<bool>());
    let others = (levels(), memory, any::<[bool; 4]>(), any::<u64>(), 50..300u32);
    others.prop_map(
        |(levels, memory, [skip, color_conflicts, page_times, frames], seed, latency)| {
            let (base, nodes, kind, sizes, distances) = memory;
            let node = |n: u32| Node {
                memory: vec![(base + u64::from(n) * PART, base + u64::from(n + 1) * PART)],
                cpus: (0..CPUS).filter(|cpu| cpu % nodes == n).collect(),
            };
            let side =
                |(&backing, &(sets, ways, line)): (&Backing, &(u64, u32, u32))| MemorySideCache {
                    size: Bytes((sets * u64::from(ways)) << line),
                    ways,
                    line: Bytes(1u64 << line),
                    backing,
                    hit_picoseconds: 1,
                    miss_picoseconds: 2,
                    latency: 30,
                };
            let memory_side: Vec<_> =
                backings(base, nodes.max(1))[kind].iter().zip(&sizes).map(side).collect();
            let distance = |from, to| if from == to { 10 } else { 13 + 4 * from + to };
            let row = |from| (0..nodes).map(|to| distance(from, to)).collect();
            let model = Model {
                color_conflicts: color_conflicts && levels.len() + memory_side.len() > 0,
                levels,
                memory_side,
                nodes: (0..nodes).map(node).collect(),
                distances: if distances { (0..nodes).map(row).collect() } else { Vec::new() },
                memory_latency: latency,
                outside: if skip { Outside::Skip } else { Outside::Model },
                seed,
                page_times,
                // Frames beyond 64 GiB are not told apart.
                frames: frames && base < 1 << 36,
                addresses: false,
                count_strings: true,
            };
            (model, base)
        },
    )
}

/// Regions and what lies between them. Half of the addresses are few, so that
/// they are used again; some lie beyond every node.
fn steps(base: u64) -> impl Strategy<Value = Vec<Step>> {
    let address = prop_oneof![0..4 * PART, (0..60u64).prop_map(|n| n * 1000)];
    let size = select(vec![1, 2, 4, 8, 16, 64u64]);
    let access = (0..CPUS, address, size).prop_map(move |(cpu, address, size)| Step::Access {
        cpu,
        address: base + address,
        size,
    });
    let instructions =
        (0..CPUS, 1..100u64).prop_map(|(cpu, count)| Step::Instructions { cpu, count });
    let part = || vec(prop_oneof![20 => access.clone(), 1 => instructions.clone()], 0..300);
    vec((0..4096u32, part(), part()), 1..4).prop_map(|regions| {
        let mut steps = Vec::new();
        for (region, outside, inside) in regions {
            steps.extend(outside);
            steps.push(Step::Begin(region));
            steps.extend(inside);
            steps.push(Step::End(region));
        }
        steps
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..Default::default() })]
    #[test]
    fn every_count_is_that_of_the_naive_twin(
        (model, steps) in model().prop_flat_map(|(m, base)| (Just(m), steps(base)))
    ) {
        assert_equal(modelled(&model, &steps), twin::records(&model, CPUS, &steps));
    }
}

/// Where a reciprocal of 64 bits would not be exact any more: line numbers beyond
/// 2^32 and hundreds of millions of sets, no power of two. Lines a whole number
/// of times the sets apart are in each other's way, so all of them miss.
#[test]
fn sets_of_high_addresses_are_exact() {
    const SETS: u64 = 3 << 25;
    let level = Level::private("L1", Bytes(SETS * 64), 1, Replacement::Lru, 1);
    let level = Level { scope: Scope::Shared, ..level };
    let model = Model { levels: vec![level], seed: 0, ..Model::uncached(100) };
    let mut steps = vec![Step::Begin(0), Step::Instructions { cpu: 0, count: 1 }];
    for n in 0..100 {
        for line in [n, n + (1 << 50) / SETS * SETS, n] {
            steps.push(Step::Access { cpu: 0, address: line * 64, size: 8 });
        }
        // Two that are in nobody's way.
        for line in [(1 << 50) / SETS * SETS + SETS - 1 - n; 2] {
            steps.push(Step::Access { cpu: 0, address: line * 64, size: 8 });
        }
    }
    steps.push(Step::End(0));
    let records = modelled(&model, &steps).regions;
    assert_eq!((records[0].levels[0].misses, records[0].levels[0].hits), (400, 100));
}
