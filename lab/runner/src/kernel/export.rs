// SPDX-License-Identifier: MIT OR Apache-2.0
//! Our changes as patches to mail, as `git format-patch` writes them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

use super::{changes::Changes, hooks, series, series::Patch, tree};
use crate::workspace::files;

/// Writes the series into `output`, one file per patch, and returns their paths; none
/// if there are no changes. Patches of an earlier export are removed.
///
/// Before anything is written, the series is applied to the stock files again: the
/// result must be exactly the files that the kernel is built from.
///
/// # Errors
/// If series and files do not match, a hook does not apply, or git fails.
pub fn export(kernel: &Path, source: &Path, output: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let changes = Changes::read(kernel)?;
    let patches = series::read(kernel, &changes)?;
    let scratch = tempfile::tempdir().context("make a temporary directory")?;
    let mailed = scratch.path().join("patches");
    fs::create_dir(&mailed)?;
    if !patches.is_empty() {
        let wanted = tree::wanted(source, &changes)?;
        let repository = Repository::of_stock(&scratch.path().join("write"), source, &wanted)?;
        for patch in &patches {
            repository.commit(patch)?;
        }
        repository.format(patches.len(), &mailed)?;
        let check = Repository::of_stock(&scratch.path().join("read"), source, &wanted)?;
        check.apply(&list(&mailed)?)?;
        check.compare(&wanted)?;
    }
    fs::create_dir_all(output).with_context(|| format!("make {}", output.display()))?;
    for old in list(output)? {
        fs::remove_file(&old).with_context(|| format!("remove {}", old.display()))?;
    }
    let mut written = Vec::new();
    for patch in list(&mailed)? {
        let path = output.join(patch.file_name().context("a patch has a name")?);
        fs::copy(&patch, &path).with_context(|| format!("write {}", path.display()))?;
        written.push(path);
    }
    Ok(written)
}

/// The patches in a directory, in order.
fn list(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    files(directory, &["patch"])
}

/// A git repository of the files that the series touches, with Debian's as its first
/// commit.
struct Repository(PathBuf);

impl Repository {
    fn of_stock(
        directory: &Path,
        source: &Path,
        touched: &BTreeMap<String, Vec<u8>>,
    ) -> anyhow::Result<Self> {
        fs::create_dir(directory).with_context(|| format!("make {}", directory.display()))?;
        let repository = Repository(directory.to_owned());
        for path in touched.keys().filter(|path| source.join(path).exists()) {
            let bytes = fs::read(source.join(path)).with_context(|| format!("read {path}"))?;
            repository.write(path, &bytes)?;
        }
        repository.git(&["init", "--quiet"])?;
        repository.git(&["add", "--all", "--force"])?;
        repository.git(&["commit", "--quiet", "--allow-empty", "--message=stock"])?;
        Ok(repository)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().context("a file is in a directory")?)?;
        fs::write(&path, bytes).with_context(|| format!("write {}", path.display()))
    }

    fn commit(&self, patch: &Patch) -> anyhow::Result<()> {
        for hook in &patch.hooks {
            hooks::apply_one(&self.0, hook)?;
        }
        for (path, bytes) in &patch.overlay {
            self.write(path, bytes)?;
        }
        self.git(&["add", "--all", "--force"])?;
        let (author, message) =
            (format!("--author={}", patch.author), format!("--message={}", patch.message));
        self.git(&["commit", "--quiet", "--cleanup=verbatim", &author, &message])
            .with_context(|| format!("patch {}", patch.name))
    }

    fn format(&self, count: usize, output: &Path) -> anyhow::Result<()> {
        let (count, output) = (format!("-{count}"), output.display().to_string());
        self.git(&[
            "format-patch",
            "--quiet",
            "--zero-commit",
            "--no-signature",
            "--numbered",
            "--stat=80",
            "--abbrev=12",
            "--no-renames",
            "--output-directory",
            &output,
            &count,
        ])
    }

    fn apply(&self, patches: &[PathBuf]) -> anyhow::Result<()> {
        let mut arguments = vec!["am", "--quiet", "--keep-cr"];
        arguments.extend(patches.iter().filter_map(|path| path.to_str()));
        self.git(&arguments).context("the exported series does not apply to the stock files")
    }

    fn compare(&self, wanted: &BTreeMap<String, Vec<u8>>) -> anyhow::Result<()> {
        for (path, bytes) in wanted {
            if fs::read(self.0.join(path)).ok().as_ref() != Some(bytes) {
                bail!("{path}: the exported series makes another file than overlay and hooks");
            }
        }
        let output = self.command(&["ls-files"]).output().context("git")?;
        let files = String::from_utf8_lossy(&output.stdout).into_owned();
        let files: BTreeSet<&str> = files.lines().collect();
        match files.into_iter().find(|&path| !wanted.contains_key(path)) {
            Some(path) => bail!("{path}: the exported series makes it, overlay and hooks do not"),
            None => Ok(()),
        }
    }

    fn git(&self, arguments: &[&str]) -> anyhow::Result<()> {
        let output = self.command(arguments).output().context("git is missing: run ./setup lab")?;
        if !output.status.success() {
            let text = [output.stdout, output.stderr].concat();
            bail!("git {} failed: {}", arguments[0], String::from_utf8_lossy(&text).trim());
        }
        Ok(())
    }

    /// Without the user's settings, and with a fixed date, so that the same changes
    /// give the same series.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("GIT_")) {
                command.env_remove(name);
            }
        }
        command.current_dir(&self.0).env("LC_ALL", "C");
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        command
            .env("GIT_COMMITTER_NAME", "huepage")
            .env("GIT_COMMITTER_EMAIL", "huepage@localhost");
        command.env("GIT_AUTHOR_NAME", "huepage").env("GIT_AUTHOR_EMAIL", "huepage@localhost");
        command.env("GIT_AUTHOR_DATE", DATE).env("GIT_COMMITTER_DATE", DATE);
        command.args(["-c", "core.quotePath=false", "-c", "core.safecrlf=false"]).args(arguments);
        command
    }
}

