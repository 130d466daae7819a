// SPDX-License-Identifier: MIT OR Apache-2.0
//! `fault-cost`: instructions that the kernel executes per page, with page coloring
//! left out, off and on.

mod functions;
mod page;
mod rows;

use anyhow::ensure;
use huepage::units::Bytes;

use crate::{
    boot::{Content, Disk, Machine},
    experiment::{Case, Experiment, PAGE, arguments, case_of_each},
    model::Model,
    placement::Placement,
    settings::{Point, Settings},
};

/// Kinds of work with the guest's regions.
const WORKS: [(&str, u32); 15] = [
    ("touch in order", 1),
    ("unmap", 2),
    ("touch at random", 3),
    ("unmap after random", 8),
    ("fork, copy, exit", 4),
    ("write a file", 5),
    ("free a file", 6),
    ("read a disk", 7),
    ("forget a disk", 9),
    ("touch, 64 KiB", 10),
    ("unmap, 64 KiB", 11),
    ("touch, 2 MiB", 12),
    ("unmap, 2 MiB", 13),
    ("touch, 64 KiB, beside small pages", 14),
    ("touch, 64 KiB, beside locked pages", 15),
];

/// These need a cache of so many colors.
const LATE_COLORS: u64 = 64;

/// Works that are left out where colors are fewer.
fn is_late(work: &str) -> bool {
    work.contains("beside")
}

/// Pairs of works of which the second undoes the first.
const LIVES: [[&str; 2]; 6] = [
    ["touch in order", "unmap"],
    ["touch at random", "unmap after random"],
    ["write a file", "free a file"],
    ["read a disk", "forget a disk"],
    ["touch, 64 KiB", "unmap, 64 KiB"],
    ["touch, 2 MiB", "unmap, 2 MiB"],
];

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "fault-cost",
    about: "Instructions of the kernel per page, page coloring left out, off and on",
    remarks: include_str!("fault_cost.md"),
    settings: &[
        ("arch", "x86_64,arm64", "x86_64,arm64"),
        // off and on take the kernel variant huepage.
        ("policy", "stock,off,on", "stock"),
        // Of each kind of work, and how often it is done.
        ("pages", "16384", "4096"),
        ("rounds", "8", "3"),
        ("memory", "256M", "256M"),
        // The cache that pages are colored for; direct-mapped.
        ("cache", "32M", "32M"),
        ("seed", "1", "1"),
        // Whether to count by function of the kernel, which makes boots longer.
        ("functions", "false", "false"),
    ],
    cases: |settings, _| case_of_each(settings, &["arch", "policy"], case),
    rows: |_, report| rows::of(report),
    finish: |rows| {
        rows::beside_stock(rows);
        Ok(())
    },
    page: page::page,
};

fn case(settings: &Settings, point: &Point) -> anyhow::Result<Case> {
    let arch = point.parsed("arch")?;
    let placement: Placement = point.parsed("policy")?;
    let memory: Bytes = settings.only("memory")?;
    let pages: u64 = settings.only("pages")?;
    let rounds: u64 = settings.only("rounds")?;
    ensure!(rounds > 0, "setting rounds=0: there is nothing to count");
    ensure!(
        pages.is_multiple_of(32),
        "setting pages={pages}: files are read in pieces of 32 pages"
    );
    ensure!(pages >= 512, "setting pages={pages}: a page of 2 MiB has 512 of them");
    // Copied once, beside the kernel and its tables.
    ensure!(
        pages * PAGE * 5 / 2 <= memory.0,
        "setting pages={pages}: a machine of {memory} has not two and a half times that"
    );
    let mut machine = Machine::plain(1, memory);
    machine.disks = vec![Disk { content: Content::Zeros(memory), segments: 126 }];
    let seed: u64 = settings.only("seed")?;
    let cache: Bytes = settings.only("cache")?;
    let colors = cache.0 / PAGE;
    ensure!(
        cache.0 * 3 / 2 <= memory.0,
        "setting cache={cache}: a machine of {memory} has not one and a half times that"
    );
    let mut arguments =
        arguments([("pages", pages), ("rounds", rounds), ("seed", seed), ("colors", colors)]);
    placement.apply(cache, 1, &mut machine, &mut arguments);
    let mut shown = point.json();
    for name in ["pages", "rounds", "memory", "cache", "seed"] {
        shown.insert(name.into(), settings.values(name)[0].clone().into());
    }
    Ok(Case {
        arch,
        variant: placement.variant(),
        arguments,
        model: Some(model(settings.only("functions")?)),
        regions: WORKS
            .iter()
            .filter(|(work, _)| colors >= LATE_COLORS || !is_late(work))
            .map(|(_, region)| *region)
            .collect(),
        settings: shown,
        ..Case::of("fault-cost", machine)
    })
}

/// No caches: only instructions are of interest.
fn model(functions: bool) -> Model {
    Model {
        addresses: functions,
        // Otherwise clearing or copying a page would count as hundreds of them.
        count_strings: false,
        ..Model::uncached(1)
    }
}

#[cfg(test)]
mod tests;
