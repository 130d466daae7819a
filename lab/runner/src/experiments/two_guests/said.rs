// SPDX-License-Identifier: MIT OR Apache-2.0
//! What hosts and guests say, as rows that are put together later.

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    boot::Report,
    experiment::{Case, Found, map},
};

/// In which a color and a frame are written.
pub const COLOR_LETTERS: usize = 2;
pub const FRAME_LETTERS: usize = 4;

/// The guests' lines: parts of a list, in order.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Said {
    Host { backing: String, sets: bool, machine: u64, colors: String },
    Guest { frames: String },
}

/// A row for each list.
///
/// # Errors
/// Lines of something else, or lists that are not complete.
pub fn rows(case: &Case, report: &Report) -> anyhow::Result<Vec<Found>> {
    let pages = case.arguments.iter().find(|(name, _)| name == "frames");
    let pages: usize = pages.context("no argument frames")?.1.parse().context("frames")?;
    let mut rows: Vec<Found> = Vec::new();
    let mut lists: Vec<String> = Vec::new();
    for said in &report.results {
        let said: Said = serde_json::from_value(said.clone())
            .with_context(|| format!("the guest said {said}"))?;
        let (settings, name, part) = match said {
            Said::Host { backing, sets, machine, colors } => {
                let settings = map([
                    ("backing", json!(backing)),
                    ("sets", json!(if sets { "halves" } else { "none" })),
                    ("machine", json!(machine)),
                ]);
                (settings, "colors", colors)
            }
            Said::Guest { frames } => (map([]), "frames", frames),
        };
        match rows.last().is_some_and(|(have, _)| *have == settings) {
            true => lists.last_mut().expect("one for each row").push_str(&part),
            false => {
                rows.push((settings, map([(name, Value::Null)])));
                lists.push(part);
            }
        }
    }
    for ((_, metrics), list) in rows.iter_mut().zip(lists) {
        let (name, value) = metrics.iter_mut().next().expect("the row has its list");
        let each = if name == "colors" { COLOR_LETTERS } else { FRAME_LETTERS };
        ensure!(list.len() == pages * each, "{name} of {} of {pages} pages", list.len() / each);
        *value = json!(list);
    }
    Ok(rows)
}
