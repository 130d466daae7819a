// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hooks: patches of a few lines to the kernel's own files.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Write,
    path::{Component, Path},
    process::{Command, Stdio},
};

use anyhow::{Context, bail};

use super::changes::ChangeFile;

/// The content of the hooked files, by their path in the tree. The source is only read.
///
/// # Errors
/// If a hook does not apply exactly, with what was rejected.
pub fn apply(source: &Path, hooks: &[ChangeFile]) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
    let mut touched = BTreeSet::new();
    for hook in hooks {
        touched.extend(files(hook).with_context(|| format!("kernel/{}", hook.name))?);
    }
    let scratch = tempfile::tempdir().context("make a temporary directory")?;
    for path in &touched {
        let copy = scratch.path().join(path);
        fs::create_dir_all(copy.parent().context("a file is in a directory")?)?;
        // If a hook creates a file, there is none to copy.
        if source.join(path).exists() {
            fs::copy(source.join(path), copy).with_context(|| format!("copy {path}"))?;
        }
    }
    for hook in hooks {
        apply_one(scratch.path(), hook)?;
    }
    let mut result = BTreeMap::new();
    for path in touched {
        let bytes = fs::read(scratch.path().join(&path))
            .with_context(|| format!("{path}: hooks may not delete files"))?;
        result.insert(path, bytes);
    }
    Ok(result)
}

/// Without fuzz: lines that only resemble the hooked ones may be other code.
pub fn apply_one(scratch: &Path, hook: &ChangeFile) -> anyhow::Result<()> {
    let rejects = tempfile::NamedTempFile::new().context("make a temporary file")?;
    let mut child = Command::new("patch")
        .args(["-p1", "--batch", "--forward", "--fuzz=0", "--no-backup-if-mismatch"])
        .arg("--reject-file")
        .arg(rejects.path())
        .arg("--directory")
        .arg(scratch)
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("patch is missing: run ./setup lab")?;
    let mut stdin = child.stdin.take().context("input of patch")?;
    let written = stdin.write_all(&hook.bytes);
    drop(stdin);
    let output = child.wait_with_output().context("wait for patch")?;
    if !output.status.success() {
        let rejected = fs::read(rejects.path()).unwrap_or_default();
        let text = [output.stdout, output.stderr, rejected].concat();
        let text = String::from_utf8_lossy(&text);
        // That file no longer exists when the message is read.
        let kept = format!(" -- saving rejects to file {}", rejects.path().display());
        bail!(
            "kernel/{} does not apply to this kernel:\n  {}",
            hook.name,
            text.replace(&kept, "").trim().replace('\n', "\n  ")
        );
    }
    written.context("write to patch")
}

/// The files that a hook changes: `+++ b/mm/page_alloc.c`.
pub fn files(hook: &ChangeFile) -> anyhow::Result<BTreeSet<String>> {
    let text = std::str::from_utf8(&hook.bytes).context("not UTF-8")?;
    let mut files = BTreeSet::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("+++ ")) {
        let name = line.split('\t').next().unwrap_or(line);
        let path = name.strip_prefix("b/").with_context(|| format!("`{name}`: no path b/…"))?;
        if !Path::new(path).components().all(|part| matches!(part, Component::Normal(_))) {
            bail!("`{path}` leaves the kernel's tree");
        }
        files.insert(path.to_owned());
    }
    if files.is_empty() {
        bail!("changes no file (there is no line `+++ b/path`)");
    }
    Ok(files)
}
