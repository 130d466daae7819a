// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interfaces of page coloring in a patched kernel that runs.

use huepage::units::Bytes;
use huepage_lab::{
    arch::Arch,
    boot::{Machine, Report},
    kernel::Config,
};
use serde_json::Value;

use crate::support::booted;

fn run(arch: Arch, config: Config, guest: &'static str, machine: Machine) -> Report {
    booted::run_and_log(arch, config, guest, machine, &[("check", "no")]).0
}

fn machine(option: Option<&str>) -> Machine {
    let mut machine = Machine::plain(2, Bytes::mib(512));
    machine.kernel_options.extend(option.map(str::to_owned));
    machine
}

fn result<'a>(report: &'a Report, when: &str) -> &'a Value {
    report.results.iter().find(|result| result["when"] == when).unwrap()
}

/// Of a node's folder (`node`) or of its memory-side cache's (`side`), after boot.
fn of<'a>(report: &'a Report, key: &str, node: u32) -> &'a Value {
    report.results.iter().find(|result| result[key] == node).unwrap()
}

fn says(result: &Value, expected: &[(&str, &str)]) {
    for (file, value) in expected {
        assert_eq!(result[file], *value, "{file} of {result}");
    }
}

fn control(arch: Arch, config: Config) {
    let check = [("check", "yes")];
    let guest = "page-color-control";
    let (report, log) = booted::run_and_log(arch, config, guest, machine(None), &check);
    says(result(&report, "boot"), &[("enabled", "0")]);
    let got = result(&report, "8 MiB");
    let number = |name: &str| got[name].as_u64().unwrap_or_else(|| panic!("{name}: {got}"));
    // Of 2048 pages those that came after it was known to be large.
    assert!(number("best") >= 1536, "{got}");
    assert_eq!(number("none"), 0, "{got}");
    let table = result(&report, "table");
    let zones = if arch == Arch::X86_64 { 2 } else { 1 };
    assert_eq!(table["lines"], zones * 4096, "{table}");
    // Most of 512 MiB are free and movable.
    assert!(table["free"].as_u64().unwrap() > 50_000, "{table}");
    if arch == Arch::X86_64 {
        let offline = result(&report, "offline");
        assert!(offline["free"].as_u64() <= offline["all"].as_u64(), "{offline}");
    }
    let off = result(&report, "off");
    let kib = |name: &str| off[name].as_u64().unwrap();
    assert!(kib("large") >= 64 * kib("times"), "{off}");
    // One and a half pages of 64 KiB that are lost each time would be 6 MiB.
    assert!(kib("before_kib") < kib("after_kib") + 4096, "{off}");
    // The reason why a node has no cache to color for is said once, although memory
    // went and came.
    // arm64 does not take memory of the boot offline.
    let times = if arch == Arch::X86_64 { 3 } else { 0 };
    assert_eq!(result(&report, "memory")["times"], times);
    let reasons = log.matches("no private cache to color for").count();
    let cacheless = result(&report, "auto")["source"] == "none";
    assert_eq!(reasons, usize::from(cacheless), "{log}");
}

#[test]
fn control_files_on_x86_64() {
    control(Arch::X86_64, Config::Plain);
}

#[test]
fn control_files_on_arm64() {
    control(Arch::Arm64, Config::Plain);
}

fn sets(arch: Arch, config: Config) {
    let report = run(arch, config, "page-color-sets", machine(None));
    let result = &report.results[0];
    assert_eq!(result["pages"], 512);
    assert_eq!(result["outside"], 0, "{result}");
}

#[test]
fn sets_of_tasks_on_x86_64() {
    sets(Arch::X86_64, Config::Plain);
}

#[test]
fn sets_of_tasks_on_arm64() {
    sets(Arch::Arm64, Config::Plain);
}

