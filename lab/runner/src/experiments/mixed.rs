// SPDX-License-Identifier: MIT OR Apache-2.0
//! `mixed`: colors of a program's pages while other programs run, fresh and aged.

mod figures;
mod limits;
mod page;
mod rows;

use std::time::Duration;

use anyhow::ensure;
use huepage::units::Bytes;
use serde_json::json;

use crate::{
    arch::Arch,
    boot::{Content, Disk, Machine, Node},
    experiment::{Case, Experiment, PAGE, arguments},
    kernel::Variant,
    placement::Placement,
    settings::{Point, Settings},
};

/// The names of the guest, in the order in which loads run; the guest's source
/// describes them. The last ones leave memory in larger blocks than they find it.
const LOADS: &str = "alone,alone-random,anon-churn,file-churn,forks,stream,half-huge,thp-always,mthp,refault,\
    processes-2,processes-4,processes-8,copy-on-write,server,threads,tmpfs,three-kinds,\
    thp-faults,swap,ksm,compaction,collapse,khugepaged,offlining,memcg,shrunk,kcompactd,\
    thp-pieces,late-huge,huge-threads,huge-processes,huge-beside-small,mthp-behind,turnover,\
    turnover-huge,beside-shrunk,at-rest,lazy-free,late-mthp,nodes-2,numa-balancing,mbind";
/// Loads that need disks.
const WITH_DISKS: [&str; 4] = ["stream", "three-kinds", "swap", "memcg"];
/// Loads of a machine of two nodes.
const OF_NODES: [&str; 3] = ["nodes-2", "numa-balancing", "mbind"];
/// Memory that an arm64 machine boots with never goes offline.
const OFFLINING: &str = "offlining";
/// The kernel left alone before the loads of a day.
const IDLE: &str = "idle";

/// The most segments of a request, of each disk.
const SEGMENTS: u32 = 126;

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "mixed",
    about: "Colors of a program's pages while other things run, fresh and aged",
    remarks: include_str!("mixed.md"),
    settings: &[
        ("arch", "x86_64,arm64", "x86_64,arm64"),
        // on takes the kernel variant huepage.
        ("policy", "stock,shuffle,on", "stock"),
        ("seed", "1,2,3,4,5,6,7,8,9,10", "1"),
        // Direct-mapped. All but the first with the first seed only.
        ("cache", "64M,48M", "64M"),
        ("memory", "640M", "640M"),
        // Of it, in a zone of its own, from which programs are given pages first.
        ("movable", "0", "0"),
        // With two, which share memory and CPUs, only loads of nodes; only the first
        // cache.
        ("nodes", "1,2", "1,2"),
        // Ascending; the days in between are other work.
        ("days", "0,1,3,10", "0,1"),
        // Rounds of other work in a day.
        ("rounds", "2", "1"),
        // Pages of the load alone, in caches; other loads take 0.94.
        ("fill", "0.5,0.94,1.5,2.0", "0.5,0.94,1.5"),
        ("load", LOADS, LOADS),
    ],
    cases,
    rows: rows::of,
    finish: |rows| limits::check(rows),
    page: page::page,
};

fn cases(settings: &Settings, _: Variant) -> anyhow::Result<Vec<Case>> {
    let first = |name: &str| settings.values(name)[0].clone();
    let (first_cache, first_seed) = (first("cache"), first("seed"));
    let points = settings.grid(&["arch", "nodes", "cache", "policy", "seed"]);
    let usual = |point: &&Point| {
        point.text("cache") == first_cache
            || point.text("seed") == first_seed && point.text("nodes") == "1"
    };
    let mut cases = Vec::new();
    for point in points.iter().filter(usual) {
        let loads = loads(settings, point.parsed("arch")?, point.parsed("nodes")?)?;
        if !loads.is_empty() {
            cases.push(case(settings, point, &loads)?);
        }
    }
    Ok(cases)
}

