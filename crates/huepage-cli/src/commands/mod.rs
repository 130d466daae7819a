// SPDX-License-Identifier: MIT OR Apache-2.0
//! One file per subcommand.

pub mod bench;
pub mod bugreport;
pub mod cache_options;
pub mod colors;
pub mod completions;
pub mod demo;
pub mod export;
pub mod features;
pub mod man;
pub mod map;
pub mod merged;
pub mod palette;
pub mod pressure;
mod recording;
pub mod run;
pub mod topology;

use std::io;

use huepage_present::stdout::print;
use serde::Serialize;

/// Prints a report as JSON or, without `json`, as text.
fn print_report<R: Serialize>(
    report: &R,
    json: bool,
    text: impl FnOnce(&R) -> String,
) -> io::Result<()> {
    print(if json { serde_json::to_string_pretty(report)? + "\n" } else { text(report) })
}
