// SPDX-License-Identifier: MIT OR Apache-2.0
//! Prints lines and writes reports.

use std::io::{self, IsTerminal, stdout};

use huepage_present::{
    destination::{Destination, Format},
    png, stdout,
};

use super::{Options, picture, report::PressureReport, text};

/// A heading comes again after so many lines on a terminal.
const SCREEN: u32 = 20;

/// Prints one line per interval.
pub struct Lines {
    json: bool,
    terminal: bool,
    printed: u32,
}

impl Lines {
    /// None printed yet.
    pub fn new(json: bool) -> Self {
        Lines { json, terminal: stdout().is_terminal(), printed: 0 }
    }

    /// Prints one more line; false if the reader has closed standard output.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn print(&mut self, interval: &PressureReport) -> io::Result<bool> {
        let mut line = String::new();
        if self.json {
            line += &json(interval, false)?;
        } else {
            if self.printed == 0 || self.terminal && self.printed.is_multiple_of(SCREEN) {
                line += text::HEADING;
            }
            line += &text::line(interval);
        }
        self.printed += 1;
        stdout::print_if_read(line)
    }
}

/// Writes the run everywhere.
///
/// # Errors
/// The outputs that could not be written; the others have been.
pub fn write(
    report: &PressureReport,
    outputs: &[Destination],
    options: &Options,
) -> anyhow::Result<()> {
    let stdout = if options.json { Format::Json } else { Format::Text };
    Destination::write_all(outputs, stdout, options.force, |output, format| {
        // One line among the lines of intervals, and below the lines of text.
        let watched = options.watch.is_some() && *output == Destination::Stdout;
        Ok(match format {
            Format::Text if watched => format!("\n{}", text::summary(report)).into_bytes(),
            Format::Text => text::summary(report).into_bytes(),
            Format::Json => json(report, !watched)?.into_bytes(),
            Format::Svg => picture::svg(report).into_bytes(),
            Format::Png => png::render(&picture::svg(report))?,
        })
    })
}

fn json(report: &PressureReport, pretty: bool) -> io::Result<String> {
    let json = match pretty {
        true => serde_json::to_string_pretty(report)?,
        false => serde_json::to_string(report)?,
    };
    Ok(json + "\n")
}
