// SPDX-License-Identifier: MIT OR Apache-2.0
//! Speeds in quiet moments over all sizes, one column per placement.

use huepage::units::Bytes;

use crate::bench::{BenchReport, Placement};
use huepage_present::{number::figure, table::Table};

/// The table of one workload.
pub fn speeds(report: &BenchReport, bench: &str, sizes: &[Bytes]) -> String {
    let Some(unit) = report.rows_of(bench).next().map(|row| row.unit) else {
        return String::new();
    };
    let direction = if unit.lower_is_better() { "lower" } else { "higher" };
    let placements = report.placements();
    let mut table = Table::wide(&["cache"], placements.iter().map(|p| short(*p)));
    for &bytes in sizes {
        let cells = placements.iter().map(|&placement| {
            let quiet = report.row(bench, bytes, placement).and_then(|row| row.quiet);
            quiet.map_or(String::new(), |quiet| figure(quiet.median))
        });
        let share = share_of_cache(bytes, report.cache.size());
        table.wide_row([share], cells);
    }
    format!("{bench}: {unit} in quiet moments, {direction} is better\n{}", table.render())
}

/// Short names, so that eight columns fit beside the size.
pub fn short(placement: Placement) -> String {
    match placement {
        Placement::ShuffledLabels => "shuffled".to_owned(),
        other => other.to_string(),
    }
}

/// `7/8` for a whole number of eighths, otherwise `2.25`.
pub fn share_of_cache(bytes: Bytes, cache: Bytes) -> String {
    let eighths = bytes.0 as f64 * 8.0 / cache.0 as f64;
    if (eighths - eighths.round()).abs() < 0.02 && eighths < 12.5 {
        format!("{}/8", eighths.round())
    } else {
        format!("{:.2}", eighths / 8.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_in_eighths_of_the_cache() {
        let cache = Bytes::mib(2);
        for (bytes, share) in [
            (Bytes::kib(256), "1/8"),
            (Bytes::mib(3), "12/8"),
            (Bytes::mib(32), "16.00"),
            (Bytes::kib(1400), "0.68"),
        ] {
            assert_eq!(share_of_cache(bytes, cache), share);
        }
    }
}
