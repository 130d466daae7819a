// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes rows of the lines of hosts and guests, which are combined later.

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    boot::Report,
    experiment::{Case, Found, map},
};

/// The number of letters of a color.
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
    let pages: usize = case.argument("frames")?.parse().context("frames")?;
    // Settings, the name of the list, how many letters each of it has, and the list.
    let mut lists: Vec<(Map<String, Value>, &str, usize, String)> = Vec::new();
    for said in report.said() {
        let (settings, name, each, part) = match said? {
            Said::Host { backing, sets, machine, colors } => {
                let settings = map([
                    ("backing", json!(backing)),
                    ("sets", json!(if sets { "halves" } else { "none" })),
                    ("machine", json!(machine)),
                ]);
                (settings, "colors", COLOR_LETTERS, colors)
            }
            Said::Guest { frames } => (map([]), "frames", FRAME_LETTERS, frames),
        };
        match lists.last_mut() {
            Some((have, .., list)) if *have == settings => list.push_str(&part),
            _ => lists.push((settings, name, each, part)),
        }
    }
    let row = |(settings, name, each, list): (Map<_, _>, &str, usize, String)| {
        ensure!(list.len() == pages * each, "{name} of {} of {pages} pages", list.len() / each);
        Ok((settings, map([(name, json!(list))])))
    };
    lists.into_iter().map(row).collect()
}
