// SPDX-License-Identifier: MIT OR Apache-2.0
//! S5: the cost of ascending frames under memory pressure. Sequential readers of files
//! much larger than memory, on disks that take time: how fast they are, and how often
//! and how long they wait for memory.

mod page;

use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use huepage::units::Bytes;
use serde_json::Value;

use super::readers;
use crate::{
    arch::Arch,
    boot::{Content, Disk, FileSystem, Kind, Machine, Report},
    experiment::{Case, Experiment, Found, PAGE, arguments, map},
    kernel::{Config, Variant},
    placement::Placement,
    settings::{Point, Settings},
};

/// The size of a single read; a reader's part is a multiple of it.
const RECORD: u64 = 64 << 10;

/// Settings of which only one at a time has another than its first value.
const ONE_AT_A_TIME: [&str; 5] = ["fs", "memory", "read_ahead", "segments", "segment_size"];

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "sequential-io",
    about: "Throughput of sequential readers under memory pressure, by order of frames (S5)",
    remarks: include_str!("sequential_io.md"),
    settings: &[
        ("arch", "x86_64", "x86_64"),
        ("fs", "ext2,ext4", "ext2"),
        ("memory", "256M,320M", "128M"),
        ("read_ahead", "128K,1M", "128K"),
        // Most segments of a request, and most bytes of a segment: the source's controller
        // merged no pages.
        ("segments", "126,1", "126"),
        ("segment_size", "4K,64K", "4K"),
        // reverse: frames of a refill in reverse. wait: direct reclaim waits as in Linux 2.6.31;
        // wait-each: each time. on: colors for a direct-mapped cache of this size.
        ("policy", "stock,reverse,on,wait,wait-reverse,wait-each", "stock,wait-each"),
        ("cache", "16M", "16M"),
        ("readers", "4,16,64", "16"),
        // Boots of each point with the first values of the settings that vary one at a
        // time.
        ("repeats", "2", "1"),
        // Read by all readers together, through the page cache, then past it.
        ("total", "512M", "192M"),
        // The time of each disk.
        ("request_us", "100", "100"),
        ("segment_us", "0", "0"),
        ("disk_mbs", "40", "20"),
    ],
    cases,
    rows,
    finish: |_| Ok(()),
    page: page::page,
};

fn cases(settings: &Settings, _: Variant) -> anyhow::Result<Vec<Case>> {
    let repeats: u32 = settings.only("repeats")?;
    ensure!(repeats > 0, "setting repeats=0 leaves nothing to run");
    let mut names = vec!["arch"];
    names.extend(ONE_AT_A_TIME);
    names.extend(["policy", "readers"]);
    let mut cases = Vec::new();
    for point in settings.grid(&names) {
        let others = readers::others(settings, &point, &ONE_AT_A_TIME);
        if others > 1 {
            continue;
        }
        for repeat in 1..=if others == 0 { repeats } else { 1 } {
            cases.push(case(settings, &point, repeat)?);
        }
    }
    Ok(cases)
}

fn rows(case: &Case, report: &Report) -> anyhow::Result<Vec<Found>> {
    let row = |mode: &str| {
        let said = report.results.iter().find(|said| said["mode"] == mode);
        let said = said.with_context(|| format!("the guest did not read {mode}"))?;
        let number = |name: &str| {
            let value = said.get(name).and_then(Value::as_f64);
            value.with_context(|| format!("the guest said no {name} of {mode}"))
        };
        let seconds = number("seconds")?;
        ensure!(seconds > 0.0, "the guest read in no time");
        let waits = case.settings["policy"].as_str().is_some_and(|p| p.starts_with("wait"));
        ensure!(
            waits || number("waits")? == 0.0,
            "the kernel waited {} times as it did in 2009, and was not to",
            number("waits")?
        );
        let metrics = map([
            ("mbs", (number("bytes")? / 1e6 / seconds).into()),
            ("seconds", seconds.into()),
            ("stalls", number("stalls")?.into()),
            ("scanned_direct", number("scanned_direct")?.into()),
            ("scanned_kswapd", number("scanned_kswapd")?.into()),
            ("stalled_share", (number("stalled_us")? / 1e6 / seconds).into()),
            ("waits", number("waits")?.into()),
            ("waited_seconds", (number("waited_ms")? / 1e3).into()),
        ]);
        Ok((map([("mode", mode.into())]), metrics))
    };
    ["cached", "direct"].map(row).into_iter().collect()
}

fn case(settings: &Settings, point: &Point, repeat: u32) -> anyhow::Result<Case> {
    let arch: Arch = point.parsed("arch")?;
    let kind: Kind = point.parsed("fs")?;
    let memory: Bytes = point.parsed("memory")?;
    let (readers, read_ahead, segments) = readers::checked(point)?;
    let segment_size: Bytes = point.parsed("segment_size")?;
    let total: Bytes = settings.only("total")?;
    let policy = point.text("policy");
    ensure!(
        (PAGE..=64 << 10).contains(&segment_size.0) && segment_size.0.is_power_of_two(),
        "setting segment_size={segment_size}: a power of two from 4K to 64K"
    );
    ensure!(
        total.0 > 0 && total.0.is_multiple_of(readers * RECORD),
        "setting total={total} is no whole number of 64 KiB for each of {readers} readers"
    );
    let bytes = total.0 / readers;
    let (placement, lab): (Placement, &[&str]) = match policy {
        "reverse" => (Placement::Stock, &["lab.reverse=1"]),
        "wait" => (Placement::Stock, &["lab.wait=1"]),
        "wait-each" => (Placement::Stock, &["lab.wait=2"]),
        "wait-reverse" => (Placement::Stock, &["lab.wait=1", "lab.reverse=1"]),
        _ => {
            let more = "reverse, wait, wait-reverse, wait-each";
            (point.parsed("policy").map_err(|error| anyhow!("{error:#}, {more}"))?, &[])
        }
    };

    let mut machine = Machine::plain(1, memory);
    // A queue takes 2 at least.
    let file = Content::FileSystem(FileSystem { kind, file: Bytes(bytes) });
    let disk = Disk { content: file, segments: segments.max(2) };
    machine.disks = vec![disk; readers as usize];
    let mut options: Vec<String> = lab.iter().map(|&option| option.to_owned()).collect();
    options.push(readers::awake(arch).into());
    if segments == 1 {
        options.push("lab_disk.segments=1".into());
    }
    options.push(format!("lab_disk.segment_size={}", segment_size.0));
    let mut shown = point.json();
    shown.extend(map([
        ("repeat", repeat.into()),
        ("cache", settings.only::<Bytes>("cache")?.to_string().into()),
        ("bytes_per_reader", bytes.into()),
    ]));
    for (name, option) in
        [("request_us", "request_us"), ("segment_us", "segment_us"), ("disk_mbs", "mbs")]
    {
        let value: u32 = settings.only(name)?;
        options.push(format!("lab_disk.{option}={value}"));
        shown.insert(name.into(), value.into());
    }
    machine.kernel_options = options;

    let mut arguments = arguments([
        ("readers", readers),
        ("bytes", bytes),
        ("record", RECORD),
        ("read_ahead", read_ahead.0 >> 10),
    ]);
    arguments.push(("fs".into(), kind.name().into()));
    placement.apply(settings.only("cache")?, 1, &mut machine, &mut arguments);
    Ok(Case {
        arch,
        variant: placement.variant(),
        config: Config::Lab,
        arguments,
        settings: shown,
        limit: Duration::from_secs(1800),
        ..Case::of("sequential-io", machine)
    })
}

#[cfg(test)]
mod tests;
