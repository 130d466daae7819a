// SPDX-License-Identifier: MIT OR Apache-2.0
//! Directories: the repository, and the one for files that the lab makes.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow};

/// A checkout of the repository.
#[derive(Clone, Debug)]
pub struct Workspace {
    root: PathBuf,
    lab: PathBuf,
    results: PathBuf,
}

impl Workspace {
    /// The checkout around the current directory; otherwise the files that a package
    /// installed beside this program; otherwise the checkout in which it was built.
    /// Files that the lab makes go to `target/lab` in a checkout, to the user's cache
    /// directory with a package, or to the directory in `HUEPAGE_LAB_DIR`: names are
    /// hashes of their inputs, so several checkouts may share it.
    pub fn find() -> anyhow::Result<Self> {
        let here = env::current_dir().context("current directory")?;
        let built_in = Path::new(env!("CARGO_MANIFEST_DIR"));
        let installed = installed().unwrap_or_default();
        let root = here
            .ancestors()
            .chain([installed.as_path()])
            .chain(built_in.ancestors())
            .find(|directory| directory.join("lab/configs/base.config").is_file())
            .ok_or_else(|| {
                anyhow!(
                    "{} is in no checkout of huepage (there is no lab/configs/base.config at or \
                     above it): run this inside one",
                    here.display()
                )
            })?
            .to_owned();
        let lab = match env::var_os("HUEPAGE_LAB_DIR") {
            Some(directory) => here.join(directory),
            None if root == installed => cache()?.join("huepage-lab"),
            None => root.join("target/lab"),
        };
        // The user cannot write to the directory of a package.
        let results = if root == installed { &lab } else { &root }.join("results");
        Ok(Workspace { root, lab, results })
    }

    /// A checkout at `root` that makes its files in `lab`.
    pub fn at(root: impl Into<PathBuf>, lab: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Workspace { results: root.join("results"), root, lab: lab.into() }
    }

    /// The top of the checkout.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory of files that the lab makes and can make again.
    pub fn lab(&self) -> &Path {
        &self.lab
    }

    /// The default directory of results.
    pub fn results(&self) -> &Path {
        &self.results
    }

    /// The kernel config fragments.
    pub fn configs(&self) -> PathBuf {
        self.root.join("lab/configs")
    }

    /// The C files in a folder of the checkout, in a fixed order.
    pub fn c_files(&self, folder: &str) -> anyhow::Result<Vec<PathBuf>> {
        files(&self.root.join(folder), &["c", "h"])
    }

    /// The overlay and the hooks.
    pub fn kernel(&self) -> PathBuf {
        self.root.join("kernel")
    }
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) -> anyhow::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("remove {}", path.display()))
        }
        _ => Ok(()),
    }
}

/// The files in a folder with one of these endings, in a fixed order.
pub(crate) fn files(folder: &Path, endings: &[&str]) -> anyhow::Result<Vec<PathBuf>> {
    let read = || format!("read {}", folder.display());
    let entries = fs::read_dir(folder).with_context(read)?;
    let paths: Vec<PathBuf> = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()
        .with_context(read)?;
    let is = |path: &PathBuf| endings.iter().any(|end| path.extension() == Some(end.as_ref()));
    let mut files: Vec<PathBuf> = paths.into_iter().filter(is).collect();
    files.sort();
    Ok(files)
}

/// Where a package keeps the files of a checkout: `../share/huepage-lab` of the
/// program.
fn installed() -> Option<PathBuf> {
    Some(env::current_exe().ok()?.parent()?.parent()?.join("share/huepage-lab"))
}

/// As the XDG Base Directory Specification has it.
fn cache() -> anyhow::Result<PathBuf> {
    match env::var_os("XDG_CACHE_HOME") {
        Some(cache) => Ok(PathBuf::from(cache)),
        None => {
            let home = env::var_os("HOME");
            let home = home.context("HOME is not set: name a directory in HUEPAGE_LAB_DIR")?;
            Ok(Path::new(&home).join(".cache"))
        }
    }
}
