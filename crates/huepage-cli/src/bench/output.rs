// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a report goes: the suffix of a file name picks the format.

use std::{
    fs::{self, File, OpenOptions},
    io::Write,
    path::PathBuf,
    str::FromStr,
};

use anyhow::{Context, bail};

use super::{Report, plot, text};
use crate::output::print;

/// The formats a report can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
    Svg,
    Png,
}

/// One place to write to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// `-`
    Stdout,
    /// A file, in the format of its suffix.
    File(PathBuf, Format),
}

impl FromStr for Output {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if name == "-" {
            return Ok(Output::Stdout);
        }
        Output::to_file(name.into()).ok_or_else(|| {
            "the suffix picks the format: use .svg, .png, .json or .txt, or - for the terminal"
                .to_owned()
        })
    }
}

impl Output {
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
        Some(Output::File(path, format))
    }

    /// The name of the file, for people; `None` for standard output.
    pub fn file_name(&self) -> Option<String> {
        match self {
            Output::Stdout => None,
            Output::File(path, _) => Some(path.display().to_string()),
        }
    }

    /// Looks whether the file may be written, before minutes are spent on what
    /// goes into it.
    ///
    /// # Errors
    /// If the file exists and `force` is not set, or its directory does not.
    pub fn check(&self, force: bool) -> anyhow::Result<()> {
        let Output::File(path, format) = self else { return Ok(()) };
        if *format == Format::Png {
            plot::check_fonts()?;
        }
        if path.exists() && !force {
            bail!("{} exists: give -f to overwrite it", path.display());
        }
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty());
        if let Some(dir) = dir.filter(|dir| !dir.is_dir()) {
            bail!("{} is no directory: make it first (mkdir -p)", dir.display());
        }
        Ok(())
    }

    fn write(&self, report: &Report, stdout: Format, force: bool) -> anyhow::Result<()> {
        match self {
            Output::Stdout => print(render(report, stdout)?).context("writing to standard output"),
            Output::File(path, format) => {
                let content = render(report, *format)?;
                let file = if force {
                    File::create(path)
                } else {
                    // Not even a file that appeared during the run is replaced.
                    OpenOptions::new().write(true).create_new(true).open(path)
                };
                let context = || format!("writing {}", path.display());
                let written = file.with_context(context)?.write_all(&content);
                if written.is_err() {
                    // Half a file would look like a result.
                    let _ = fs::remove_file(path);
                }
                written.with_context(context)
            }
        }
    }
}

/// Writes a report to every output; standard output gets `stdout`.
///
/// # Errors
/// The first output that could not be written.
pub fn write_all(
    report: &Report,
    outputs: &[Output],
    json: bool,
    force: bool,
) -> anyhow::Result<()> {
    let stdout = if json { Format::Json } else { Format::Text };
    outputs.iter().try_for_each(|output| output.write(report, stdout, force))
}

fn render(report: &Report, format: Format) -> anyhow::Result<Vec<u8>> {
    Ok(match format {
        Format::Text => text(report).into_bytes(),
        Format::Json => {
            let mut json = serde_json::to_vec_pretty(report)?;
            json.push(b'\n');
            json
        }
        Format::Svg => plot::svg(report)?.into_bytes(),
        Format::Png => plot::png(report)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::sample;

    #[test]
    fn the_suffix_picks_the_format() {
        for (name, format) in [
            ("a.txt", Format::Text),
            ("a.json", Format::Json),
            ("dir.d/a.svg", Format::Svg),
            ("a.b.PNG", Format::Png),
        ] {
            assert_eq!(name.parse(), Ok(Output::File(name.into(), format)));
        }
        assert_eq!("-".parse(), Ok(Output::Stdout));
        for name in ["", "a", "a.pdf", "svg", ".svg", "dir.svg/a"] {
            assert!(name.parse::<Output>().unwrap_err().contains(".svg, .png, .json"), "{name}");
        }
    }

    #[test]
    fn each_format_begins_as_its_readers_expect() {
        let report = sample::repeat();
        for (format, magic) in
            [(Format::Json, b"{\n".as_slice()), (Format::Svg, b"<svg"), (Format::Png, b"\x89PNG")]
        {
            assert!(render(&report, format).unwrap().starts_with(magic), "{format:?}");
        }
    }

    #[test]
    fn a_file_is_replaced_only_by_force() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        let output = Output::File(path.clone(), Format::Text);
        let report = sample::repeat();
        output.check(false).unwrap();
        fs::write(&path, "precious").unwrap();
        assert!(output.check(false).unwrap_err().to_string().ends_with("give -f to overwrite it"));
        assert!(write_all(&report, std::slice::from_ref(&output), false, false).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
        output.check(true).unwrap();
        write_all(&report, &[output], false, true).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text(&report));
    }

    #[test]
    fn a_missing_directory_is_named_before_the_run() {
        let error = "/nonexistent/a.svg".parse::<Output>().unwrap().check(false).unwrap_err();
        assert!(error.to_string().starts_with("/nonexistent is no directory"), "{error}");
    }
}