/// What each load of a task with a set got: pages of other colors are counted.
fn pages_of_sets(arch: Arch, config: Config) {
    let report = run(arch, config, "page-color-set-pages", machine(None));
    let number = |what: &str, name: &str| {
        let results = report.results.iter().filter(|result| result["what"] == what);
        results.map(|result| result[name].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!(number("huge in set", "huge"), 4);
    assert_eq!(number("huge in set", "outside"), 0);
    assert_eq!(number("huge in set", "none"), 0);
    // No block has every second color only: a program that asks for huge pages gets one.
    assert_eq!(number("huge asked for", "huge"), 1);
    assert_eq!(number("huge asked for", "outside"), 256);
    assert!(number("huge asked for", "none") >= 1);
    // Where there are some, but none is free, small pages have colors of the set.
    for blocks in ["huge beyond blocks", "huge without blocks"] {
        assert_eq!(number(blocks, "outside"), 0, "{blocks}");
        assert_eq!(number(blocks, "none"), 0, "{blocks}");
        assert!(number(blocks, "fallback") >= 1, "{blocks}");
    }
    assert_eq!(number("huge or small", "huge"), 0);
    assert_eq!(number("huge or small", "outside"), 0);
    assert!(number("huge or small", "fallback") >= 1);
    assert_eq!(number("64 KiB or small", "outside"), 0);
    assert_eq!(number("khugepaged stays", "collapsed"), 0);
    assert_eq!(number("khugepaged stays", "outside"), 0);
    assert!(number("khugepaged stays", "failed") >= 1);
    assert_eq!(number("khugepaged", "collapsed"), 1);
    assert_eq!(number("khugepaged", "outside"), 0);
    assert!(number("compaction", "pages") >= 100);
    assert_eq!(number("compaction", "outside"), 0);
    // 512 MiB have 32 frames of a color.
    let (pages, outside) = (number("small", "pages"), number("small", "outside"));
    assert!((pages - 32..pages).contains(&outside), "{outside} of {pages}");
    assert!(number("small", "none") >= outside);
}

#[test]
fn pages_of_sets_on_x86_64() {
    pages_of_sets(Arch::X86_64, Config::Plain);
}

#[test]
fn pages_of_sets_on_arm64() {
    pages_of_sets(Arch::Arm64, Config::Plain);
}

/// Colors that a program's pages have, and that the kernel knows it to hold, after each
/// way of unmapping, moving, copying or replacing pages.
fn held(arch: Arch, config: Config) {
    let report = run(arch, config, "page-color-held", machine(None));
    let (nothing, ways) = report.results.split_last().unwrap();
    assert_eq!(nothing["held"], 0, "{nothing}");
    assert_eq!(ways.len(), 30);
    for result in ways {
        let (colors, held) = (result["colors"].as_u64().unwrap(), result["held"].as_u64().unwrap());
        // 1,024 pages or more come or go in each way.
        assert!((512..=3584).contains(&colors), "{result}");
        match result["what"].as_str().unwrap() {
            // Three of four pages were the same.
            "merged" | "merged, zero" => assert!(colors < 600, "{result}"),
            // Pages that came in no other way than this share no color.
            "touched" | "file by userfaultfd" => assert!(colors > 2040, "{result}"),
            // Of 3,072 pages 256 would, if they stayed.
            "made room" => assert!(colors > 3040, "{result}"),
            _ => (),
        }
        // Pages that the CPU has ready count as held.
        assert!((colors..=colors + 512).contains(&held), "{result}");
    }
}

#[test]
fn held_colors_on_x86_64() {
    held(Arch::X86_64, Config::Plain);
}

#[test]
fn held_colors_on_arm64() {
    held(Arch::Arm64, Config::Plain);
}

fn sets_of_cgroups(arch: Arch, config: Config) {
    let report = run(arch, config, "page-color-cgroups", machine(None));
    let result = &report.results[0];
    assert_eq!(result["pages"], 512);
    for pages in ["cgroup", "changed", "own"] {
        assert_eq!(result[pages], 0, "{result}");
    }
}

#[test]
fn sets_of_cgroups_on_x86_64() {
    sets_of_cgroups(Arch::X86_64, Config::Plain);
}

#[test]
fn sets_of_cgroups_on_arm64() {
    sets_of_cgroups(Arch::Arm64, Config::Plain);
}

/// Builds a kernel with KASAN and lockdep: `cargo test -p huepage-lab --test lab
/// page_color -- --ignored`
#[test]
#[ignore = "takes many minutes"]
fn control_and_sets_under_the_kernels_checks() {
    control(Arch::X86_64, Config::Debug);
    sets(Arch::X86_64, Config::Debug);
    pages_of_sets(Arch::X86_64, Config::Debug);
    sets_of_cgroups(Arch::X86_64, Config::Debug);
}

fn at_boot(option: &str) -> Value {
    let machine = machine(Some(option));
    let report = run(Arch::X86_64, Config::Plain, "page-color-control", machine);
    result(&report, "boot").clone()
}

#[test]
fn the_boot_parameter_gives_the_geometry() {
    says(
        &at_boot("page_color=32768,ways=2"),
        &[
            ("enabled", "1"),
            ("cache_size", "32768K"),
            ("ways", "2"),
            ("colors", "4096"),
            ("source", "boot"),
        ],
    );
}

#[test]
fn a_boot_parameter_that_is_wrong_leaves_coloring_off() {
    for option in [
        "page_color=32X",
        "page_color=1T",
        "page_color=auto,ways=2",
        "page_color=32768,policy=sequence",
        "page_color=off",
    ] {
        let result = at_boot(option);
        says(&result, &[("enabled", "0")]);
        assert_ne!(result["source"], "boot", "{option}");
    }
}

/// Three nodes: behind a direct-mapped cache, behind one of another kind, without
/// any; processors on the first.
fn three_nodes() -> Machine {
    let mut machine = machine(Some("page_color=auto"));
    machine.memory = Bytes::mib(768);
    let mut words = "-machine hmat=on".to_owned();
    for node in 0..3 {
        words += &format!(" -object memory-backend-ram,id=mem{node},size=256M");
        let cpus = if node == 0 { ",cpus=0-1" } else { "" };
        words += &format!(" -numa node,nodeid={node},memdev=mem{node},initiator=0{cpus}");
        for (kind, value) in [("latency", "latency=10"), ("bandwidth", "bandwidth=10G")] {
            words += &format!(
                " -numa hmat-lb,initiator=0,target={node},hierarchy=memory,\
                 data-type=access-{kind},{value}"
            );
        }
    }
    for (node, kind) in [(0, "direct"), (1, "complex")] {
        words += &format!(
            " -numa hmat-cache,node-id={node},size=64M,level=1,associativity={kind},\
             policy=write-back,line=64"
        );
    }
    machine.qemu_options = words.split(' ').map(str::to_owned).collect();
    machine
}

#[test]
fn memory_side_caches_are_found_by_node() {
    let report = run(Arch::X86_64, Config::Plain, "page-color-control", three_nodes());
    says(
        result(&report, "boot"),
        &[("enabled", "1"), ("cache_size", "mixed"), ("colors", "mixed"), ("source", "mixed")],
    );
    says(
        of(&report, "node", 0),
        &[("cache_size", "65536K"), ("ways", "1"), ("colors", "16384"), ("source", "hmat")],
    );
    for node in [1, 2] {
        assert_ne!(of(&report, "node", node)["source"], "hmat");
    }
    for node in [0, 1] {
        says(of(&report, "side", node), &[("address_mode", "0x0")]);
    }
}

/// An HMAT that says: node 0 is behind a direct-mapped cache whose capacity is added
/// to it. QEMU cannot write one with an address mode.
fn extended_linear(cache: Bytes) -> Vec<u8> {
    let mut table = b"HMAT\0\0\0\0\x02\0LABLABLABTABLE\x01\0\0\0LAB \x01\0\0\0\0\0\0\0".to_vec();
    // Memory proximity domain attributes: initiator and memory 0.
    table.extend([0, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0]);
    table.extend([0; 28]);
    // Memory-side cache information: one level, this one, direct-mapped, write-back,
    // lines of 64 bytes, extended linear.
    table.extend([2, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    table.extend(cache.0.to_le_bytes());
    table.extend(0x0040_1111_u32.to_le_bytes());
    table.extend([1, 0, 0, 0]);
    let length = u32::try_from(table.len()).unwrap();
    table[4..8].copy_from_slice(&length.to_le_bytes());
    let sum = table.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    table[9] = sum.wrapping_neg();
    table
}

#[test]
fn an_extended_linear_cache_is_found() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), extended_linear(Bytes::mib(256))).unwrap();
    let mut machine = machine(Some("page_color=auto"));
    let words = format!(
        "-object memory-backend-ram,id=mem0,size=512M -numa node,nodeid=0,memdev=mem0,cpus=0-1 \
         -acpitable file={}",
        file.path().display()
    );
    machine.qemu_options = words.split(' ').map(str::to_owned).collect();
    let report = run(Arch::X86_64, Config::Plain, "page-color-control", machine);
    says(of(&report, "side", 0), &[("address_mode", "0x1")]);
    says(
        result(&report, "boot"),
        &[
            ("enabled", "1"),
            ("cache_size", "262144K"),
            ("ways", "1"),
            ("colors", "65536"),
            ("source", "hmat-extended-linear"),
        ],
    );
}
