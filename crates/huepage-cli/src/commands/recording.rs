// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recorded maps and machines as files; `-` is standard input or output.

use std::{error::Error, fs, io, path::Path};

use anyhow::Context;
use huepage_present::{
    destination::{check_file, create},
    stdout,
};

/// Whether a path means standard input or output.
pub fn is_dash(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads a record.
///
/// # Errors
/// If the file cannot be read, or is no such record.
pub fn load<T, E: Error + Send + Sync + 'static>(
    path: &Path,
    parse: impl Fn(&str) -> Result<T, E>,
) -> anyhow::Result<T> {
    let name = path.display();
    let json =
        if is_dash(path) { io::read_to_string(io::stdin()) } else { fs::read_to_string(path) };
    let json = json.with_context(|| format!("cannot read {name}"))?;
    parse(&json).with_context(|| format!("cannot use {name}"))
}

/// Checks whether a record may be written, before time is spent on it.
///
/// # Errors
/// If the file exists and `force` is not set, or its directory does not.
pub fn check(path: &Path, force: bool) -> anyhow::Result<()> {
    if is_dash(path) { Ok(()) } else { check_file(path, force) }
}

/// Writes a record.
///
/// # Errors
/// If it cannot be written, or the file exists and `force` is not set.
pub fn save(path: &Path, json: &str, force: bool) -> anyhow::Result<()> {
    if is_dash(path) {
        return Ok(stdout::print(json)?);
    }
    create(path, json.as_bytes(), force)
}
