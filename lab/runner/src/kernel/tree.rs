// SPDX-License-Identifier: MIT OR Apache-2.0
//! The source with our changes: hard links to Debian's files, except for files that are
//! new or hooked. Files that do not change keep their times, so `make` compiles only
//! those that did.

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
use crate::{
    progress::Progress,
    workspace::{Workspace, remove},
};

/// The list of files of the tree that are not Debian's.
const CHANGED: &str = ".huepage-changed";

/// Makes the tree of this name have these `changes`. It stays so while the lock is
/// held.
///
/// # Errors
/// If a hook does not apply, or an overlay file is one of the kernel's own.
pub fn apply(
    workspace: &Workspace,
    name: &str,
    source: &Source,
    changes: &Changes,
    progress: &Progress,
) -> anyhow::Result<(PathBuf, Lock)> {
    let lock = lock::take(&workspace.lab().join("locks"), name, progress)?;
    let tree = workspace.lab().join(name);
    if !tree.is_dir() {
        progress.stage("linking a copy of the source");
        link(&source.directory, &tree)?;
    }
    let wanted = wanted(&source.directory, changes)?;
    sync(&source.directory, &tree, &wanted)?;
    Ok((tree, lock))
}

/// The content of every changed file, by its path in the tree.
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

/// A copy of a directory whose files are hard links, complete or not there.
pub(super) fn link(source: &Path, tree: &Path) -> anyhow::Result<()> {
    let part = tree.with_extension("part");
    if part.exists() {
        fs::remove_dir_all(&part).with_context(|| format!("remove {}", part.display()))?;
    }
    // cp would copy a symbolic link itself, and then its target would be changed.
    let source = source.canonicalize().with_context(|| format!("find {}", source.display()))?;
    let status = Command::new("cp").arg("-al").arg(&source).arg(&part).status().context("cp")?;
    if !status.success() {
        bail!("cp -al {} {}: {status}", source.display(), part.display());
    }
    fs::rename(&part, tree).with_context(|| format!("rename to {}", tree.display()))
}

fn sync(source: &Path, tree: &Path, wanted: &BTreeMap<String, Vec<u8>>) -> anyhow::Result<()> {
    let list = tree.join(CHANGED);
    let before = fs::read_to_string(&list).unwrap_or_default();
    // Written first: after a crash the list may have files that were not changed, but
    // none is missing.
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

/// Writes a file unless it has this content, as a new file: writing through a hard link
/// would change Debian's file.
pub(super) fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if fs::read(path).is_ok_and(|is| is == bytes) {
        return Ok(());
    }
    remove(path)?;
    let directory = path.parent().context("a file is in a directory")?;
    fs::create_dir_all(directory).with_context(|| format!("make {}", directory.display()))?;
    fs::write(path, bytes).with_context(|| format!("write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::kernel::sample::{COLOR, Sample, read};

    fn apply_sample(sample: &Sample) -> anyhow::Result<PathBuf> {
        let workspace = Workspace::at(sample.path("."), sample.path("lab"));
        let source = Source { directory: sample.source(), version: "6.12.1".into() };
        let changes = Changes::read(&sample.kernel())?;
        Ok(apply(&workspace, "tree-1", &source, &changes, &Progress::silent())?.0)
    }

    fn age(path: &Path) -> SystemTime {
        let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        fs::File::options().append(true).open(path).unwrap().set_modified(then).unwrap();
        then
    }

    fn modified(path: &Path) -> SystemTime {
        fs::metadata(path).unwrap().modified().unwrap()
    }

    #[test]
    fn the_tree_has_overlay_and_hooks_and_the_source_stays() {
        let sample = Sample::new();
        let before = read(sample.path("source/mm/page_alloc.c"));
        let tree = apply_sample(&sample).unwrap();
        assert_eq!(read(tree.join("mm/page_color.c")), COLOR);
        assert!(
            read(tree.join("mm/page_alloc.c")).starts_with("one\ntwo\nTHREE\nand a half\nfour")
        );
        assert_eq!(read(sample.path("source/mm/page_alloc.c")), before);
        assert!(!sample.path("source/mm/page_color.c").exists());
        assert!(!sample.path("source").join(CHANGED).exists());
    }

    #[test]
    fn a_file_that_stays_keeps_its_time() {
        let sample = Sample::new();
        let tree = apply_sample(&sample).unwrap();
        let (stays, changes) = (tree.join("mm/page_alloc.c"), tree.join("mm/page_color.c"));
        let then = age(&stays);
        age(&changes);
        sample.write("kernel/overlay/mm/page_color.c", "int other;\n");
        apply_sample(&sample).unwrap();
        assert_eq!(modified(&stays), then);
        assert_ne!(modified(&changes), then);
        assert_eq!(read(&changes), "int other;\n");
    }

    #[test]
    fn what_is_no_longer_changed_becomes_debians_again_and_new() {
        let sample = Sample::new();
        let tree = apply_sample(&sample).unwrap();
        sample.remove("kernel/hooks/0002-second.patch");
        sample.remove("kernel/overlay/mm/page_color.c");
        let then = age(&sample.path("source/mm/Makefile"));
        apply_sample(&sample).unwrap();
        assert!(!tree.join("mm/page_color.c").exists());
        assert_eq!(read(tree.join("mm/Makefile")), "obj-y += page_alloc.o\n");
        // An old time would hide the change from make.
        assert_ne!(modified(&tree.join("mm/Makefile")), then);
    }

    #[test]
    fn a_hook_that_does_not_apply_is_named_with_what_was_rejected() {
        let sample = Sample::new();
        sample.write("source/mm/page_alloc.c", "one\ntwo\n3\nfour\nfive\nsix\n");
        let error = format!("{:#}", apply_sample(&sample).unwrap_err());
        assert!(error.contains("kernel/hooks/0001-first.patch does not apply"), "{error}");
        assert!(error.contains("-three"), "{error}");
    }

    #[test]
    fn an_overlay_does_not_replace_the_kernels_files() {
        let sample = Sample::new();
        sample.write("kernel/overlay/mm/Makefile", "");
        let error = format!("{:#}", apply_sample(&sample).unwrap_err());
        assert!(error.contains("kernel/overlay/mm/Makefile: the kernel has this file"), "{error}");
    }

    #[test]
    fn a_hook_stays_in_the_tree() {
        let sample = Sample::new();
        sample.write("kernel/hooks/0003-out.patch", "--- a/x\n+++ b/../x\n@@ -0,0 +1 @@\n+y\n");
        let error = format!("{:#}", apply_sample(&sample).unwrap_err());
        assert!(error.contains("leaves the kernel's tree"), "{error}");
    }
}
