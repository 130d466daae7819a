// SPDX-License-Identifier: MIT OR Apache-2.0
//! `thirty-days`: a machine day after day; each evening a program and huge pages are
//! tried.

mod days;
mod page;
pub(super) mod rows;

use std::time::Duration;

use anyhow::ensure;
use huepage::units::Bytes;
use serde_json::json;

use super::aging::keep_page_back;
use crate::{
    arch::Arch,
    boot::Machine,
    experiment::{Case, Experiment, PAGE, arguments, case_of_each, map},
    placement::Placement,
    settings::{Point, Settings},
};

/// Memory beside the program: the kernel, and a table of the program's pages.
const KERNEL: u64 = 48 << 20;
/// Kinds of days, in the guest's names.
const KINDS: [&str; 3] = ["mixed", "cache-heavy", "stream"];
/// The stock kernel, and memory compacted each evening.
const COMPACT: &str = "compact";

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "thirty-days",
    about: "A program's conflicts, free memory and huge pages, evening after evening",
    remarks: include_str!("thirty_days.md"),
    settings: &[
        ("arch", "x86_64", "x86_64"),
        // on takes the kernel variant huepage; compact is stock, compacted each evening.
        ("policy", "stock,compact,shuffle,on", "stock,on"),
        ("kind", "mixed,cache-heavy,stream", "mixed,cache-heavy,stream"),
        ("seed", "1,2,3,4,5,6,7,8,9,10", "1"),
        ("days", "30", "2"),
        ("cache", "16M", "16M"),
        ("ways", "1", "1"),
        ("memory", "256M", "256M"),
        // Pages of the program, in caches.
        ("fill", "0.94", "0.94"),
    ],
    cases: |settings, _| case_of_each(settings, &["arch", "kind", "policy", "seed"], case),
    rows: rows::of,
    finish: |_| Ok(()),
    page: page::page,
};

fn case(settings: &Settings, point: &Point) -> anyhow::Result<Case> {
    Days {
        kind: point.text("kind"),
        days: settings.only("days")?,
        cache: settings.only("cache")?,
        ways: settings.only("ways")?,
        memory: settings.only("memory")?,
        fill: settings.only("fill")?,
    }
    .case(point)
}

/// A machine that works for days.
pub struct Days<'a> {
    /// The kind of days, in the guest's name.
    pub kind: &'a str,
    /// The number of days.
    pub days: u32,
    /// The cache that pages are colored for.
    pub cache: Bytes,
    /// The ways of the cache.
    pub ways: u32,
    /// The memory of the machine.
    pub memory: Bytes,
    /// Pages of the program, in caches.
    pub fill: f64,
}

impl Days<'_> {
    /// A boot of it, with architecture, policy and seed of a point.
    ///
    /// # Errors
    /// A setting that makes no sense.
    pub fn case(&self, point: &Point) -> anyhow::Result<Case> {
        let arch: Arch = point.parsed("arch")?;
        let policy = point.text("policy");
        let seed = point.seed()?;
        let &Days { kind, days, cache, ways, memory, fill } = self;
        let placement = if policy == COMPACT { "stock" } else { policy };
        let placement: Placement =
            placement.parse().map_err(|error| anyhow::anyhow!("{error}, {COMPACT}"))?;
        ensure!(KINDS.contains(&kind), "no kind of day '{kind}'; there are {}", KINDS.join(", "));
        ensure!(
            ways > 0 && cache.0 > 0 && cache.0.is_multiple_of(u64::from(ways) * PAGE),
            "a cache of {cache} is no whole number of pages in each of {ways} ways"
        );
        ensure!(fill > 0.0 && fill.is_finite(), "setting fill={fill}: no size of a program");
        let pages = (fill * (cache.0 / PAGE) as f64) as u64;
        ensure!(
            pages * PAGE + KERNEL <= memory.0,
            "a machine of {memory} is too small for {fill} of {cache}"
        );
        let mut machine = Machine::plain(2, memory);
        let mut arguments = arguments([
            ("kind", kind.to_owned()),
            ("days", days.to_string()),
            ("seed", seed.to_string()),
            ("colors", (cache.0 / PAGE / u64::from(ways)).to_string()),
            ("ways", ways.to_string()),
            ("pages", pages.to_string()),
            ("compact", u32::from(policy == COMPACT).to_string()),
        ]);
        placement.apply(cache, ways, &mut machine, &mut arguments);
        keep_page_back(&mut machine, arch, seed);
        let mut shown = point.json();
        shown.extend(map([
            ("cache", json!(cache.to_string())),
            ("ways", json!(ways)),
            ("memory", json!(memory.to_string())),
            ("fill", json!(fill)),
        ]));
        Ok(Case {
            arch,
            variant: placement.variant(),
            arguments,
            settings: shown,
            limit: Duration::from_secs(7200),
            ..Case::of("days", machine)
        })
    }
}

#[cfg(test)]
mod tests;
