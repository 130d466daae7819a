// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a result goes: the suffix of a file name picks the format.

use std::{
    ffi::OsString,
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use clap::builder::{OsStringValueParser, TryMapValueParser, TypedValueParser, ValueParserFactory};
use rustix::{
    fs::{Access, AtFlags, CWD, accessat},
    io::Errno,
};

use crate::{
    png,
    replace::{Named, folder_of, named, replace},
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

/// Parses an option; file names may be any bytes.
impl ValueParserFactory for Destination {
    type Parser = TryMapValueParser<OsStringValueParser, fn(OsString) -> Result<Self, String>>;

    fn value_parser() -> Self::Parser {
        OsStringValueParser::new().try_map(Destination::named)
    }
}

impl Destination {
    /// The destination that an option names.
    ///
    /// # Errors
    /// The suffix belongs to no format; as a sentence.
    pub fn named(name: OsString) -> Result<Self, String> {
        if name == "-" {
            return Ok(Destination::Stdout);
        }
        Destination::to_file(name.into()).ok_or_else(|| {
            "the suffix picks the format: use .svg, .png, .json or .txt, or - for the terminal"
                .to_owned()
        })
    }

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

    /// Adds standard output if `on_stdout` is set and it is not named, since files are
    /// written in addition to it; then checks each as [`Destination::check`] does.
    ///
    /// # Errors
    /// The first destination that may not be written, or is named twice.
    pub fn prepare(all: &mut Vec<Self>, on_stdout: bool, force: bool) -> anyhow::Result<()> {
        if on_stdout && !all.contains(&Destination::Stdout) {
            all.push(Destination::Stdout);
        }
        for (at, one) in all.iter().enumerate() {
            if all[..at].contains(one) {
                bail!("{} is given twice", one.file_name().as_deref().unwrap_or("-"));
            }
            one.check(force)?;
        }
        Ok(())
    }

    /// Writes the result of `render` to all destinations, as [`Destination::write`]
    /// does. If one fails, the others are still written. If none is standard output, a
    /// result that could not be written is printed there, since measuring again takes
    /// minutes.
    ///
    /// # Errors
    /// All destinations that could not be written.
    pub fn write_all(
        all: &[Self],
        stdout: Format,
        force: bool,
        render: impl Fn(&Self, Format) -> anyhow::Result<Vec<u8>>,
    ) -> anyhow::Result<()> {
        let write = |one: &Self| one.write(stdout, force, |format| render(one, format)).err();
        let mut errors: Vec<anyhow::Error> = all.iter().filter_map(write).collect();
        let Some(last) = errors.pop() else { return Ok(()) };
        if !all.contains(&Destination::Stdout) {
            print(render(&Destination::Stdout, stdout)?)?;
        }
        if errors.is_empty() {
            return Err(last);
        }
        errors.push(last);
        let errors: Vec<String> = errors.iter().map(|error| format!("{error:#}")).collect();
        bail!("{}", errors.join("; "))
    }

    /// The name of the file, for people; `None` for standard output.
    pub fn file_name(&self) -> Option<String> {
        match self {
            Destination::Stdout => None,
            Destination::File(path, _) => Some(path.display().to_string()),
        }
    }

    /// Whether it is a file with a picture.
    pub fn is_picture(&self) -> bool {
        matches!(self, Destination::File(_, Format::Svg | Format::Png))
    }

    /// Checks whether the file may be written, before time is spent on its content.
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

    /// Writes the result of `render`: to a file in its format, to standard output in
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

/// Writes a file; an existing file is replaced only if `force` is set.
///
/// # Errors
/// If the file exists, or cannot be written.
pub fn create(path: &Path, content: &[u8], force: bool) -> anyhow::Result<()> {
    if force {
        return replace(path, content, None);
    }
    if named(path)? == Named::Stream {
        return replace(path, content, None);
    }
    // A file that appeared during the run is not replaced either.
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    let context = || format!("writing {}", path.display());
    let written = file.with_context(context)?.write_all(content);
    if written.is_err() {
        // A file written in part would look like a result.
        let _ = fs::remove_file(path);
    }
    written.with_context(context)
}

/// Checks whether a file may be written, before time is spent on its content.
///
/// # Errors
/// If the file exists and `force` is not set, or its directory does not; if it is a directory,
/// or a symbolic link of another user; or if neither it nor its directory may be written to.
pub fn check_file(path: &Path, force: bool) -> anyhow::Result<()> {
    if path.is_dir() {
        bail!("{} is a directory: name a file in it", path.display());
    }
    let Named::File(file) = named(path)? else { return may_write(path) };
    if path.symlink_metadata().is_ok() && !force {
        bail!("{} exists: give -f to overwrite it", path.display());
    }
    let dir = folder_of(&file);
    if !dir.is_dir() {
        bail!("{} is no directory: make it first (mkdir -p)", dir.display());
    }
    // An existing file is replaced by another one, or overwritten if the directory may
    // not be written to.
    if file.exists() && may_write(&file).is_ok() { Ok(()) } else { may_write(dir) }
}

/// Whether this process may write to a file, or make files in a directory.
fn may_write(path: &Path) -> anyhow::Result<()> {
    match accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS) {
        // On an old kernel only writing shows it.
        Err(error) if error != Errno::NOSYS => {
            Err(error).with_context(|| format!("cannot write to {}", path.display()))
        }
        _ => Ok(()),
    }
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
            assert_eq!(Destination::named(name.into()), Ok(Destination::File(name.into(), format)));
        }
        assert_eq!(Destination::named("-".into()), Ok(Destination::Stdout));
        for name in ["", "a", "a.pdf", "svg", ".svg", "dir.svg/a"] {
            assert!(
                Destination::named(name.into()).unwrap_err().contains(".svg, .png, .json"),
                "{name}"
            );
        }
    }

    #[test]
    fn a_name_may_have_any_bytes() {
        let name = std::os::unix::ffi::OsStringExt::from_vec(b"f\xff.svg".to_vec());
        let Destination::File(path, Format::Svg) = Destination::named(name).unwrap() else {
            panic!("no picture");
        };
        assert_eq!(path.as_os_str().as_encoded_bytes(), b"f\xff.svg");
    }

    #[test]
    fn what_cannot_be_written_keeps_nothing_else_from_it() {
        let dir = tempfile::tempdir().unwrap();
        let [there, new] = ["there.txt", "new.txt"].map(|name| dir.path().join(name));
        let mut all: Vec<Destination> =
            [&there, &new].map(|path| Destination::File(path.clone(), Format::Text)).into();
        Destination::prepare(&mut all, false, false).unwrap();
        fs::write(&there, "appeared meanwhile").unwrap();
        all.push(Destination::Stdout);
        let render = |_: &Destination, _| Ok(b"figures\n".to_vec());
        let error = Destination::write_all(&all, Format::Text, false, render).unwrap_err();
        assert!(format!("{error:#}").contains("there.txt"), "{error:#}");
        assert_eq!(fs::read_to_string(&new).unwrap(), "figures\n");
        assert_eq!(fs::read_to_string(&there).unwrap(), "appeared meanwhile");

        let twice = Destination::prepare(&mut vec![all[1].clone(), all[1].clone()], false, true);
        assert!(twice.unwrap_err().to_string().ends_with("new.txt is given twice"));
    }

    #[test]
    fn where_nothing_can_be_written_is_told_before_and_what_is_no_file_is_written_to() {
        check_file(Path::new("/dev/full"), false).unwrap();
        let error = create(Path::new("/dev/full"), b"x", false).unwrap_err();
        assert!(format!("{error:#}").contains("No space left"), "{error:#}");
        let read_only = ["/proc/huepage.svg", "/sys/huepage.svg"];
        // Root may write everywhere except on read-only file systems.
        if rustix::process::geteuid().is_root() {
            return println!("skipped: root may write to any directory");
        }
        for path in read_only {
            let error = check_file(Path::new(path), false).unwrap_err();
            assert!(error.to_string().starts_with("cannot write to /"), "{error}");
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
        let error =
            Destination::named("/nonexistent/a.svg".into()).unwrap().check(false).unwrap_err();
        assert!(error.to_string().starts_with("/nonexistent is no directory"), "{error}");
    }
}
