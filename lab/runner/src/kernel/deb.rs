// SPDX-License-Identifier: MIT OR Apache-2.0
//! Debian packages of a kernel: Debian's own configuration of a flavour, with our changes
//! and options, built by the kernel's own `bindeb-pkg`.
//!
//! It uses a tree of its own, `tree-deb-<id>`, since such a build takes hours, and
//! trees are locked meanwhile.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};

use super::{
    build::{Options, check_config},
    changes::Changes,
    debian_config,
    flavour::Flavour,
    fragments::Settings,
    lock,
    make::Make,
    request::Fragment,
    source::Archive,
    toolchain::{Toolchain, in_path},
    tree,
};
use crate::{progress::Progress, workspace::Workspace};

/// The packages built.
#[derive(Debug)]
pub struct Packages {
    /// `linux-image-…`, `linux-headers-…`.
    pub files: Vec<PathBuf>,
    /// Warnings of the compiler and `make` in this run; existing objects are not
    /// compiled again.
    pub warnings: Vec<String>,
}

/// Builds the packages of a flavour into `output`. The version ends in
/// `+huepage<revision>`, so apt treats a higher revision as an upgrade.
///
/// # Errors
/// If Debian's configuration is not available, Kconfig drops an option, or the build
/// fails.
pub fn build(
    flavour: Flavour,
    revision: u32,
    output: &Path,
    progress: &Progress,
) -> anyhow::Result<Packages> {
    check_tools()?;
    let workspace = Workspace::find()?;
    let archive = Archive::find()?;
    let toolchain = Toolchain::find(flavour.arch())?;
    let fragments = ["deb.config", "huepage.config"];
    let fragments = fragments.map(|name| Fragment { name: name.into(), optional: false });
    let settings = Settings::read(&workspace.configs(), &fragments)?;
    let changes = Changes::read(&workspace.kernel())?;
    let name = format!("deb-{}-{}", flavour.name(), archive.id);
    let _lock = lock::take(&workspace.lab().join("locks"), &name, progress)?;
    let source = archive.unpack(&workspace, progress)?;
    let tree_name = format!("tree-deb-{}", archive.id);
    let (tree, _tree_lock) = tree::apply(&workspace, &tree_name, &source, &changes, progress)?;
    let debians = debian_config::read(&archive, flavour, progress)?;

    let objects = workspace.lab().join("objects").join(&name).join("build");
    fs::create_dir_all(&objects).with_context(|| format!("make {}", objects.display()))?;
    let dot_config = objects.join(".config");
    fs::write(&dot_config, settings.over(&debians))
        .with_context(|| format!("write {}", dot_config.display()))?;
    let arch = flavour.arch().name();
    let make = Make { tree: &tree, objects: &objects, arch, toolchain: &toolchain };
    make.begin()?;
    progress.stage(&format!("linux-image for {}: configuring", flavour.name()));
    make.run(&["olddefconfig"], |_, _| {})?;
    check_config(&settings, &dot_config, Options::MustExist)?;
    progress.stage(&format!("linux-image for {}: compiling, for hours", flavour.name()));
    let local = format!("LOCALVERSION=-huepage-{}", flavour.name());
    let step = |objects: u64, file: &str| {
        progress.step(|| format!("{}: {objects} compiled, {file}", flavour.name()));
    };
    make.run(&[&local, "all"], step)?;
    progress.stage(&format!("linux-image for {}: packing", flavour.name()));
    let version = package_version(&archive, &source.version, revision);
    let version = format!("KDEB_PKGVERSION={version}");
    // Headers for programs come from Debian's own linux-libc-dev, which is not
    // replaced.
    make.run(&[&local, &version, "KDEB_CHANGELOG_DIST=unstable", "bindeb-pkg"], step)?;
    let warnings = make.warnings()?;
    Ok(Packages { files: collect(&objects, output)?, warnings })
}

/// `6.12.117-1~deb12u1+huepage1`.
fn package_version(archive: &Archive, source: &str, revision: u32) -> String {
    let upstream = source.split(' ').next().unwrap_or(source);
    let base = archive.package.clone().unwrap_or_else(|| format!("{upstream}-0"));
    format!("{base}+huepage{revision}")
}

/// Moves the packages; `debian/files` names each of them, and they are in the directory
/// above the objects.
fn collect(objects: &Path, output: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let list = objects.join("debian/files");
    let text = fs::read_to_string(&list).with_context(|| format!("read {}", list.display()))?;
    let beside = objects.parent().context("objects are in a directory")?;
    fs::create_dir_all(output).with_context(|| format!("make {}", output.display()))?;
    let mut files = Vec::new();
    for name in text.lines().filter_map(|line| line.split(' ').next()) {
        let wanted = ["linux-image-", "linux-headers-"].iter().any(|kind| name.starts_with(kind));
        if !wanted || !name.ends_with(".deb") {
            continue;
        }
        let to = output.join(name);
        // It may be on another file system.
        fs::copy(beside.join(name), &to).with_context(|| format!("write {}", to.display()))?;
        files.push(to);
    }
    if files.is_empty() {
        bail!("{} names no package: see build.log beside it", list.display());
    }
    Ok(files)
}

/// Checks for the packaging tools before hours are spent on a build.
fn check_tools() -> anyhow::Result<()> {
    for program in ["dh_listpackages", "rsync", "cpio", "zstd"] {
        if !in_path(program) {
            bail!("{program} is missing: run ./setup lab");
        }
    }
    Ok(())
}
