// SPDX-License-Identifier: MIT OR Apache-2.0
//! S1: STREAM behind a direct-mapped memory-side cache, fresh and after days of
//! other work.

mod cases;
mod chance;
mod check;
mod lines;
mod page;
mod picture;
mod rows;
mod scope;
mod theory;

pub(super) use cases::keep_page_back;
pub(super) use theory::{gbs, random_share};

use anyhow::Context;

use crate::{
    boot::Report,
    experiment::{Case, Experiment, Found},
    kernel::Variant,
    settings::Settings,
};

/// Policies other than those of [`crate::placement::Placement`] exist only in this
/// experiment.
const POLICIES: [&str; 9] =
    ["stock", "shuffle", "thp", "off", "on", "zonesort", "compact", "least-used", "random"];

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "aging",
    about: "STREAM behind a direct-mapped memory-side cache, fresh and aged (S1)",
    remarks: include_str!("aging.md"),
    settings: &[
        ("arch", "x86_64", "x86_64,arm64"),
        // memory-side: a cache in front of all memory. flat: the CXL form, memory twice the
        // cache, so two frames to a color.
        ("form", "memory-side,flat", "memory-side,flat"),
        // off and on take the kernel variant huepage.
        ("policy", "stock,shuffle,thp,off,on,zonesort,compact,least-used,random", "stock,random"),
        // How the arrays are first touched: by one worker in order or at random, by two
        // threads or two processes in turns. scope.rs selects the points of the grid.
        ("touch", "ordered,random,threads,processes", "ordered"),
        ("intensity", "light,medium,heavy", "heavy"),
        ("fill", "0.5,0.94,1.0,1.25,1.5,2.0", "0.5,1.0"),
        ("ages", "3", "1"),
        ("cache", "64M,256M", "32M"),
        // Of the form flat. Larger, so that the kernel's own memory is a small part of
        // it, as on a real machine: with two frames to a color there is no choice if
        // the kernel has one of them.
        ("flat_cache", "128M", "64M"),
        // In caches; of the form memory-side. The control takes twice as much.
        ("memory", "8", "8"),
        // Where the files of the page cache are. The time of a disk's answer varies, so
        // no two runs are the same.
        ("cached", "memory", "memory"),
        ("seed", "1,2,3,4,5,6,7,8,9,10", "1"),
        // The fill of seeds and caches other than the first.
        ("chance_fill", "0.94", "0.5"),
        ("hit_gbs", "336", "336"),
        ("miss_gbs", "85", "85"),
    ],
    cases,
    rows,
    finish: |rows| check::off_is_stock(rows),
    page: page::page,
};

fn cases(settings: &Settings, _: Variant) -> anyhow::Result<Vec<Case>> {
    let mut boots = Vec::new();
    let names = [
        "arch",
        "form",
        "policy",
        "intensity",
        "touch",
        "cache",
        "flat_cache",
        "memory",
        "cached",
        "seed",
        "hit_gbs",
        "miss_gbs",
    ];
    for point in settings.grid(&names) {
        if let Some(scope) = scope::of(settings, &point)? {
            boots.push(cases::case(&point, &scope).context(point.to_string())?);
        }
    }
    Ok(boots)
}

fn rows(case: &Case, report: &Report) -> anyhow::Result<Vec<Found>> {
    let found = rows::of(case, report)?;
    found.iter().try_for_each(|found| check::row(case, found))?;
    Ok(found)
}
