// SPDX-License-Identifier: MIT OR Apache-2.0
//! `two-guests`: two virtual machines under one host, which color pages or not,
//! combined from frame numbers of real kernels.

mod compose;
mod letters;
mod page;
mod said;

use anyhow::ensure;
use huepage::units::Bytes;
use serde_json::json;

use super::aging::keep_page_back;
use crate::{
    arch::Arch,
    boot::Machine,
    dose::{DOSES, Dose},
    experiment::{Case, Experiment, PAGE, arguments, map},
    kernel::Variant,
    placement::Placement,
    settings::{Point, Settings},
};

/// The host touches its machines' memory in pieces of that.
const HUGE: u64 = 512;
const MACHINES: u64 = 2;
/// The work of a day, on the host and in each guest: heavy.
const DAY: Dose = DOSES[2];

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "two-guests",
    about: "Two virtual machines under one host: what coloring in either is worth",
    remarks: include_str!("two_guests.md"),
    settings: &[
        ("arch", "x86_64", "x86_64"),
        ("seed", "1,2,3,4,5,6,7,8,9,10", "1"),
        // Days of other work, on the host and in each guest.
        ("days", "1", "1"),
        // Direct-mapped, of the host.
        ("cache", "8M", "8M"),
        ("host_memory", "256M", "256M"),
        // Of each guest.
        ("guest_memory", "64M", "64M"),
        // Pages of the program in each guest, in caches.
        ("fill", "0.47", "0.47"),
    ],
    cases,
    rows: said::rows,
    finish: |rows| {
        *rows = compose::all(rows)?;
        Ok(())
    },
    page: page::page,
};

fn cases(settings: &Settings, _: Variant) -> anyhow::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for point in settings.grid(&["arch", "seed"]) {
        for host in [Placement::Stock, Placement::On] {
            cases.push(host_case(settings, &point, host)?);
        }
        for guest in Guest::ALL {
            for machine in 0..MACHINES {
                cases.push(guest_case(settings, &point, guest, machine)?);
            }
        }
    }
    Ok(cases)
}

/// The cache that a guest colors for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guest {
    /// Nothing.
    Stock,
    /// The whole cache.
    On,
    /// Its half of the cache, as divided by the host's sets.
    Half,
}

impl Guest {
    const ALL: [Guest; 3] = [Guest::Stock, Guest::On, Guest::Half];

    fn name(self) -> &'static str {
        match self {
            Guest::Stock => "stock",
            Guest::On => "on",
            Guest::Half => "on, half",
        }
    }

    fn placement(self) -> Placement {
        if self == Guest::Stock { Placement::Stock } else { Placement::On }
    }

    /// The part of a cache that it colors for.
    fn cache(self, cache: Bytes) -> Bytes {
        Bytes(cache.0 / if self == Guest::Half { MACHINES } else { 1 })
    }
}

/// The parameters that all boots of a point share.
struct Common {
    arch: Arch,
    seed: u64,
    days: u32,
    cache: Bytes,
    fill: f64,
}

fn common(settings: &Settings, point: &Point) -> anyhow::Result<Common> {
    let seed = point.seed()?;
    let cache: Bytes = settings.only("cache")?;
    let fill: f64 = settings.only("fill")?;
    ensure!(
        cache.0 >= 1 << 20 && cache.0.is_multiple_of(1 << 20) && cache.0 <= 16 << 20,
        "a cache of {cache} is not 1 to 16 MiB in whole MiB"
    );
    ensure!(fill > 0.0 && fill.is_finite(), "setting fill={fill}: no size of a program");
    Ok(Common { arch: point.parsed("arch")?, seed, days: settings.only("days")?, cache, fill })
}

fn case(
    common: &Common,
    (placement, colored_for): (Placement, Bytes),
    (guest, memory): (&'static str, Bytes),
    pages: u64,
) -> Case {
    let mut machine = Machine::plain(2, memory);
    let mut arguments = arguments([
        ("days", common.days.to_string()),
        ("frames", pages.to_string()),
        ("colors", (common.cache.0 / PAGE).to_string()),
    ]);
    arguments.extend(DAY.arguments());
    placement.apply(colored_for, 1, &mut machine, &mut arguments);
    Case { arch: common.arch, variant: placement.variant(), arguments, ..Case::of(guest, machine) }
}

/// Sets the seed of a case: the host has the first seed of a point, each guest one of
/// the others.
fn draw(case: &mut Case, common: &Common, number: u64) {
    let seed = common.seed * (MACHINES + 1) + number;
    case.arguments.push(("seed".into(), seed.to_string()));
    keep_page_back(&mut case.machine, common.arch, seed);
}

fn host_case(settings: &Settings, point: &Point, placement: Placement) -> anyhow::Result<Case> {
    let common = common(settings, point)?;
    let memory: Bytes = settings.only("host_memory")?;
    let pages = settings.only::<Bytes>("guest_memory")?.0 / PAGE;
    ensure!(
        pages > 0 && pages.is_multiple_of(HUGE),
        "setting guest_memory: not a whole number of huge pages"
    );
    ensure!(
        pages * PAGE * MACHINES * 3 / 2 <= memory.0,
        "setting host_memory={memory}: one and a half times what its guests have is needed"
    );
    let what = (placement, common.cache);
    let mut case = case(&common, what, ("host-memory", memory), pages);
    draw(&mut case, &common, 0);
    case.settings = point.json();
    case.settings.extend(map([
        ("host", json!(placement.name())),
        ("cache", json!(common.cache.to_string())),
        ("days", json!(common.days)),
        ("fill", json!(common.fill)),
    ]));
    Ok(case)
}

fn guest_case(
    settings: &Settings,
    point: &Point,
    guest: Guest,
    machine: u64,
) -> anyhow::Result<Case> {
    let common = common(settings, point)?;
    let memory: Bytes = settings.only("guest_memory")?;
    let pages = (common.fill * (common.cache.0 / PAGE) as f64) as u64;
    ensure!(
        pages * PAGE * 2 <= memory.0,
        "setting fill={}: the program takes more than half of {memory}",
        common.fill
    );
    let what = (guest.placement(), guest.cache(common.cache));
    let mut case = case(&common, what, ("guest-frames", memory), pages);
    draw(&mut case, &common, 1 + machine);
    case.settings = point.json();
    case.settings.extend(map([("guest", json!(guest.name())), ("machine", json!(machine))]));
    Ok(case)
}

#[cfg(test)]
mod tests;
