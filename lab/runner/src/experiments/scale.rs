// SPDX-License-Identifier: MIT OR Apache-2.0
//! `scale`: conflicts and the cost of a fault by the size of the cache, and so by the number
//! of colors, on a machine that has just booted and after days.

mod page;

use huepage::units::Bytes;

use super::thirty_days::{self, Days};
use crate::{
    experiment::{Case, Experiment, case_of_each},
    settings::{Point, Settings},
};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "scale",
    about: "Conflicts and the cost of a fault by the size of the cache",
    remarks: include_str!("scale.md"),
    settings: &[
        ("arch", "x86_64", "x86_64"),
        // on takes the kernel variant huepage.
        ("policy", "stock,on", "stock,on"),
        ("ways", "1,2", "1,2"),
        ("cache", "64M,256M,1G,4G", "32M"),
        ("seed", "1,2,3", "1"),
        ("days", "1", "1"),
        // In caches: memory, and pages of the program.
        ("memory", "3", "8"),
        ("fill", "0.94", "0.94"),
    ],
    cases: |settings, _| case_of_each(settings, &["arch", "cache", "ways", "policy", "seed"], case),
    rows: thirty_days::rows::of,
    finish: |_| Ok(()),
    page: page::page,
};

fn case(settings: &Settings, point: &Point) -> anyhow::Result<Case> {
    let cache: Bytes = point.parsed("cache")?;
    let times: u64 = settings.only("memory")?;
    Days {
        kind: "mixed",
        days: settings.only("days")?,
        cache,
        ways: point.parsed("ways")?,
        memory: Bytes(cache.0.saturating_mul(times)),
        fill: settings.only("fill")?,
    }
    .case(point)
}

#[cfg(test)]
mod tests;
