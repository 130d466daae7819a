// SPDX-License-Identifier: MIT OR Apache-2.0
//! A report in each format.

use serde::Serialize;

use huepage_present::{
    destination::{Destination, Format},
    png,
};

use super::{BenchReport, plot, text};

/// How a report is presented; JSON follows from its type, and PNG from SVG.
pub struct Look<R> {
    pub text: fn(&R) -> String,
    pub svg: fn(&R) -> anyhow::Result<String>,
}

/// How the report of all workloads looks.
pub const LOOK: Look<BenchReport> = Look { text, svg: plot::svg };

/// Writes a report to every output; standard output gets text, or `json`.
///
/// # Errors
/// The outputs that could not be written; the others have been.
pub fn write_all<R: Serialize>(
    report: &R,
    look: &Look<R>,
    outputs: &[Destination],
    json: bool,
    force: bool,
) -> anyhow::Result<()> {
    let stdout = if json { Format::Json } else { Format::Text };
    let render = |_: &Destination, format| look.render(report, format);
    Destination::write_all(outputs, stdout, force, render)
}

impl<R: Serialize> Look<R> {
    fn render(&self, report: &R, format: Format) -> anyhow::Result<Vec<u8>> {
        Ok(match format {
            Format::Text => (self.text)(report).into_bytes(),
            Format::Json => {
                let mut json = serde_json::to_vec_pretty(report)?;
                json.push(b'\n');
                json
            }
            Format::Svg => (self.svg)(report)?.into_bytes(),
            Format::Png => png::render(&(self.svg)(report)?)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::sample;

    #[test]
    fn each_format_begins_as_its_readers_expect() {
        let report = sample::repeat();
        for (format, magic) in
            [(Format::Json, b"{\n".as_slice()), (Format::Svg, b"<svg"), (Format::Png, b"\x89PNG")]
        {
            assert!(LOOK.render(&report, format).unwrap().starts_with(magic), "{format:?}");
        }
    }
}
