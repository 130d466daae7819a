// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether rows can be believed.

use anyhow::{Context, ensure};
use serde_json::{Map, Value};

use crate::{
    experiment::{Case, Found},
    results::Row,
};

/// How far random placement may be from theory.
const CONTROL_WITHIN: f64 = 0.03;
/// How far the model's count may be from what the frame numbers say: the kernel's
/// own accesses during a pass are in it.
const FRAMES_WITHIN: f64 = 0.01;
const LINES_OF_PAGE: f64 = 64.0;
/// How far a kernel that colors nothing may be from stock, freshly booted: as far as
/// the stock kernel is from itself. With a page reserved at one place or another
/// (`memmap=4K$0x1f000000`, `log_buf_len=1M`) it has 7.2 to 22.0 % of lines in conflict
/// at half a cache of 64 MiB in 512 MiB, and 9.5 % without.
const OFF_WITHIN: f64 = 0.15;

/// The control must be what theory says, and the model's counts what the
/// kernel's own frame numbers amount to.
///
/// # Errors
/// What is not so.
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
    // A page that was moved meanwhile met others before and after.
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
    // Below, and with few frames to a color, memory is not endless enough.
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

/// A kernel that could color pages and does not is the stock kernel, on a fresh boot
/// and for all three arrays: a day of aging begins with whatever memory is free, and
/// so drifts; which two arrays share places hangs on the first frame that is free.
///
/// # Errors
/// The first row that is not.
pub fn off_is_stock(rows: &[Row]) -> anyhow::Result<()> {
    let fresh = |row: &&Row| row.setting("age") == "0" && row.setting("kernel_fn") == "triad";
    for off in rows.iter().filter(|row| row.setting("policy") == "off").filter(fresh) {
        let same = |row: &&Row| {
            let mut settings = off.settings.clone();
            settings.insert("policy".into(), "stock".into());
            row.variant == "stock" && row.settings == settings
        };
        let Some(stock) = rows.iter().find(same) else { continue };
        let share = |row: &Row| row.metric("conflict_share").unwrap_or(f64::NAN);
        ensure!(
            (share(off) - share(stock)).abs() <= OFF_WITHIN,
            "with coloring off {} of lines are in conflict, on the stock kernel {}: {}",
            share(off),
            share(stock),
            serde_json::to_string(&off.settings).unwrap_or_default()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
        let stock = row("stock", "stock", 0, 0.2);
        off_is_stock(&[stock.clone(), row("huepage", "off", 0, 0.21)]).unwrap();
        off_is_stock(&[stock.clone(), row("huepage", "on", 0, 0.9)]).unwrap();
        let other = off_is_stock(&[stock, row("huepage", "off", 0, 0.4)]).unwrap_err().to_string();
        assert!(other.contains("0.4 of lines are in conflict, on the stock kernel 0.2"), "{other}");
    }
}
