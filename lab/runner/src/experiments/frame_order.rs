// SPDX-License-Identifier: MIT OR Apache-2.0
//! S5: the effect of the order of frames. Parallel sequential readers, and the number
//! of requests for their pages if a controller merges only what is contiguous in
//! memory.

mod page;
mod pairs;
mod phase;

use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use huepage::units::Bytes;
use serde_json::{Map, Value};

use super::readers;
use crate::{
    arch::Arch,
    boot::{Content, Disk, FileSystem, Kind, Machine, Report},
    experiment::{self, Case, Experiment, Found, arguments, map},
    kernel::{Config, Variant},
    placement::Placement,
    results::Row,
    settings::{Point, Settings},
};
use phase::{Costs, Counts, Phase};

/// A day of other work, as in `lab/guest/age.h`: percent of free memory faulted and
/// freed in random order, how often, one page of how many stays; percent copied by
/// children, percent read from files. Machines are small here: with more, they run
/// out of memory.
const DAY: [(&str, u64); 5] =
    [("pages", 60), ("rounds", 2), ("keep", 16), ("forked", 4), ("files", 15)];

/// The size of a single read past the cache; readers read a multiple of it.
const DIRECT_READ: u64 = 1 << 20;

/// Settings of which only one at a time has another than its first value.
const ONE_AT_A_TIME: [&str; 4] = ["fs", "memory", "read_ahead", "segments"];

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "frame-order",
    about: "Requests of sequential readers by order of frames, on fresh and aged memory (S5)",
    remarks: include_str!("frame_order.md"),
    settings: &[
        ("arch", "x86_64", "x86_64,arm64"),
        ("fs", "ext2,ext4", "ext2"),
        ("memory", "256M,320M", "128M"),
        ("readers", "1,4,16,64", "1,8"),
        // reverse takes the kernel of lab/kernel, which gives the frames of a refill in reverse;
        // on the variant huepage, and colors for a direct-mapped cache of this size.
        ("policy", "stock,reverse,on", "stock"),
        ("cache", "16M", "16M"),
        // Days of other work before: 0 is a fresh boot.
        ("age", "0,1", "0,1"),
        // All seeds with the first file system, memory, read-ahead and limit of
        // segments; otherwise only the first seed.
        ("seed", "1,2,3,4,5,6,7,8,9,10", "1"),
        ("read_ahead", "128K,512K,1M", "128K"),
        // Most segments of a request.
        ("segments", "14,1,62,126", "14"),
        // Read by all readers together, through the cache and past it.
        ("total", "512M", "192M"),
        ("direct", "64M", "16M"),
        // The controller's time.
        ("request_us", "100", "100"),
        ("segment_us", "1", "1"),
        ("link_mbs", "400", "400"),
    ],
    cases,
    rows,
    finish: |rows| {
        add_spreads(rows);
        Ok(())
    },
    page: page::page,
};

fn cases(settings: &Settings, _: Variant) -> anyhow::Result<Vec<Case>> {
    let mut names = vec!["arch"];
    names.extend(ONE_AT_A_TIME);
    names.extend(["policy", "readers", "age", "seed"]);
    let points = settings.grid(&names).into_iter().filter(|point| {
        let others = |names: &[&str]| readers::others(settings, point, names);
        others(&ONE_AT_A_TIME) == 0 || others(&ONE_AT_A_TIME) + others(&["seed"]) == 1
    });
    points.map(|point| case(settings, &point)).collect()
}

fn rows(case: &Case, report: &Report) -> anyhow::Result<Vec<Found>> {
    let costs = Costs::of(&case.settings)?;
    let readers = case.machine.disks.len() as u32 - 1;
    let said = |key: &str| {
        let found = report.results.iter().find(|result| result.get(key).is_some());
        found.with_context(|| format!("the guest printed no {key}"))
    };
    let frames = said("pairs")?;
    let share = |name: &str| {
        let count = |name: &str| frames.get(name).and_then(Value::as_f64).unwrap_or(0.0);
        Value::from(count(name) / count("pairs").max(1.0))
    };
    let mut rows = Vec::new();
    for phase in Phase::ALL {
        let counts = Counts::of(&report.requests, readers, phase)?;
        let guest = report.results.iter().find(|result| result["phase"] == phase.name());
        let guest = guest.with_context(|| format!("the guest reports no {}", phase.name()))?;
        ensure!(
            guest["reads"] == counts.requests && guest["sectors"] == counts.bytes / 512,
            "the guest completed {} reads of {} sectors in the phase {}, the emulator saw {} \
             of {}",
            guest["reads"],
            guest["sectors"],
            phase.name(),
            counts.requests,
            counts.bytes / 512
        );
        let mut metrics = counts.metrics(&costs);
        if phase == Phase::Cached {
            metrics.insert("ascending_share".into(), share("ascending"));
            metrics.insert("descending_share".into(), share("descending"));
            let limits = said("max_segments")?.as_object().context("limits are an object")?;
            metrics.extend(limits.clone());
        }
        rows.push((map([("mode", phase.name().into())]), metrics));
    }
    Ok(rows)
}

