// SPDX-License-Identifier: MIT OR Apache-2.0
//! A report as text of at most 80 columns.

mod detail;
mod figure;
mod matrix;
mod table;

pub use figure::figure;

use super::{Report, findings::findings};
use crate::wrap::wrap;

/// The whole report: what ran where, tables, and what they say.
pub fn text(report: &Report) -> String {
    let cache = report.cache;
    let mut text = wrap(
        &format!(
            "{}, CPU {}, L{} {} {}-way; {} fresh allocations per figure; memory: {}",
            report.machine.model,
            report.machine.cpu,
            cache.level(),
            cache.size(),
            cache.ways(),
            report.samples_taken(),
            report.memory,
        ),
        "",
    );
    for bench in report.benches() {
        text.push('\n');
        let sizes = report.sizes(bench);
        if sizes.len() > 1 {
            text.push_str(&matrix::medians(report, bench, &sizes));
            text.push('\n');
        }
        let details = detail::sizes_worth_detail(report, &sizes).into_iter();
        let details: Vec<_> = details.map(|bytes| detail::detail(report, bench, bytes)).collect();
        text.push_str(&details.join("\n"));
    }
    let findings = findings(report);
    if !findings.is_empty() {
        text.push('\n');
    }
    for sentence in findings {
        text.push_str(&wrap(&sentence, "  "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Placement, report::sample};

    #[test]
    fn text_fits_80_columns_and_names_every_placement() {
        for report in [sample::working_set(), sample::repeat()] {
            let text = text(&report);
            for line in text.lines() {
                assert!(line.chars().count() <= 80, "{line}");
            }
            for placement in report.placements() {
                assert!(text.contains(placement.name()), "{placement}\n{text}");
            }
        }
    }

    #[test]
    fn tables_hold_medians_spreads_and_ratios() {
        let text = text(&sample::repeat());
        // Default: 10 to 39 ms in steps of one.
        let row = text.lines().find(|line| line.trim_start().starts_with("default")).unwrap();
        let cells: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(cells[..5], ["default", "24.50", "24.50", "11.45", "37.55"], "{text}");
        let row = text.lines().find(|line| line.trim_start().starts_with("balanced")).unwrap();
        assert!(row.trim_end().ends_with("2.14"), "{row}");
        assert!(!text.contains(Placement::Quarter.name()));
    }
}
