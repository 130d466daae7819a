// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds the libraries that programs are to load.

use std::{
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use huepage::run::Way;

use super::program;

/// The variable that names the library, for installations elsewhere, and the package
/// that it is built from.
fn names(way: Way) -> (&'static str, &'static str) {
    match way {
        Way::Live => ("HUEPAGE_PRELOAD", "huepage-preload"),
        Way::Heap => ("HUEPAGE_HEAP", "huepage-heap"),
    }
}

/// # Errors
/// If there is none, with the places searched, or if programs here cannot load it.
pub fn find(way: Way) -> anyhow::Result<PathBuf> {
    let (variable, package) = names(way);
    let path = path(way)?;
    // The loader would take the part after such a byte for another library, in the
    // current directory.
    let splits = |byte: &u8| byte.is_ascii_whitespace() || *byte == b':';
    if path.as_os_str().as_bytes().iter().any(splits) {
        bail!(
            "{}: LD_PRELOAD cannot name a path with a space or a colon: keep the library in \
             another folder, and name it in {variable}",
            path.display()
        );
    }
    let arch = std::env::consts::ARCH;
    if !program::is_library(&path).with_context(|| format!("read {}", path.display()))? {
        bail!(
            "{} is no shared library for {arch} of 64 bits: build one with \
             'cargo build --release -p {package}' on such a machine, and name it in {variable}",
            path.display()
        );
    }
    Ok(path)
}

fn path(way: Way) -> anyhow::Result<PathBuf> {
    let (variable, package) = names(way);
    if let Some(named) = std::env::var_os(variable) {
        let path = PathBuf::from(named);
        return path.canonicalize().with_context(|| format!("{variable} names {}", path.display()));
    }
    let own = std::env::current_exe().context("cannot find the path of this command")?;
    let name = way.library();
    let beside = places(own.parent().unwrap_or(Path::new("/")), name);
    match beside.iter().find(|path| path.is_file()) {
        Some(path) => path.canonicalize().with_context(|| path.display().to_string()),
        None => bail!(
            "{name} is neither at {} nor at {} nor in {}: build it with \
             'cargo build --release -p {package}'{}, or name it in {variable}",
            beside[0].display(),
            beside[1].display(),
            beside[2].parent().unwrap_or(Path::new("/")).display(),
            // Cargo leaves it beside the command only if both have the same target.
            if cfg!(target_env = "musl") { " and copy it there" } else { "" }
        ),
    }
}

/// Beside the command, as cargo leaves it; in the library directory; in a directory
/// there, where packages install libraries that no program links.
fn places(directory: &Path, name: &str) -> [PathBuf; 3] {
    let libraries = directory.join("../lib");
    [directory.join(name), libraries.join(name), libraries.join("huepage").join(name)]
}
