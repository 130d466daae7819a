// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks of rows against theory, against frame numbers and against the stock kernel.

use std::collections::BTreeMap;

use anyhow::{Context, ensure};
use serde_json::{Map, Value};

use crate::{
    experiment::{Case, Found},
    results::Row,
};

/// How far random placement may be from theory.
const CONTROL_WITHIN: f64 = 0.03;
/// How far the model's count may be from that by frame numbers: it includes the
/// kernel's own accesses during a pass.
const FRAMES_WITHIN: f64 = 0.01;
const LINES_OF_PAGE: f64 = 64.0;
/// How far the mean share of lines in conflict of a kernel that does not color may be
/// from stock's. Fresh: as far as stock differs from itself. With a page reserved at
/// one place or another (`memmap=4K$0x1f000000`, `log_buf_len=1M`) it has 7.2 to 22.0 %
/// in conflict at half a cache of 64 MiB in 512 MiB, and 9.5 % without. A shuffled
/// kernel is 0.25 away.
/// 512 MiB, and 9.5 % without. A shuffled kernel is 0.25 away.
const OFF_FRESH_WITHIN: f64 = 0.08;
/// Aged, a kernel that colors is 0.27 away.
const OFF_AGED_WITHIN: f64 = 0.05;

/// The control must agree with theory, and the model's counts with the kernel's own
/// frame numbers.
pub fn row(case: &Case, (more, metrics): &Found) -> anyhow::Result<()> {
    let mut settings = case.settings.clone();
    settings.extend(more.clone());
    checked(&settings, metrics)
}

fn checked(settings: &Map<String, Value>, metrics: &Map<String, Value>) -> anyhow::Result<()> {
    let number = |name: &str| {
        metrics.get(name).and_then(Value::as_f64).with_context(|| format!("a row has no {name}"))
    };
    let set = |name: &str| settings.get(name).and_then(Value::as_str).unwrap_or_default();
    let of = || serde_json::to_string(settings).unwrap_or_default();
    let (share, by_frames) = (number("conflict_share")?, number("by_frames")?);
    // A page that was moved meanwhile conflicted with other pages before and after.
    let moved = number("moved")? * LINES_OF_PAGE / number("lines")?;
    // Huge pages are still made and moved while they are measured.
    ensure!(
        set("policy") == "thp" || (share - by_frames).abs() <= FRAMES_WITHIN + 2.0 * moved,
        "the model says {share} of lines are in conflict, the frame numbers {by_frames}: {}",
        of()
    );
    if set("policy") != "random" {
        return Ok(());
    }
    let finite = number("random_share_finite")?;
    ensure!(
        (share - finite).abs() <= CONTROL_WITHIN,
        "random placement has {share} of lines in conflict, the theory of this machine's \
         frames {finite}: {}",
        of()
    );
    // With less memory, or few frames to a color, the theory of endless memory does not
    // hold.
    let all_arrays = ["add", "triad"].contains(&set("kernel_fn"));
    let full = settings.get("fill").and_then(Value::as_f64).is_some_and(|fill| fill >= 0.9);
    if set("form") == "memory-side" && all_arrays && full {
        let endless = number("random_share")?;
        ensure!(
            (share - endless).abs() <= CONTROL_WITHIN,
            "random placement has {share} of lines in conflict, 1 − e^(−fill) is {endless}: {}",
            of()
        );
    }
    Ok(())
}

/// A kernel with coloring compiled in and off must behave as the stock kernel: not in
/// each row, since a day of aging depends on the memory that is free when it begins,
/// but in the mean of all seeds, and then over all fills and functions, fresh and aged.
pub fn off_is_stock(rows: &[Row]) -> anyhow::Result<()> {
    is_stock(rows, "off")
}

