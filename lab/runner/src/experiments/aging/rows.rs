// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes rows of a boot's report, and checks whether they are credible.

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

use super::theory;
use crate::{
    boot::Report,
    experiment::{Case, Found, PAGE, map},
    model::Record,
    results::rounded,
};

/// In the order of the guest's regions 1 to 4.
pub const KERNEL_FNS: [&str; 4] = ["copy", "scale", "add", "triad"];

/// The guest's lines.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Said {
    Pass(Pass),
    Free { age: u32, free_blocks: Vec<u64> },
    Pool { pool: Vec<u64> },
}

#[derive(Debug, Deserialize)]
struct Pass {
    age: u32,
    fill: f64,
    kernel_fn: String,
    lines: u64,
    lines_in_conflict: u64,
    huge_share: f64,
    moved: u64,
}

/// The rows of a boot.
pub fn of(case: &Case, report: &Report) -> anyhow::Result<Vec<Found>> {
    let cache = &case.model.as_ref().context("the case has no model")?.memory_side[0];
    let number = |name: &str| {
        case.settings.get(name).and_then(Value::as_f64).with_context(|| format!("no {name}"))
    };
    let (hit, miss) = (number("hit_gbs")?, number("miss_gbs")?);
    let sets = cache.size.0 / cache.line.0;
    let lines_per_page = PAGE / cache.line.0;
    let colors = cache.size.0 / PAGE;
    // All of memory, unless the guest reports a pool.
    let mut having = vec![0; (case.machine.memory.0 / cache.size.0) as usize];
    having.push(colors);

    let mut passes = passes(&report.records).into_iter();
    let mut free: Option<(u32, Vec<u64>)> = None;
    let mut found = Vec::new();
    for said in report.said() {
        let Pass { age, fill, kernel_fn, lines, lines_in_conflict, huge_share, moved } = match said?
        {
            Said::Pass(pass) => pass,
            Said::Pool { pool } => {
                having = pool;
                continue;
            }
            Said::Free { age, free_blocks } => {
                free = Some((age, free_blocks));
                continue;
            }
        };
        let pass = passes.next().with_context(|| format!("no region for {kernel_fn}"))?;
        let misses = misses(&pass, &kernel_fn)?;
        let (_, blocks) = free
            .as_ref()
            .filter(|(at, _)| *at == age)
            .with_context(|| format!("the guest did not tell what is free at age {age}"))?;
        let share = misses as f64 / lines as f64;
        let more =
            map([("fill", json!(fill)), ("age", json!(age)), ("kernel_fn", json!(kernel_fn))]);
        let metrics = map([
            ("conflict_share", json!(rounded(share))),
            ("modelled_gbs", json!(rounded(theory::gbs(share, hit, miss)))),
            ("by_frames", json!(rounded(lines_in_conflict as f64 / lines as f64))),
            ("random_share", json!(rounded(theory::random_share(lines as f64 / sets as f64)))),
            (
                "random_share_finite",
                json!(rounded(theory::random_share_of(&having, lines / lines_per_page))),
            ),
            ("lines", json!(lines)),
            ("misses", json!(misses)),
            ("huge_share", json!(huge_share)),
            ("moved", json!(moved)),
            ("free_in_largest", json!(rounded(in_largest(blocks)))),
            ("free_blocks", json!(words(blocks))),
        ]);
        found.push((more, metrics));
    }
    ensure!(passes.next().is_none(), "more regions than the guest tells of");
    Ok(found)
}

/// The records of each pass, of which there is one per CPU.
fn passes(records: &[Record]) -> Vec<Vec<&Record>> {
    let mut passes: Vec<Vec<&Record>> = Vec::new();
    for record in records.iter().filter(|record| record.region > 0) {
        match passes.last_mut().filter(|pass| pass[0].sequence == record.sequence) {
            Some(pass) => pass.push(record),
            None => passes.push(vec![record]),
        }
    }
    passes
}

fn misses(pass: &[&Record], kernel_fn: &str) -> anyhow::Result<u64> {
    let region = pass[0].region;
    let of_region = KERNEL_FNS.get(region as usize - 1);
    ensure!(of_region == Some(&kernel_fn), "region {region} where {kernel_fn} should be");
    let misses = pass.iter().map(|record| {
        Ok(record.memory_side.first().context("the record has no memory-side cache")?.misses)
    });
    misses.sum()
}

/// The share of free memory in blocks of the largest order.
fn in_largest(blocks: &[u64]) -> f64 {
    let pages = |(order, blocks): (usize, &u64)| blocks << order;
    let all: u64 = blocks.iter().enumerate().map(pages).sum();
    blocks.iter().enumerate().next_back().map_or(0.0, |last| pages(last) as f64 / all.max(1) as f64)
}

fn words(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        experiments::{aging::EXPERIMENT, trial},
        model::LevelCounts,
    };

    fn record(sequence: u32, region: u32, misses: u64) -> Record {
        let memory_side = vec![LevelCounts { hits: 0, misses }];
        Record { region, sequence, memory_side, nodes: vec![misses], ..Record::default() }
    }

    fn pass(kernel_fn: &str) -> Value {
        json!({"age": 0, "fill": 0.5, "kernel_fn": kernel_fn, "lines": 1000,
               "lines_in_conflict": 256, "huge_share": 0.0, "moved": 0})
    }

    fn report(kernel_fns: &[&str], records: Vec<Record>) -> Report {
        let free = json!({"age": 0, "free_blocks": [2, 1, 1]});
        let passes = kernel_fns.iter().map(|kernel_fn| pass(kernel_fn));
        trial::report([free].into_iter().chain(passes).collect(), records)
    }

    #[test]
    fn regions_are_told_apart_from_warming_and_become_shares() {
        let passes = [(0, 0, 999), (1, 1, 250), (2, 0, 999), (3, 2, 400), (3, 2, 100)];
        let records = passes.map(|(at, region, misses)| record(at, region, misses)).to_vec();
        let found = of(&trial::first(&EXPERIMENT), &report(&["copy", "scale"], records)).unwrap();
        assert_eq!(found.len(), 2);
        let (settings, metrics) = &found[0];
        assert_eq!(settings["kernel_fn"], "copy");
        assert_eq!(metrics["conflict_share"], 0.25);
        assert_eq!(metrics["by_frames"], 0.256);
        // 2 pages alone, a pair, a block of four: half of what is free.
        assert_eq!(metrics["free_in_largest"], 0.5);
        assert_eq!(metrics["free_blocks"], "2 1 1");
        assert_eq!(found[1].1["misses"], 500);
    }

    #[test]
    fn passes_and_regions_that_do_not_belong_together_are_refused() {
        for (kernel_fns, records, said) in [
            (&["copy"][..], vec![], "no region for copy"),
            (&["copy"], vec![record(0, 2, 1)], "region 2 where copy should be"),
            (&["copy"], vec![record(0, 1, 1), record(1, 2, 1)], "more regions"),
        ] {
            let error = of(&trial::first(&EXPERIMENT), &report(kernel_fns, records))
                .unwrap_err()
                .to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
