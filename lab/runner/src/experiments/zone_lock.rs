// SPDX-License-Identifier: MIT OR Apache-2.0
//! `zone-lock`: how often the lock of the page allocator's free lists is taken for a
//! page, and for how many instructions it is held, by number of CPUs.

mod page;
mod rows;

use anyhow::ensure;
use huepage::units::Bytes;

use crate::{
    boot::Machine,
    experiment::{Case, Experiment, PAGE, arguments, case_of_each},
    kernel::Config,
    placement::Placement,
    settings::{Point, Settings},
};

/// Pages of a huge page; each CPU gets a multiple of it.
const HUGE: u64 = 512;

/// Kinds of work of the guest.
const WORKS: [&str; 9] = [
    "fill, 4 KiB",
    "free, 4 KiB",
    "fill, 64 KiB",
    "free, 64 KiB",
    "fill, 2 MiB",
    "free, 2 MiB",
    "small loops",
    "write files",
    "free files",
];

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "zone-lock",
    about: "Acquisitions of zone->lock and instructions held per page, by number of CPUs",
    remarks: include_str!("zone_lock.md"),
    settings: &[
        ("arch", "x86_64,arm64", "x86_64"),
        // off and on take the kernel variant huepage.
        ("policy", "stock,off,on", "stock,on"),
        ("cpus", "1,2,8,64", "2"),
        // Of each kind of work, on all CPUs together, and how often it is done.
        ("pages", "65536", "4096"),
        ("rounds", "3", "1"),
        ("memory", "1G", "1G"),
        // The cache that pages are colored for; direct-mapped.
        ("cache", "32M", "32M"),
    ],
    cases: |settings, _| case_of_each(settings, &["arch", "policy", "cpus"], case),
    rows: |case, report| rows::of(report, case.machine.cpus),
    finish: |_| Ok(()),
    page: page::page,
};

fn case(settings: &Settings, point: &Point) -> anyhow::Result<Case> {
    let arch = point.parsed("arch")?;
    let placement: Placement = point.parsed("policy")?;
    let cpus: u32 = point.parsed("cpus")?;
    let memory: Bytes = settings.only("memory")?;
    let pages: u64 = settings.only("pages")?;
    let rounds: u64 = settings.only("rounds")?;
    ensure!(rounds > 0, "setting rounds=0: there is nothing to count");
    ensure!((1..=64).contains(&cpus), "setting cpus={cpus}: the kernel has 1 to 64");
    ensure!(
        pages > 0 && pages.is_multiple_of(HUGE * u64::from(cpus)),
        "setting pages={pages}: each of {cpus} CPUs is to get a whole number of huge pages"
    );
    ensure!(
        pages * PAGE * 2 <= memory.0,
        "setting pages={pages}: a machine of {memory} has not twice that"
    );
    let mut machine = Machine::plain(cpus, memory);
    // Holds are timed by the TSC, which counts instructions here, on all CPUs the same.
    machine.kernel_options.push("tsc=reliable".into());
    let mut arguments = arguments([
        ("cpus", cpus.to_string()),
        ("pages", pages.to_string()),
        ("rounds", rounds.to_string()),
    ]);
    let cache: Bytes = settings.only("cache")?;
    placement.apply(cache, 1, &mut machine, &mut arguments);
    let mut shown = point.json();
    for name in ["pages", "rounds", "memory", "cache"] {
        shown.insert(name.into(), settings.values(name)[0].clone().into());
    }
    Ok(Case {
        arch,
        variant: placement.variant(),
        config: Config::Lockstat,
        arguments,
        settings: shown,
        ..Case::of("zone-lock", machine)
    })
}

#[cfg(test)]
mod tests;