fn is_stock(rows: &[Row], policy: &str) -> anyhow::Result<()> {
    // The key of rows that are averaged.
    let boot = |row: &Row| {
        let mut settings = row.settings.clone();
        for name in ["policy", "fill", "kernel_fn", "age", "seed"] {
            settings.remove(name);
        }
        settings
    };
    let share = |row: &Row| row.metric("conflict_share");
    let mut stock = BTreeMap::new();
    let is = |row: &&Row, policy: &str| row.setting("policy") == policy;
    for row in rows.iter().filter(|row| is(row, "stock") && row.variant == "stock") {
        stock.insert(without_policy(row), share(row));
    }
    let mut apart: BTreeMap<(String, bool), BTreeMap<String, Vec<f64>>> = BTreeMap::new();
    for row in rows.iter().filter(|row| is(row, policy)) {
        let Some(stock) = stock.get(&without_policy(row)) else { continue };
        let Some((here, stock)) = share(row).zip(*stock) else { continue };
        let of = (Value::Object(boot(row)).to_string(), row.setting("age") != "0");
        let point = ["fill", "kernel_fn", "age"].map(|name| row.setting(name)).join(" ");
        apart.entry(of).or_default().entry(point).or_default().push(here - stock);
    }
    for ((boot, aged), points) in apart {
        let mean = |seeds: &Vec<f64>| seeds.iter().sum::<f64>() / seeds.len() as f64;
        let mean =
            points.values().map(|seeds| mean(seeds).abs()).sum::<f64>() / points.len() as f64;
        let (age, within) =
            if aged { ("aged", OFF_AGED_WITHIN) } else { ("fresh", OFF_FRESH_WITHIN) };
        ensure!(
            mean <= within,
            "with coloring {policy} the shares of lines in conflict are {mean:.3} away from \
             the stock kernel's on average, {age}, where {within} is the most: {boot}"
        );
    }
    Ok(())
}

fn without_policy(row: &Row) -> String {
    let mut settings = row.settings.clone();
    settings.remove("policy");
    Value::Object(settings).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::results::Results;

    fn check(policy: &str, form: &str, share: f64, by_frames: f64) -> anyhow::Result<()> {
        let settings = json!({"policy": policy, "form": form, "fill": 1.0, "kernel_fn": "add"});
        let metrics = json!({"conflict_share": share, "by_frames": by_frames, "moved": 0,
                             "lines": 1000, "random_share": 0.632, "random_share_finite": 0.6});
        checked(settings.as_object().unwrap(), metrics.as_object().unwrap())
    }

    #[test]
    fn a_control_away_from_theory_and_a_model_away_from_the_frames_are_refused() {
        check("random", "memory-side", 0.61, 0.61).unwrap();
        check("stock", "flat", 0.1, 0.1).unwrap();
        check("random", "flat", 0.58, 0.58).unwrap();
        for (wrong, said) in [
            (check("stock", "flat", 0.1, 0.2), "the frame numbers 0.2"),
            (check("random", "flat", 0.64, 0.64), "this machine's frames 0.6"),
            (check("random", "memory-side", 0.59, 0.59), "1 − e^(−fill) is 0.632"),
        ] {
            let error = wrong.unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }

    fn row(variant: &str, policy: &str, age: u32, share: f64) -> Row {
        let settings = json!({"policy": policy, "age": age, "kernel_fn": "triad"});
        let metrics = json!({"conflict_share": share});
        Row {
            variant: variant.into(),
            settings: settings.as_object().unwrap().clone(),
            metrics: metrics.as_object().unwrap().clone(),
        }
    }

    #[test]
    fn a_kernel_that_colors_nothing_must_be_stock() {
        let stock = [row("stock", "stock", 0, 0.2), row("stock", "stock", 1, 0.5)];
        let check = |policy: &str, age: u32, share: f64| {
            off_is_stock(&[&stock[..], &[row("huepage", policy, age, share)]].concat())
        };
        check("off", 0, 0.26).unwrap();
        check("off", 1, 0.54).unwrap();
        check("on", 0, 0.9).unwrap();
        let fresh = check("off", 0, 0.3).unwrap_err().to_string();
        assert!(fresh.contains("0.100 away") && fresh.contains("fresh"), "{fresh}");
        let aged = check("off", 1, 0.44).unwrap_err().to_string();
        assert!(aged.contains("0.060 away") && aged.contains("aged"), "{aged}");
    }

    /// On the rows of a real run: a kernel that colors or shuffles must not pass as
    /// stock.
    #[test]
    fn the_check_of_off_tells_others_from_stock() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/aging.json");
        let results = Results::read(std::path::Path::new(path)).unwrap();
        off_is_stock(&results.rows).unwrap();
        for policy in ["shuffle", "on"] {
            assert!(results.values("policy").contains(&policy.to_owned()));
            is_stock(&results.rows, policy).expect_err(policy);
        }
    }
}
