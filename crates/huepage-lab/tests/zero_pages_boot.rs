// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each value that `zero_pages=` may have, and some that it may not, boots and says
//! what came of it.

#[path = "support/booted.rs"]
mod booted;

use huepage::units::Bytes;
use huepage_lab::{arch::Arch, boot::Machine, kernel::Config};

/// What the kernel said of zero pages; nothing where it was not asked.
fn said(arch: Arch, option: Option<&str>) -> Vec<String> {
    let mut machine = Machine::plain(1, Bytes::mib(256));
    machine.kernel_options.extend(option.map(|value| format!("zero_pages={value}")));
    let (_, log) = booted::run_and_log(arch, Config::Plain, "hello", machine, &[("fail", "no")]);
    log.lines().filter_map(|l| Some(l.split_once("zero_pages: ")?.1.trim().to_owned())).collect()
}

fn each(arch: Arch, values: &[(Option<&str>, &[&str])]) {
    for (value, expected) in values {
        let lines = said(arch, *value);
        assert_eq!(lines.len(), expected.len(), "{arch} {value:?}: {lines:?}");
        for (line, expected) in lines.iter().zip(*expected) {
            assert!(line.starts_with(expected), "{arch} {value:?}: {line}");
        }
    }
}

#[test]
fn every_value_boots_on_x86_64() {
    // QEMU's processor: an L1 of 64 KiB and 2 ways, an L2 of 512 KiB and 16.
    each(
        Arch::X86_64,
        &[
            (None, &[]),
            (Some("off"), &[]),
            (Some("auto"), &["8 (auto: pages of one way of the cache)"]),
            (Some("l1"), &["8 (l1: pages of one way of the cache)"]),
            (Some("l2"), &["8 (l2: pages of one way of the cache)"]),
            (Some("1"), &["1 (number: asked for"]),
            (Some("2"), &["2 (number: asked for"]),
            (Some("256"), &["256 (number: asked for"]),
            (Some("3"), &["3: not off, auto, l1, l2 or a power of two"]),
            (Some("0"), &["0: not off, auto, l1, l2 or a power of two"]),
            (Some("4294967296"), &["4294967296: not off"]),
            (Some("many"), &["many: not off, auto, l1, l2 or a power of two"]),
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
            (None, &[]),
            (Some("off"), &[]),
            (Some("auto"), &["L1: its size or its number of ways is not known", "1 (auto: its"]),
            (Some("l1"), &["L1: its size or its number of ways is not known", "1 (l1: its"]),
            (Some("l2"), &["L2: its size or its number of ways is not known", "1 (l2: its"]),
            (Some("8"), &["8 (number: asked for"]),
            (Some("3"), &["3: not off, auto, l1, l2 or a power of two"]),
        ],
    );
}
