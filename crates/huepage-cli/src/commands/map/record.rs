// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recorded maps as files.

use huepage_present::{destination::create, escape, stdout};
use std::{fs, io, path::Path};

use anyhow::Context;
use huepage::map::ProcessMap;

/// Whether a path means standard input or output.
pub fn is_dash(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads a recorded map.
pub fn load(path: &Path) -> anyhow::Result<ProcessMap> {
    let name = path.display();
    let json =
        if is_dash(path) { io::read_to_string(io::stdin()) } else { fs::read_to_string(path) };
    let json = json.with_context(|| format!("cannot read {name}"))?;
    ProcessMap::from_json(&json).with_context(|| format!("cannot use {name}"))
}

/// Writes a map.
pub fn save(path: &Path, map: &ProcessMap, force: bool) -> anyhow::Result<()> {
    let json = escape::json(&map.to_json());
    if is_dash(path) {
        return Ok(stdout::print(&json)?);
    }
    create(path, json.as_bytes(), force)
}
