// SPDX-License-Identifier: MIT OR Apache-2.0
//! `working-set` (S2): how much of a physically indexed L2 of 2 MiB a program can use
//! with the pages that the kernel gives it, fresh and aged, and with contiguous and
//! random frames as controls.

mod associative;
mod find;
mod page;
mod rows;
mod theory;

use anyhow::ensure;
use huepage::units::Bytes;
pub(super) use theory::random_miss_share;

use crate::{
    boot::Machine,
    experiment::{Case, Experiment, PAGE},
    kernel::Variant,
    model::{Level, Model, Replacement},
    placement::Placement,
    settings::Settings,
};

/// Pages of L2.
const CACHE_PAGES: u64 = 512;
/// Lines of a page.
const LINES: u32 = 64;
/// The value of `l2_ways` for a fully associative cache.
const FULL: &str = "full";
/// Regions by work; the guest warms the caches in region 100.
const WORKS: [(&str, u32); 3] = [("read", 1), ("matrix", 2), ("fft", 3)];
/// How the memory was obtained, in the order of the guest.
const PLACEMENTS: [&str; 4] = ["fresh", "aged", "contiguous", "random"];

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "working-set",
    about: "How much of a physically indexed L2 the kernel's pages let a program use",
    remarks: include_str!("working_set.md"),
    settings: &[
        ("arch", "x86_64,arm64", "x86_64,arm64"),
        // full: fully associative, with the first policy only.
        ("l2_ways", "1,16,full", "1,16,full"),
        // on takes the kernel variant huepage.
        ("policy", "stock,on", "stock"),
        ("eighths", "1,2,3,4,5,6,7,8,9,10,11,12", "1,4,8,12"),
        ("memory_mib", "1024", "160"),
        ("age_mib", "256", "32"),
        ("age_rounds", "2", "2"),
        ("repeats", "5", "3"),
        ("program_repeats", "2", "1"),
        ("matrix", "448", "448"),
        ("matrix_rows", "48", "2"),
        ("fft_points", "65536,1048576", "32768"),
        ("miss_cost", "3.1", "3.1"),
        ("seed", "1", "1"),
    ],
    cases,
    rows: rows::of,
    finish: |_| Ok(()),
    page: page::page,
};

fn cases(settings: &Settings, _: Variant) -> anyhow::Result<Vec<Case>> {
    let miss_cost: f64 = settings.only("miss_cost")?;
    ensure!(miss_cost >= 1.0, "setting miss_cost={miss_cost}: a miss costs no less than a hit");
    let arguments = arguments(settings)?;
    let memory = Bytes(settings.only::<u64>("memory_mib")? << 20);
    settings
        .grid(&["arch", "l2_ways", "policy"])
        .iter()
        .filter(|point| {
            let first = point.text("policy") == settings.values("policy")[0];
            point.text("l2_ways") != FULL || first
        })
        .map(|point| {
            let full = point.text("l2_ways") == FULL;
            let ways = if full { CACHE_PAGES as u32 } else { point.parsed("l2_ways")? };
            ensure!(
                ways.is_power_of_two() && u64::from(ways) <= CACHE_PAGES,
                "setting l2_ways={ways}: a power of two, at most {CACHE_PAGES}, or {FULL}"
            );
            let mut arguments = arguments.clone();
            // Pages per color: for the guest, a fully associative cache has one color.
            arguments.push(("ways".into(), ways.to_string()));
            let mut machine = Machine::plain(1, memory);
            let placement: Placement = point.parsed("policy")?;
            placement.apply(Bytes(CACHE_PAGES * PAGE), ways, &mut machine, &mut arguments);
            let mut stated = point.json();
            stated.insert("miss_cost".into(), miss_cost.into());
            Ok(Case {
                arch: point.parsed("arch")?,
                variant: placement.variant(),
                arguments,
                model: Some(model(if full { CACHE_PAGES as u32 * LINES } else { ways })),
                regions: WORKS.iter().map(|(_, region)| *region).collect(),
                settings: stated,
                ..Case::of("working-set", machine)
            })
        })
        .collect()
}

/// The arguments of the guest, with the sizes of its pools.
fn arguments(settings: &Settings) -> anyhow::Result<Vec<(String, String)>> {
    let pages = |bytes: u64| bytes.div_ceil(PAGE);
    let eighths: Vec<u64> = settings.parsed("eighths")?;
    let (matrix, points) = (settings.only::<u64>("matrix")?, settings.parsed::<u64>("fft_points")?);
    let (repeats, programs): (u64, u64) =
        (settings.only("repeats")?, settings.only("program_repeats")?);
    for (name, value) in [("repeats", repeats), ("program_repeats", programs)] {
        ensure!(value > 0, "setting {name}=0: there is nothing to count");
    }
    let reads: Vec<u64> = eighths.iter().map(|eighths| eighths * CACHE_PAGES / 8).collect();
    let product = 3 * pages(matrix * matrix * 8);
    let transforms: Vec<u64> = points.iter().map(|n| pages(n * 16) + pages(n * 8)).collect();
    let largest = reads.iter().chain(&transforms).copied().max().unwrap_or(0).max(product);
    let all =
        repeats * reads.iter().sum::<u64>() + programs * (product + transforms.iter().sum::<u64>());
    let mut arguments = vec![
        ("cache_pages".to_owned(), CACHE_PAGES.to_string()),
        ("contiguous_pages".into(), largest.to_string()),
        // More than are taken, so that there is a choice for the last ones too.
        ("random_pages".into(), (all + all / 4).to_string()),
        ("age_pages".into(), (settings.only::<u64>("age_mib")? << 8).to_string()),
    ];
    for name in ["age_rounds", "repeats", "program_repeats", "matrix", "matrix_rows", "seed"] {
        arguments.push((name.into(), settings.only::<u64>(name)?.to_string()));
    }
    for name in ["eighths", "fft_points"] {
        arguments.push((name.into(), settings.values(name).join(",")));
    }
    Ok(arguments)
}

fn model(l2_ways: u32) -> Model {
    let lru = Replacement::Lru;
    Model {
        levels: vec![
            Level::private("L1", Bytes::kib(32), 8, lru, 4),
            Level::private("L2", Bytes(CACHE_PAGES * PAGE), l2_ways, lru, 15),
        ],
        ..Model::uncached(100)
    }
}

#[cfg(test)]
mod tests;
