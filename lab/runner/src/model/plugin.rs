// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds the plugin in `lab/model` and reads its output.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};
use serde::Deserialize;

use super::{FrameCounts, Record, Records};
use crate::{kernel::Hasher, workspace::Workspace};

const COMPILER: &str = "cc";
/// `_GNU_SOURCE` for strsep; symbols are hidden, so that none of ours replaces one of
/// QEMU's.
const FLAGS: [&str; 8] = [
    "-std=c11",
    "-D_GNU_SOURCE",
    "-Wall",
    "-Wextra",
    "-O2",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
];

/// Compiles the plugin into `out_dir`, unless it is there already for the same
/// sources and flags. Returns where it is.
///
/// # Errors
/// If the sources are not found, or the compiler is missing or refuses them.
pub fn build(out_dir: &Path) -> anyhow::Result<PathBuf> {
    let sources = Workspace::find()?.c_files("lab/model")?;
    let mut hasher = Hasher::new();
    hasher.add("flags", FLAGS.join(" "));
    hasher.add_files(&sources)?;
    let plugin = out_dir.join(format!("huepage-model-{}.so", hasher.finish()));
    if plugin.exists() {
        return Ok(plugin);
    }
    fs::create_dir_all(out_dir).with_context(|| format!("create {}", out_dir.display()))?;
    // Programs that build at the same time must see all of it or none.
    let scratch = tempfile::tempdir_in(out_dir).context("make a scratch directory")?;
    let unfinished = scratch.path().join("plugin.so");
    let output = Command::new(COMPILER)
        .args(FLAGS)
        .arg("-o")
        .arg(&unfinished)
        .args(sources.iter().filter(|file| file.extension().is_some_and(|e| e == "c")))
        .args(["-lm", "-ldl", "-lpthread"])
        .output()
        .with_context(|| format!("run {COMPILER}: install a C compiler (./setup does)"))?;
    if !output.status.success() {
        bail!("{COMPILER} refused the plugin:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    fs::rename(&unfinished, &plugin).with_context(|| format!("write {}", plugin.display()))?;
    Ok(plugin)
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Error { error: String },
    Frames { frames: Vec<Vec<u64>> },
    Addresses { addresses: Vec<(u64, u64)> },
    Record(Box<Record>),
}

/// Reads the records that the plugin wrote to `path`.
///
/// # Errors
/// If there is no such file, if the plugin reported an error (a region that
/// begins inside another, or does not end), or if a line is no record, as when
/// QEMU was killed while it was written.
pub fn read_records(path: &Path) -> anyhow::Result<Records> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("records of the model in {}", path.display()))?;
    let mut records = Records::default();
    for (number, line) in text.lines().enumerate() {
        match serde_json::from_str(line) {
            Ok(Line::Record(record)) => records.regions.push(*record),
            Ok(Line::Frames { frames }) => {
                records.frames = frames.into_iter().map(frame_counts).collect::<Result<_, _>>()?;
            }
            Ok(Line::Addresses { addresses }) => records.addresses.push(addresses),
            Ok(Line::Error { error }) => bail!("the model reported: {error}"),
            Err(_) => bail!("line {} of {} is no record: {line}", number + 1, path.display()),
        }
    }
    Ok(records)
}

/// A frame's number, its accesses, then misses in each cache.
fn frame_counts(numbers: Vec<u64>) -> anyhow::Result<FrameCounts> {
    match numbers[..] {
        [frame, accesses, ref misses @ ..] => {
            Ok(FrameCounts { frame, accesses, misses: misses.to_vec() })
        }
        _ => bail!("the model reported a frame without a number or accesses: {numbers:?}"),
    }
}
