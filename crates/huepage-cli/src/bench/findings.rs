// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compares a report with the claims that are made about placement.

use huepage::units::Bytes;

use huepage_present::number::{figure, percent};

use super::{
    BenchReport, Placement, bootstrap::Estimate, report::Row, samples::Ceiling, suite::eighths_of,
    verdict::named,
};

/// One sentence per claim for which there are rows.
pub fn findings(report: &BenchReport) -> Vec<String> {
    let mut sentences = Vec::new();
    for bench in report.benches() {
        let sizes = match report.sizes(bench) {
            many if many.len() > 1 => vec![eighths_of(report.cache, 7)],
            one => one,
        };
        for bytes in sizes {
            sentences.extend(against_all(report, bench, bytes));
        }
    }
    sentences.extend(quarter_at_half(report));
    sentences.extend(control(report));
    sentences.extend(held_bandwidth(report));
    sentences.extend(report.ceilings.iter().filter_map(|ceiling| limits(report, ceiling)));
    sentences
}

/// Balanced pages against every placement that a user may get instead.
fn against_all(report: &BenchReport, bench: &str, bytes: Bytes) -> Option<String> {
    let row = report.row(bench, bytes, Placement::Balanced)?;
    let ratios: Vec<String> = Placement::COMPARED
        .into_iter()
        .filter_map(|other| Some(format!("{} {}", named(other), interval(row.ratio_to(other)?))))
        .collect();
    (!ratios.is_empty())
        .then(|| format!("{bench}, {bytes}: speed of balanced relative to {}.", ratios.join(", ")))
}

/// If colors were wrong, pages of a quarter of the colors would not be slow.
fn quarter_at_half(report: &BenchReport) -> Option<String> {
    let slower = slower_in_a_quarter(report)?;
    Some(format!(
        "At 4/8 of the cache, a quarter of the colors is {} times as slow as random pages (1 if \
         the colors were wrong).",
        interval(slower)
    ))
}

/// If shuffled labels made pages faster, something other than color would be the cause.
fn control(report: &BenchReport) -> Option<String> {
    Some(format!(
        "Control, at 7/8 of the cache: shuffled labels are {} times as fast as random pages (1 if \
         only color has an effect).",
        interval(chase(report, 7, Placement::ShuffledLabels)?.ratio?)
    ))
}

/// How many times as slow half a cache is in a quarter of the colors.
pub fn slower_in_a_quarter(report: &BenchReport) -> Option<Estimate> {
    let Estimate { value, low, high } = chase(report, 4, Placement::Quarter)?.ratio?;
    Some(Estimate { value: 1.0 / value, low: 1.0 / high, high: 1.0 / low })
}

/// A row of the pointer chase at so many eighths of the cache.
pub fn chase(report: &BenchReport, eighths: u64, placement: Placement) -> Option<&Row> {
    report.row("chase", eighths_of(report.cache, eighths), placement)
}

/// The share of peak read bandwidth in quiet moments for a working set as large as the
/// cache. The peak is the best of all sizes and placements, so that all shares have one
/// denominator.
pub fn held_shares(report: &BenchReport) -> Vec<(Placement, f64)> {
    let quiet = |row: &Row| row.quiet.map(|quiet| quiet.median);
    let peak = report.rows_of("read").filter_map(quiet).fold(0.0, f64::max);
    let share = |placement| {
        let row = report.row("read", eighths_of(report.cache, 8), placement)?;
        Some((placement, quiet(row)? / peak))
    };
    report.placements().into_iter().filter_map(share).collect()
}

fn held_bandwidth(report: &BenchReport) -> Option<String> {
    let shares: Vec<String> = held_shares(report)
        .into_iter()
        .map(|(placement, share)| format!("{placement} {}", percent(share)))
        .collect();
    (!shares.is_empty()).then(|| {
        format!("Share of peak read bandwidth held at the full cache size: {}.", shares.join(", "))
    })
}

/// What limits a workload that computes.
fn limits(report: &BenchReport, ceiling: &Ceiling) -> Option<String> {
    let &Ceiling { bench, unit, figure: most } = ceiling;
    let row = report.rows_of(bench).find(|row| row.placement == Placement::Balanced)?;
    let share = unit.cost(most) / unit.cost(row.quiet?.median);
    Some(format!(
        "{bench}: from L1 the same arithmetic gives {} {unit}; balanced has {} of that, so no \
         placement can make it more than {:.2} times as fast as balanced.",
        figure(most),
        percent(share),
        (1.0 / share).max(1.0)
    ))
}

/// `2.01 [1.92 to 2.11]`.
pub fn interval(estimate: Estimate) -> String {
    let Estimate { value, low, high } = estimate;
    format!("{value:.2} [{low:.2} to {high:.2}]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::sample;

    #[test]
    fn every_claim_is_answered_with_its_figure() {
        let found = findings(&sample::working_set());
        assert_eq!(found.len(), 5, "{found:#?}");
        assert!(
            found[0].starts_with(
                "chase, 896 KiB: speed of balanced relative to the kernel's own pages 2.00 ["
            ),
            "{found:#?}"
        );
        assert!(found[1].starts_with("read, 896 KiB"), "{found:#?}");
        assert!(found[2].contains("a quarter of the colors is 4.00 ["), "{found:#?}");
        assert!(found[3].contains("shuffled labels are 1.00 ["), "{found:#?}");
    }

    #[test]
    fn shares_of_peak_have_one_denominator() {
        let shares = held_shares(&sample::working_set());
        assert_eq!(shares.len(), 8);
        // The peak is balanced at 1/8: 1000 / 5. At 8/8: 1000 / (slowness × 8).
        for (placement, share) in shares {
            let time = match placement {
                Placement::Balanced => 40.0,
                Placement::Quarter => 320.0,
                _ => 80.0,
            };
            assert!((share - 5.0 / time).abs() < 1e-3, "{placement} {share}");
        }
    }

    #[test]
    fn what_limits_a_workload_is_told_as_its_share_of_arithmetic() {
        let mut report = sample::repeat();
        report.ceilings = vec![Ceiling { bench: "repeat", unit: report.rows[0].unit, figure: 9.0 }];
        let found = findings(&report);
        let last = found.last().unwrap();
        assert!(last.contains("balanced has 90% of that"), "{last}");
        assert!(last.ends_with("1.11 times as fast as balanced."), "{last}");
    }

    #[test]
    fn claims_without_rows_are_not_answered() {
        let mut report = sample::working_set();
        report.rows.retain(|row| row.placement == Placement::Random);
        let found = findings(&report);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("Share of peak"), "{found:?}");
    }
}