/// `git send-email` puts the day of sending in its place.
const DATE: &str = "2001-09-17 00:00:00 +0000";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::sample::{Sample, read};

    fn export_sample(sample: &Sample) -> anyhow::Result<Vec<PathBuf>> {
        export(&sample.kernel(), &sample.source(), &sample.path("out"))
    }

    #[test]
    fn the_series_is_mail_and_makes_the_same_files() {
        let sample = Sample::new();
        let patches = export_sample(&sample).unwrap();
        let names: Vec<_> = patches.iter().map(|path| path.file_name().unwrap()).collect();
        assert_eq!(names, ["0001-mm-add-0001-header.patch", "0002-mm-add-0002-color.patch"]);
        let second = read(&patches[1]);
        for part in [
            "From: A Person <a@example.org>\n",
            "Subject: [PATCH 2/2] mm: add 0002-color\n\nThe body says why.\n",
            "new file mode 100644\n",
            "+and a half\n",
            " mm/page_color.c | 2 ++\n",
        ] {
            assert!(second.contains(part), "{part}{second}");
        }

        // With patch, rather than the git that wrote it.
        let status = Command::new("sh")
            .arg("-c")
            .arg("cat ../out/*.patch | patch -p1 --quiet --fuzz=0")
            .current_dir(sample.source())
            .status()
            .unwrap();
        assert!(status.success());
        let changes = Changes::read(&sample.kernel()).unwrap();
        let (fresh, applied) = (Sample::new(), sample.source());
        for (path, bytes) in tree::wanted(&fresh.source(), &changes).unwrap() {
            assert_eq!(fs::read(applied.join(&path)).unwrap(), bytes, "{path}");
        }
    }

    #[test]
    fn the_same_changes_give_the_same_series_and_old_patches_go() {
        let sample = Sample::new();
        let texts = |paths: Vec<PathBuf>| paths.into_iter().map(read).collect::<Vec<_>>();
        let first = texts(export_sample(&sample).unwrap());
        sample.write("out/0009-old.patch", "");
        assert_eq!(texts(export_sample(&sample).unwrap()), first);
        assert!(!sample.path("out/0009-old.patch").exists());
    }

    #[test]
    fn without_changes_there_is_no_patch() {
        let sample = Sample::new();
        fs::remove_dir_all(sample.kernel()).unwrap();
        assert_eq!(export_sample(&sample).unwrap(), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_file_without_a_last_newline_survives() {
        let sample = Sample::new();
        sample.write("kernel/overlay/mm/page_color.c", "int x; /* \u{e4} */\r\nint y;");
        assert_eq!(export_sample(&sample).unwrap().len(), 2);
    }
}