/// Adds the spread of requests over boots that differ only in their seed.
fn add_spreads(rows: &mut [Row]) {
    let point = |row: &Row| {
        let mut settings = row.settings.clone();
        settings.remove("seed");
        (row.variant.clone(), settings)
    };
    for number in 0..rows.len() {
        let this = point(&rows[number]);
        let same = rows.iter().filter(|row| point(row) == this);
        let requests: Vec<f64> = same.filter_map(|row| row.metric("requests")).collect();
        if requests.len() > 1 {
            rows[number].metrics.insert("spread".into(), spread(&requests).into());
        }
    }
}

/// Largest less smallest, as a share of the mean.
fn spread(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(f64::MIN, f64::max);
    let smallest = values.iter().copied().fold(f64::MAX, f64::min);
    (largest - smallest) * values.len() as f64 / values.iter().sum::<f64>()
}

fn case(settings: &Settings, point: &Point) -> anyhow::Result<Case> {
    let arch: Arch = point.parsed("arch")?;
    let kind: Kind = point.parsed("fs")?;
    let memory: Bytes = point.parsed("memory")?;
    let (readers, read_ahead, segments) = readers::checked(point)?;
    let policy = point.text("policy");
    let part = |name: &str| {
        let total: Bytes = settings.only(name)?;
        ensure!(
            total.0 > 0 && total.0.is_multiple_of(readers * DIRECT_READ),
            "setting {name}={total} is no whole number of MiB for each of {readers} readers"
        );
        Ok(total.0 / readers)
    };
    let (bytes, direct) = (part("total")?, part("direct")?);
    ensure!(direct <= bytes, "setting direct: more than total, but it is read from the same files");

    let mut machine = Machine::plain(1, memory);
    let file = Content::FileSystem(FileSystem { kind, file: Bytes(bytes) });
    // A queue takes 2 at least.
    let queue = segments.max(2);
    machine.disks = vec![Disk { content: file, segments: queue }; readers as usize];
    // A read of one sector of it marks where a phase begins or ends; aging reads it.
    machine.disks.push(Disk { content: Content::Zeros(memory), segments: queue });
    machine.kernel_options =
        [readers::awake(arch), "hugepagesz=2M", "hugepages=1"].map(str::to_owned).to_vec();

    let mut config = Config::Plain;
    let mut lab = |option: String| {
        config = Config::Lab;
        machine.kernel_options.push(option);
    };
    let placement: Placement = match policy {
        "reverse" => {
            lab("lab.reverse=1".into());
            Placement::Stock
        }
        _ => point.parsed("policy").map_err(|error| anyhow!("{error:#}, reverse"))?,
    };
    if segments != queue {
        lab(format!("lab_disk.segments={segments}"));
    }
    let mut shown = point.json();
    let seed: u64 = point.parsed("seed")?;
    let age: u64 = point.parsed("age")?;
    let number = |name: &str| settings.only::<f64>(name).map(Value::from);
    let more: Map<String, Value> = map([
        ("cache", settings.only::<Bytes>("cache")?.to_string().into()),
        ("bytes_per_reader", bytes.into()),
        ("direct_bytes_per_reader", direct.into()),
        ("request_us", number("request_us")?),
        ("segment_us", number("segment_us")?),
        ("link_mbs", number("link_mbs")?),
    ]);
    shown.extend(more);
    shown.extend(DAY.map(|(name, value)| (format!("aging_{name}"), value.into())));
    let cache: Bytes = settings.only("cache")?;
    let mut arguments = arguments([
        ("readers", readers),
        ("bytes", bytes),
        ("direct", direct),
        ("age", age),
        ("seed", seed),
        ("read_ahead", read_ahead.0 >> 10),
    ]);
    arguments.extend(experiment::arguments(DAY));
    arguments.push(("fs".into(), kind.name().into()));
    placement.apply(cache, 1, &mut machine, &mut arguments);
    Ok(Case {
        arch,
        variant: placement.variant(),
        config,
        arguments,
        settings: shown,
        limit: Duration::from_secs(300),
        ..Case::of("frame-order", machine)
    })
}

#[cfg(test)]
mod tests;
