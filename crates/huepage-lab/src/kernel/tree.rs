// SPDX-License-Identifier: MIT OR Apache-2.0
//! The source with our changes: hard links to Debian's files, except where a file
//! is new or hooked. Files that do not change keep their times, so that `make`
//! compiles only what did.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

use super::{
    changes::Changes,
    hooks,
    lock::{self, Lock},
    source::Source,
};
use crate::{progress::Progress, workspace::Workspace};

/// Which files of the tree are not Debian's.
const CHANGED: &str = ".huepage-changed";

/// Makes the tree what `changes` say. It stays so while the lock is held.
///
/// # Errors
/// If a hook does not apply, or an overlay file is one of the kernel's own.
pub fn apply(
    workspace: &Workspace,
    id: &str,
    source: &Source,
    changes: &Changes,
    progress: &Progress,
) -> anyhow::Result<(PathBuf, Lock)> {
    let name = format!("tree-{id}");
    let lock = lock::take(&workspace.lab().join("locks"), &name, progress)?;
    let tree = workspace.lab().join(&name);
    if !tree.is_dir() {
        progress.stage("linking a copy of the source");
        link(&source.directory, &tree)?;
    }
    let wanted = wanted(&source.directory, changes)?;
    sync(&source.directory, &tree, &wanted)?;
    Ok((tree, lock))
}

/// What every changed file shall be, by its path in the tree.
///
/// # Errors
/// As [`apply`].
pub fn wanted(source: &Path, changes: &Changes) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
    let mut wanted = hooks::apply(source, changes.hooks())?;
    for (path, bytes) in changes.overlay() {
        if source.join(path).exists() {
            bail!("kernel/overlay/{path}: the kernel has this file; change it with a hook");
        }
        if wanted.insert(path.to_owned(), bytes.to_vec()).is_some() {
            bail!("kernel/overlay/{path}: a hook makes this file too");
        }
    }
    Ok(wanted)
}

fn link(source: &Path, tree: &Path) -> anyhow::Result<()> {
    let part = tree.with_extension("part");
    if part.exists() {
        fs::remove_dir_all(&part).with_context(|| format!("remove {}", part.display()))?;
    }
    let status = Command::new("cp").arg("-al").arg(source).arg(&part).status().context("cp")?;
    if !status.success() {
        bail!("cp -al {} {}: {status}", source.display(), part.display());
    }
    fs::rename(&part, tree).with_context(|| format!("rename to {}", tree.display()))
}

fn sync(source: &Path, tree: &Path, wanted: &BTreeMap<String, Vec<u8>>) -> anyhow::Result<()> {
    let list = tree.join(CHANGED);
    let before = fs::read_to_string(&list).unwrap_or_default();
    // Written first: after a crash there is more on the list than changed, never less.
    let all: String = wanted.keys().map(|path| format!("{path}\n")).collect();
    fs::write(&list, format!("{before}{all}"))
        .with_context(|| format!("write {}", list.display()))?;
    for path in before.lines().filter(|&path| !wanted.contains_key(path)) {
        match fs::read(source.join(path)) {
            Ok(bytes) => write(&tree.join(path), &bytes)?,
            Err(_) => remove(&tree.join(path))?,
        }
    }
    for (path, bytes) in wanted {
        write(&tree.join(path), bytes)?;
    }
    fs::write(&list, all).with_context(|| format!("write {}", list.display()))
}

/// Writes a file that is not so already, as a file of its own: to write through a hard
/// link would change Debian's.
fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if fs::read(path).is_ok_and(|is| is == bytes) {
        return Ok(());
    }
    remove(path)?;
    let directory = path.parent().context("a file is in a directory")?;
    fs::create_dir_all(directory).with_context(|| format!("make {}", directory.display()))?;
    fs::write(path, bytes).with_context(|| format!("write {}", path.display()))
}

fn remove(path: &Path) -> anyhow::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("remove {}", path.display()))
        }
        _ => Ok(()),
    }
}
