// SPDX-License-Identifier: MIT OR Apache-2.0
//! Our changes to a kernel: new files (the overlay) and hooks in existing ones.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};

/// A file of the overlay or a hook, with all that is in it.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeFile {
    /// Relative to `kernel/`: `overlay/mm/x.c`, `hooks/0001-x.patch`.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// All changes to a kernel's source; by default none: the stock kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    overlay: Vec<ChangeFile>,
    hooks: Vec<ChangeFile>,
}

impl Changes {
    /// The changes in `kernel/`, in order of names; none if there is no such directory.
    pub fn read(kernel: &Path) -> anyhow::Result<Self> {
        let mut overlay = Vec::new();
        collect(kernel, Path::new("overlay"), &mut overlay)?;
        let mut hooks = Vec::new();
        collect(kernel, Path::new("hooks"), &mut hooks)?;
        if let Some(other) = hooks.iter().find(|hook| !hook.name.ends_with(".patch")) {
            bail!(
                "{}: only hooks/NNNN-topic.patch belongs there",
                kernel.join(&other.name).display()
            );
        }
        Ok(Changes { overlay, hooks })
    }

    /// These, and then others.
    pub fn and(mut self, others: Changes) -> Self {
        self.overlay.extend(others.overlay);
        self.hooks.extend(others.hooks);
        self
    }

    /// Only those files for which `keep` is true, by their name relative to `kernel/`.
    pub fn only(&self, keep: impl Fn(&str) -> bool) -> Self {
        let kept = |files: &[ChangeFile]| -> Vec<ChangeFile> {
            files.iter().filter(|file| keep(&file.name)).cloned().collect()
        };
        Changes { overlay: kept(&self.overlay), hooks: kept(&self.hooks) }
    }

    /// Whether the kernel stays as it is.
    pub fn is_empty(&self) -> bool {
        self.overlay.is_empty() && self.hooks.is_empty()
    }

    /// Overlay, then hooks, each in order of names.
    pub fn files(&self) -> impl Iterator<Item = &ChangeFile> {
        self.overlay.iter().chain(&self.hooks)
    }

    /// New files, by their path in the kernel's tree.
    pub fn overlay(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.overlay.iter().map(|file| (&file.name["overlay/".len()..], file.bytes.as_slice()))
    }

    /// Hooks in the order in which they apply.
    pub fn hooks(&self) -> &[ChangeFile] {
        &self.hooks
    }
}

/// Adds all files at and below `relative`, in order of names.
fn collect(top: &Path, relative: &Path, files: &mut Vec<ChangeFile>) -> anyhow::Result<()> {
    let directory = top.join(relative);
    if !directory.exists() {
        return Ok(());
    }
    let read = || format!("read {}", directory.display());
    let entries = fs::read_dir(&directory).with_context(read)?;
    let mut names: Vec<PathBuf> = entries
        .map(|entry| Ok(relative.join(entry?.file_name())))
        .collect::<std::io::Result<_>>()
        .with_context(read)?;
    names.sort();
    for name in names {
        let path = top.join(&name);
        let kind = fs::symlink_metadata(&path).with_context(|| path.display().to_string())?;
        let text = name.to_str().with_context(|| format!("{}: not UTF-8", path.display()))?;
        if kind.is_dir() {
            collect(top, &name, files)?;
        } else if kind.is_file() {
            let bytes = fs::read(&path).with_context(|| format!("read {}", path.display()))?;
            files.push(ChangeFile { name: text.to_owned(), bytes });
        } else {
            bail!("{}: only files and directories belong there", path.display());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::sample::{COLOR, Sample};

    #[test]
    fn files_come_in_order_with_their_place_in_the_kernel() {
        let changes = Changes::read(&Sample::new().kernel()).unwrap();
        let overlay: Vec<_> = changes.overlay().collect();
        assert_eq!(
            overlay,
            [
                ("include/linux/page_color.h", COLOR.as_bytes()),
                ("mm/page_color.c", COLOR.as_bytes()),
            ]
        );
        let hooks: Vec<&str> = changes.hooks().iter().map(|hook| hook.name.as_str()).collect();
        assert_eq!(hooks, ["hooks/0001-first.patch", "hooks/0002-second.patch"]);
    }

    #[test]
    fn no_directory_is_no_change() {
        let top = tempfile::tempdir().unwrap();
        let changes = Changes::read(&top.path().join("kernel")).unwrap();
        assert!(changes.is_empty());
        assert_eq!(changes, Changes::default());
    }

    #[test]
    fn what_is_no_patch_or_no_file_is_refused() {
        let sample = Sample::new();
        sample.write("kernel/hooks/README", "");
        let error = Changes::read(&sample.kernel()).unwrap_err().to_string();
        assert!(error.contains("hooks/README: only hooks/NNNN-topic.patch"), "{error}");
        sample.remove("kernel/hooks/README");
        std::os::unix::fs::symlink("x", sample.path("kernel/overlay/mm/link.c")).unwrap();
        let error = Changes::read(&sample.kernel()).unwrap_err().to_string();
        assert!(error.contains("overlay/mm/link.c: only files and directories"), "{error}");
    }
}
