// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recorded machines as files.

use huepage_present::stdout;
use std::{
    fs::{self, OpenOptions},
    io::{self, ErrorKind, Write},
    path::Path,
};

use anyhow::{Context, bail};
use huepage::topology::RecordedMachine;

/// Whether a path means standard input or output.
pub fn is_dash(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads a recorded machine.
pub fn load(path: &Path) -> anyhow::Result<RecordedMachine> {
    let name = path.display();
    let json =
        if is_dash(path) { io::read_to_string(io::stdin()) } else { fs::read_to_string(path) };
    let json = json.with_context(|| format!("cannot read {name}"))?;
    RecordedMachine::from_json(&json).with_context(|| format!("cannot use {name}"))
}

/// Fails before the measurement, not after it, where a file is in the way.
pub fn refuse_overwrite(path: &Path, force: bool) -> anyhow::Result<()> {
    if !force && !is_dash(path) && path.symlink_metadata().is_ok() {
        bail!("{} exists: choose another name, or overwrite it with --force", path.display());
    }
    Ok(())
}

/// Writes a recorded machine.
pub fn save(path: &Path, machine: &RecordedMachine, force: bool) -> anyhow::Result<()> {
    let json = machine.to_json();
    if is_dash(path) {
        return Ok(stdout::print(&json)?);
    }
    let mut options = OpenOptions::new();
    options.write(true).truncate(force).create(force).create_new(!force);
    match options.open(path).and_then(|mut file| file.write_all(json.as_bytes())) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => refuse_overwrite(path, force),
        result => result.with_context(|| format!("cannot write {}", path.display())),
    }
}
