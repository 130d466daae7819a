// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each value that `zero_pages=` may have, and some that it may not, boots and says
//! what came of it.

use huepage::units::Bytes;
use huepage_lab::{arch::Arch, boot::Machine, kernel::Config};

use crate::support::booted;

/// What a kernel said of zero pages, and what is so.
struct Booted {
    /// Lines of its log.
    said: Vec<String>,
    /// How many there are, why, and in how many frames untouched memory lies.
    number: u64,
    reason: String,
    frames: u64,
}

fn boot(arch: Arch, machine: Machine) -> Booted {
    let (report, log) = booted::run_and_log(arch, Config::Plain, "zero-pages-boot", machine, &[]);
    let find = |key: &str| {
        let found = report.results.iter().find_map(|result| result.get(key));
        found.unwrap_or_else(|| panic!("no {key}: {:?}", report.results)).clone()
    };
    assert_eq!(find("zero"), true);
    let said = |line: &str| Some(line.split_once("zero_pages: ")?.1.trim().to_owned());
    Booted {
        said: log.lines().filter_map(said).collect(),
        number: find("number").as_u64().unwrap(),
        reason: find("reason").as_str().unwrap().to_owned(),
        frames: find("frames").as_u64().unwrap(),
    }
}

/// One kernel for each value: the number of zero pages, and how lines of the log begin;
/// none where it was not asked.
fn each(arch: Arch, values: &[(Option<&str>, u64, &[&str])]) {
    for (value, number, expected) in values {
        let mut machine = Machine::plain(1, Bytes::mib(256));
        machine.kernel_options.extend(value.map(|value| format!("zero_pages={value}")));
        let booted = boot(arch, machine);
        let lines = &booted.said;
        assert_eq!(lines.len(), expected.len(), "{arch} {value:?}: {lines:?}");
        for (line, expected) in lines.iter().zip(*expected) {
            assert!(line.starts_with(expected), "{arch} {value:?}: {line}");
        }
        assert_eq!((booted.number, booted.frames), (*number, *number), "{arch} {value:?}");
    }
}

#[test]
fn every_value_boots_on_x86_64() {
    // QEMU's processor: an L1 of 64 KiB and 2 ways, an L2 of 512 KiB and 16.
    each(
        Arch::X86_64,
        &[
            (None, 1, &[]),
            (Some("off"), 1, &[]),
            (Some("auto"), 8, &["8 (auto: pages of one way of the cache)"]),
            (Some("l1"), 8, &["8 (l1: pages of one way of the cache)"]),
            (Some("l2"), 8, &["8 (l2: pages of one way of the cache)"]),
            (Some("1"), 1, &["1 (number: asked for"]),
            (Some("2"), 2, &["2 (number: asked for"]),
            (Some("256"), 256, &["256 (number: asked for"]),
            (Some("3"), 1, &["3: not off, auto, l1, l2 or a power of two"]),
            (Some("0"), 1, &["0: not off, auto, l1, l2 or a power of two"]),
            (Some("4294967296"), 1, &["4294967296: not off"]),
            (Some("many"), 1, &["many: not off, auto, l1, l2 or a power of two"]),
        ],
    );
}

#[test]
fn every_value_boots_on_arm64() {
    // The device tree of QEMU's virt tells of no caches, and registers alone are not
    // to be trusted.
    each(
        Arch::Arm64,
        &[
            (None, 1, &[]),
            (Some("off"), 1, &[]),
            (Some("auto"), 1, &["L1: its size or its number of ways is not known", "1 (auto: its"]),
            (Some("l1"), 1, &["L1: its size or its number of ways is not known", "1 (l1: its"]),
            (Some("l2"), 1, &["L2: its size or its number of ways is not known", "1 (l2: its"]),
            (Some("8"), 8, &["8 (number: asked for"]),
            (Some("3"), 1, &["3: not off, auto, l1, l2 or a power of two"]),
        ],
    );
}

/// A machine with a page missing from each MiB that the kernel does not lie in itself: no
/// block of 256 pages is free, while blocks of 128 are.
fn in_pieces(zero_pages: u64) -> Machine {
    const MEMORY: u64 = 64;
    // From where the kernel is unpacked to, to the end of the MiB that it ends in.
    const KERNEL: std::ops::Range<u64> = 16..27;
    let mut machine = Machine::plain(1, Bytes::mib(MEMORY));
    // The last is the initial file system's.
    let missing = (1..MEMORY - 1).filter(|mib| !KERNEL.contains(mib));
    let missing: Vec<String> =
        missing.map(|mib| format!("4K$0x{:x}", (mib << 20) + (512 << 10))).collect();
    machine.kernel_options =
        vec![format!("memmap={}", missing.join(",")), format!("zero_pages={zero_pages}")];
    machine
}

#[test]
fn without_memory_for_so_many_there_is_one_and_the_log_says_so() {
    let booted = boot(Arch::X86_64, in_pieces(256));
    assert_eq!(booted.said, ["no memory for 256 pages in a row; there is one zero page"]);
    assert_eq!((booted.number, booted.frames), (1, 1));
    assert_eq!(booted.reason, "there was no memory for more");
    // It is pieces that are too small, not the machine.
    let booted = boot(Arch::X86_64, in_pieces(128));
    assert_eq!(booted.said, ["128 (number: asked for on the command line)"]);
    assert_eq!((booted.number, booted.frames), (128, 128));
}