/// The loads that a machine with so many nodes runs.
fn loads(settings: &Settings, arch: Arch, nodes: u32) -> anyhow::Result<Vec<&str>> {
    ensure!((1..=2).contains(&nodes), "setting nodes={nodes}: 1 or 2");
    let asked = settings.values("load").iter().map(String::as_str);
    if let Some(load) = asked.clone().find(|load| !LOADS.split(',').any(|name| name == *load)) {
        anyhow::bail!("no load '{load}'; there are {}", LOADS.replace(',', ", "));
    }
    let possible = |load: &&str| {
        OF_NODES.contains(load) == (nodes == 2) && (*load != OFFLINING || arch == Arch::X86_64)
    };
    Ok(asked.filter(possible).collect())
}

fn case(settings: &Settings, point: &Point, loads: &[&str]) -> anyhow::Result<Case> {
    let arch: Arch = point.parsed("arch")?;
    let placement: Placement = point.parsed("policy")?;
    let seed = point.seed()?;
    let cache: Bytes = point.parsed("cache")?;
    let memory: Bytes = settings.only("memory")?;
    let rounds: u32 = settings.only("rounds")?;
    ensure!(
        cache.0 >= 4 << 20 && cache.0.is_multiple_of(1 << 20),
        "a cache of {cache} is not 4 MiB or more in whole MiB"
    );
    let fills: Vec<f64> = settings.parsed("fill")?;
    let largest = fills.iter().copied().fold(0.94, f64::max);
    if let Some(fill) = fills.iter().find(|fill| !(**fill > 0.0 && fill.is_finite())) {
        anyhow::bail!("setting fill={fill}: no size of a program");
    }
    // The load three-kinds takes three times its fill, and a stream a quarter of memory.
    let needed = (cache.0 as f64 * largest.max(3.0 * 0.94) * 4.0 / 3.0) as u64;
    ensure!(
        needed + (64 << 20) <= memory.0,
        "a machine of {memory} is too small for these fills of {cache}"
    );
    let movable: Bytes = settings.only("movable")?;
    ensure!(
        movable.0 * 2 <= memory.0,
        "setting movable={movable}: at most half of a machine of {memory}"
    );
    let days: Vec<u32> = settings.parsed("days")?;
    ensure!(
        days.is_sorted_by(|one, next| one < next),
        "setting days={}: days follow each other",
        settings.values("days").join(",")
    );
    let mut machine = Machine::plain(2, memory);
    if point.text("nodes") == "2" {
        let node = |cpu| Node { memory: Bytes(memory.0 / 2), cpus: Some((cpu, cpu)) };
        machine.nodes = vec![node(0), node(1)];
    }
    // The first is read, the second is swapped to. With disks no two runs are the same,
    // since the time of the host's answers varies.
    if loads.iter().any(|load| WITH_DISKS.contains(load)) {
        let disk = |content| Disk { content, segments: SEGMENTS };
        machine.disks =
            vec![disk(Content::Zeros(Bytes(8 << 30))), disk(Content::Scratch(Bytes(256 << 20)))];
    }
    let mut arguments = arguments([
        ("colors", (cache.0 / PAGE).to_string()),
        ("seed", seed.to_string()),
        ("rounds", rounds.to_string()),
        ("days", settings.values("days").join(",")),
        ("fills", settings.values("fill").join(",")),
        ("loads", loads.join(",")),
    ]);
    placement.apply(cache, 1, &mut machine, &mut arguments);
    let mut shown = point.json();
    if movable.0 > 0 {
        machine.kernel_options.push(format!("movablecore={}K", movable.0 >> 10));
        shown.insert("movable".into(), json!(movable.to_string()));
    }
    shown.insert("memory".into(), json!(memory.to_string()));
    shown.insert("rounds".into(), json!(rounds));
    Ok(Case {
        arch,
        variant: placement.variant(),
        arguments,
        settings: shown,
        limit: Duration::from_secs(7200),
        ..Case::of("mixed", machine)
    })
}

#[cfg(test)]
mod tests;
