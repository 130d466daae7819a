// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the libraries are that programs are to load.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// A library that places pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// Exchanges frames while the program runs.
    Live,
    /// Stands in for malloc.
    Heap,
}

impl Library {
    /// The variable that names it, for those who keep it elsewhere.
    fn variable(self) -> &'static str {
        match self {
            Library::Live => "HUEPAGE_PRELOAD",
            Library::Heap => "HUEPAGE_HEAP",
        }
    }

    fn package(self) -> &'static str {
        match self {
            Library::Live => "huepage-preload",
            Library::Heap => "huepage-heap",
        }
    }

    fn file(self) -> String {
        format!("lib{}.so", self.package().replace('-', "_"))
    }
}

/// # Errors
/// If there is none, with where it was looked for.
pub fn find(library: Library) -> anyhow::Result<PathBuf> {
    let variable = library.variable();
    if let Some(named) = std::env::var_os(variable) {
        let path = PathBuf::from(named);
        return path.canonicalize().with_context(|| format!("{variable} names {}", path.display()));
    }
    let own = std::env::current_exe().context("where this command is")?;
    let (name, package) = (library.file(), library.package());
    let beside = places(own.parent().unwrap_or(Path::new("/")), &name);
    match beside.iter().find(|path| path.is_file()) {
        Some(path) => path.canonicalize().with_context(|| path.display().to_string()),
        None => bail!(
            "{name} is neither at {} nor at {}: build it with \
             'cargo build --release -p {package}', or name it in {variable}",
            beside[0].display(),
            beside[1].display()
        ),
    }
}

/// Beside the command, as cargo leaves it; in the libraries, as packages do.
fn places(directory: &Path, name: &str) -> [PathBuf; 2] {
    [directory.join(name), directory.join("../lib").join(name)]
}
