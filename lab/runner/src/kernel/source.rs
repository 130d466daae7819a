// SPDX-License-Identifier: MIT OR Apache-2.0
//! Debian's kernel source: the package's archive, unpacked once.

use std::{
    env, fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, anyhow, bail};

use super::{inputs::Hasher, lock};
use crate::{progress::Progress, workspace::Workspace};

/// The package, and the archive in it.
const PACKAGE: &str = "linux-source-6.12";
const ARCHIVE: &str = "/usr/src/linux-source-6.12.tar.xz";

/// The archive of a kernel's source.
#[derive(Clone, Debug)]
pub struct Archive {
    path: PathBuf,
    /// Debian's version of it: `6.12.117-1~deb12u1`.
    pub package: Option<String>,
    /// A hash of file and package, which identifies the archive.
    pub id: String,
}

impl Archive {
    /// The archive of the installed package, or the one `HUEPAGE_LINUX_SOURCE` names.
    pub fn find() -> anyhow::Result<Self> {
        match env::var_os("HUEPAGE_LINUX_SOURCE") {
            Some(path) => Archive::at(Path::new(&path), None)
                .with_context(|| format!("HUEPAGE_LINUX_SOURCE={}", path.display())),
            None => Archive::at(Path::new(ARCHIVE), package_version())
                .with_context(|| format!("{ARCHIVE} is missing: run ./setup lab")),
        }
    }

    fn at(path: &Path, package: Option<String>) -> anyhow::Result<Self> {
        let metadata = fs::metadata(path)?;
        let mut hasher = Hasher::new();
        // Without the content: reading 150 MB would take longer than the rest of an
        // unchanged build.
        hasher.add("size", metadata.len().to_string());
        hasher.add("modified", format!("{}.{}", metadata.mtime(), metadata.mtime_nsec()));
        hasher.add("package", package.as_deref().unwrap_or_default());
        Ok(Archive { path: path.to_owned(), package, id: hasher.finish() })
    }

    /// Unpacks it, unless that has been done.
    ///
    /// # Errors
    /// If it cannot be unpacked or is not a kernel's source.
    pub fn unpack(&self, workspace: &Workspace, progress: &Progress) -> anyhow::Result<Source> {
        let name = format!("source-{}", self.id);
        let directory = self.unpacked(workspace);
        let _lock = lock::take(&workspace.lab().join("locks"), &name, progress)?;
        if !directory.is_dir() {
            progress.stage(&format!("unpacking {}", self.path.display()));
            let part = workspace.lab().join(format!("{name}.part"));
            if part.exists() {
                fs::remove_dir_all(&part).with_context(|| format!("remove {}", part.display()))?;
            }
            fs::create_dir_all(&part).with_context(|| format!("make {}", part.display()))?;
            self.extract(&part, &[])?;
            makefile_version(&part)?;
            fs::rename(&part, &directory)
                .with_context(|| format!("rename to {}", directory.display()))?;
        }
        let version = makefile_version(&directory)?;
        Ok(Source { directory, version: self.describe(&version) })
    }

    /// Where it is, or will be, unpacked.
    pub(super) fn unpacked(&self, workspace: &Workspace) -> PathBuf {
        workspace.lab().join(format!("source-{}", self.id))
    }

    /// Unpacks files, or without any named all, without the archive's top directory.
    pub(super) fn extract(&self, into: &Path, files: &[String]) -> anyhow::Result<()> {
        let status = Command::new("tar")
            .args(["--extract", "--strip-components=1", "--wildcards", "--file"])
            .arg(&self.path)
            .arg("--directory")
            .arg(into)
            .args(files.iter().map(|file| format!("*/{file}")))
            .status()
            .context("tar is missing: run ./setup lab")?;
        if !status.success() {
            bail!("tar could not unpack {}: {status}", self.path.display());
        }
        Ok(())
    }

    /// `6.12.117 (Debian 6.12.117-1~deb12u1)`.
    fn describe(&self, version: &str) -> String {
        match &self.package {
            Some(package) => format!("{version} (Debian {package})"),
            None => version.to_owned(),
        }
    }
}

/// An unpacked source.
#[derive(Clone, Debug)]
pub struct Source {
    /// Never built in, never written to.
    pub directory: PathBuf,
    /// The kernel's own version, then Debian's.
    pub version: String,
}

fn package_version() -> Option<String> {
    let output =
        Command::new("dpkg-query").args(["-W", "-f", "${Version}", PACKAGE]).output().ok()?;
    let version = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !version.is_empty()).then_some(version)
}

/// Version, patch level and sublevel as the Makefile has them.
fn makefile_version(directory: &Path) -> anyhow::Result<String> {
    let path = directory.join("Makefile");
    let text = fs::read_to_string(&path)
        .with_context(|| format!("{}: the archive is not a kernel's source", path.display()))?;
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.trim().strip_prefix('='));
        line.map(str::trim).ok_or_else(|| anyhow!("{} has no {name}", path.display()))
    };
    let (version, patch, sub) = (value("VERSION")?, value("PATCHLEVEL")?, value("SUBLEVEL")?);
    Ok(format!("{version}.{patch}.{sub}{}", value("EXTRAVERSION")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_makefiles() {
        let directory = tempfile::tempdir().unwrap();
        let makefile = directory.path().join("Makefile");
        fs::write(&makefile, "# x\nVERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 117\nEXTRAVERSION =\n")
            .unwrap();
        assert_eq!(makefile_version(directory.path()).unwrap(), "6.12.117");
        fs::write(&makefile, "all:\n").unwrap();
        let error = makefile_version(directory.path()).unwrap_err().to_string();
        assert!(error.contains("has no VERSION"), "{error}");
    }

    #[test]
    fn another_archive_has_another_id() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("linux.tar");
        fs::write(&path, "one").unwrap();
        let id = |package: Option<&str>| Archive::at(&path, package.map(str::to_owned)).unwrap().id;
        let first = id(None);
        assert_eq!(first, id(None));
        assert_ne!(first, id(Some("6.12.117-1")));
        fs::write(&path, "one more").unwrap();
        assert_ne!(first, id(None));
    }
}
