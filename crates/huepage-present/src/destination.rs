// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a result goes: the suffix of a file name picks the format.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    str::FromStr,
};

use anyhow::{Context, bail};

use crate::{
    png,
    replace::{named, replace},
    stdout::print,
};

/// The formats a result can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Lines of at most 80 columns (`.txt`).
    Text,
    /// A document (`.json`).
    Json,
    /// A picture that can be scaled (`.svg`).
    Svg,
    /// A picture of pixels (`.png`).
    Png,
}

/// One place to write to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// `-`
    Stdout,
    /// A file, in the format of its suffix.
    File(PathBuf, Format),
}

impl FromStr for Destination {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if name == "-" {
            return Ok(Destination::Stdout);
        }
        Destination::to_file(name.into()).ok_or_else(|| {
            "the suffix picks the format: use .svg, .png, .json or .txt, or - for the terminal"
                .to_owned()
        })
    }
}

impl Destination {
    /// A file in the format of its suffix; `None` for a suffix of no format.
    pub fn to_file(path: PathBuf) -> Option<Self> {
        let suffix = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
        let format = match suffix.to_ascii_lowercase().as_str() {
            "txt" => Format::Text,
            "json" => Format::Json,
            "svg" => Format::Svg,
            "png" => Format::Png,
            _ => return None,
        };
        Some(Destination::File(path, format))
    }

    /// Adds standard output where something is wanted `on_stdout` and it is not named, since
    /// files are beside that; then looks at each as [`Destination::check`] does.
    ///
    /// # Errors
    /// The first that may not be written.
    pub fn prepare(all: &mut Vec<Self>, on_stdout: bool, force: bool) -> anyhow::Result<()> {
        if on_stdout && !all.contains(&Destination::Stdout) {
            all.push(Destination::Stdout);
        }
        all.iter().try_for_each(|destination| destination.check(force))
    }

    /// The name of the file, for people; `None` for standard output.
    pub fn file_name(&self) -> Option<String> {
        match self {
            Destination::Stdout => None,
            Destination::File(path, _) => Some(path.display().to_string()),
        }
    }

    /// Looks whether the file may be written, before time is spent on what goes
    /// into it.
    ///
    /// # Errors
    /// If the file exists and `force` is not set, or its directory does not.
    pub fn check(&self, force: bool) -> anyhow::Result<()> {
        let Destination::File(path, format) = self else { return Ok(()) };
        if *format == Format::Png {
            png::check_fonts()?;
        }
        check_file(path, force)
    }

    /// Writes what `render` makes: to a file in its format, to standard output in
    /// the format `stdout`.
    ///
    /// # Errors
    /// If it cannot be rendered or written, or the file exists and `force` is not
    /// set.
    pub fn write(
        &self,
        stdout: Format,
        force: bool,
        render: impl Fn(Format) -> anyhow::Result<Vec<u8>>,
    ) -> anyhow::Result<()> {
        match self {
            Destination::Stdout => Ok(print(render(stdout)?)?),
            Destination::File(path, format) => create(path, &render(*format)?, force),
        }
    }
}

/// Writes a file; one that exists is replaced only if `force` is set, as a whole.
///
/// # Errors
/// If the file exists, or cannot be written.
pub fn create(path: &Path, content: &[u8], force: bool) -> anyhow::Result<()> {
    if force {
        return replace(path, content, None);
    }
    // Not even a file that appeared during the run is replaced.
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let context = || format!("writing {}", path.display());
    let written = file.with_context(context)?.write_all(content);
    if written.is_err() {
        // Half a file would look like a result.
        let _ = fs::remove_file(path);
    }
    written.with_context(context)
}

/// Looks whether a file may be written, before time is spent on what goes into
/// it.
///
/// # Errors
/// If the file exists and `force` is not set, or its directory does not; if it is a directory,
/// or a symbolic link of another user.
pub fn check_file(path: &Path, force: bool) -> anyhow::Result<()> {
    if path.is_dir() {
        bail!("{} is a directory: name a file in it", path.display());
    }
    if path.symlink_metadata().is_ok() && !force {
        bail!("{} exists: give -f to overwrite it", path.display());
    }
    named(path)?;
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    if let Some(dir) = dir.filter(|dir| !dir.is_dir()) {
        bail!("{} is no directory: make it first (mkdir -p)", dir.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suffix_picks_the_format() {
        for (name, format) in [
            ("a.txt", Format::Text),
            ("a.json", Format::Json),
            ("dir.d/a.svg", Format::Svg),
            ("a.b.PNG", Format::Png),
        ] {
            assert_eq!(name.parse(), Ok(Destination::File(name.into(), format)));
        }
        assert_eq!("-".parse(), Ok(Destination::Stdout));
        for name in ["", "a", "a.pdf", "svg", ".svg", "dir.svg/a"] {
            assert!(
                name.parse::<Destination>().unwrap_err().contains(".svg, .png, .json"),
                "{name}"
            );
        }
    }

    #[test]
    fn a_file_is_replaced_only_by_force() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        let file = Destination::File(path.clone(), Format::Text);
        let write =
            |force| file.write(Format::Json, force, |format| Ok(format!("{format:?}").into()));
        file.check(false).unwrap();
        fs::write(&path, "precious").unwrap();
        assert!(file.check(false).unwrap_err().to_string().ends_with("give -f to overwrite it"));
        assert!(write(false).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
        file.check(true).unwrap();
        write(true).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "Text");
    }

    #[test]
    fn a_missing_directory_is_named_before_the_run() {
        let error = "/nonexistent/a.svg".parse::<Destination>().unwrap().check(false).unwrap_err();
        assert!(error.to_string().starts_with("/nonexistent is no directory"), "{error}");
    }
}
