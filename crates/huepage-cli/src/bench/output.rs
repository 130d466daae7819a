// SPDX-License-Identifier: MIT OR Apache-2.0
//! A report in each format.

use super::{Report, plot, text};
use crate::destination::{Destination, Format};

/// Writes a report to every output; standard output gets `stdout`.
///
/// # Errors
/// The first output that could not be written.
pub fn write_all(
    report: &Report,
    outputs: &[Destination],
    json: bool,
    force: bool,
) -> anyhow::Result<()> {
    let stdout = if json { Format::Json } else { Format::Text };
    let render = |format| render(report, format);
    outputs.iter().try_for_each(|output| output.write(stdout, force, render))
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
    fn each_format_begins_as_its_readers_expect() {
        let report = sample::repeat();
        for (format, magic) in
            [(Format::Json, b"{\n".as_slice()), (Format::Svg, b"<svg"), (Format::Png, b"\x89PNG")]
        {
            assert!(render(&report, format).unwrap().starts_with(magic), "{format:?}");
        }
    }
}
