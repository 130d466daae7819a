// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a report says about the claims that placement makes, good or bad.

use huepage::units::Bytes;

use super::{Placement, Report, report::Row, text::figure};

/// One sentence per claim that the rows speak to.
pub fn findings(report: &Report) -> Vec<String> {
    let mut sentences = Vec::new();
    if !report.sizes("chase").is_empty() {
        sentences.extend(balanced_near_the_size(report));
        sentences.extend(quarter_at_half(report));
        sentences.extend(control(report));
        sentences.extend(held_bandwidth(report));
    }
    for bench in report.benches().into_iter().filter(|b| !["chase", "read"].contains(b)) {
        sentences.extend(same_time(report, bench));
    }
    sentences
}

/// Random and balanced where a few overfull sets hurt most.
fn balanced_near_the_size(report: &Report) -> Option<String> {
    let row = chase(report, 7, Placement::Balanced)?;
    let baseline = report.row("chase", row.bytes, report.baseline()?)?;
    Some(format!(
        "At 7/8 of the cache, balanced is {:.2} times as fast as {}; \
         spread {} against {}.",
        report.speedup(row)?,
        baseline.placement,
        percent(row.summary().spread()),
        percent(baseline.summary().spread()),
    ))
}

/// If colors were not real, a quarter of them would not be slow.
fn quarter_at_half(report: &Report) -> Option<String> {
    let row = chase(report, 4, Placement::Quarter)?;
    Some(format!(
        "At 4/8 of the cache, a quarter of the colors is {:.2} times as slow as {} \
         (1 if colors were not real).",
        1.0 / report.speedup(row)?,
        report.baseline()?,
    ))
}

/// If shuffled labels helped, something other than color would be at work.
fn control(report: &Report) -> Option<String> {
    let row = chase(report, 7, Placement::ShuffledLabels)?;
    Some(format!(
        "Control, at 7/8 of the cache: shuffled labels are {:.2} times as fast as {} \
         (1 if color is all that matters).",
        report.speedup(row)?,
        report.baseline()?,
    ))
}

fn chase(report: &Report, eighths: u64, placement: Placement) -> Option<&Row> {
    report.row("chase", Bytes(report.cache.size().0 * eighths / 8), placement)
}

/// The share of peak read bandwidth that is left when the working set is as
/// large as the cache. The peak is the best median of any size and placement,
/// so that all shares have one denominator.
pub fn held_shares(report: &Report) -> Vec<(Placement, f64)> {
    let peak = report.rows_of("read").map(|row| row.summary().median).fold(0.0, f64::max);
    let share = |placement| {
        let row = report.row("read", report.cache.size(), placement)?;
        Some((placement, row.summary().median / peak))
    };
    report.placements().into_iter().filter_map(share).collect()
}

fn held_bandwidth(report: &Report) -> Option<String> {
    let shares: Vec<String> = held_shares(report)
        .into_iter()
        .map(|(placement, share)| format!("{placement} {}", percent(share)))
        .collect();
    (!shares.is_empty()).then(|| {
        format!("Share of peak read bandwidth held at the full cache size: {}.", shares.join(", "))
    })
}

/// Mean and spread of the same program, balanced against the baseline.
fn same_time(report: &Report, bench: &str) -> Option<String> {
    let bytes = *report.sizes(bench).first()?;
    let row = report.row(bench, bytes, Placement::Balanced)?;
    let baseline = report.row(bench, bytes, report.baseline()?)?;
    let part = |row: &Row| {
        let summary = row.summary();
        format!("mean {} {}, spread {}", figure(summary.mean), row.unit, percent(summary.spread()))
    };
    Some(format!(
        "{bench}, {} fresh allocations: {} {}; balanced {} ({:.2} times as fast).",
        row.samples.len(),
        baseline.placement,
        part(baseline),
        part(row),
        report.speedup(row)?,
    ))
}

/// `0.0432` as `4.3%`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 9.95 { format!("{percent:.1}%") } else { format!("{percent:.0}%") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::sample;

    #[test]
    fn every_claim_is_answered_with_its_figure() {
        let found = findings(&sample::working_set());
        // Slowness 10, 5 and 40 per eighth, plus the index of the sample; the
        // median pair is the third.
        assert_eq!(found.len(), 4, "{found:#?}");
        assert!(found[0].contains("balanced is 1.95 times as fast as random"), "{found:#?}");
        assert!(found[0].ends_with("spread 10% against 5.1%."), "{found:#?}");
        assert!(found[1].contains("3.86 times as slow as random"), "{found:#?}");
        assert!(found[2].contains("are 1.00 times as fast as random"), "{found:#?}");
    }

    #[test]
    fn shares_of_peak_have_one_denominator() {
        let shares = held_shares(&sample::working_set());
        assert_eq!(shares.len(), 7);
        // The peak is balanced at 1/8: 1000 / 7. At 8/8: 1000 / (slowness × 8 + 2).
        for (placement, share) in shares {
            let time = match placement {
                Placement::Balanced => 42.0,
                Placement::Quarter => 322.0,
                _ => 82.0,
            };
            assert!((share - 7.0 / time).abs() < 1e-9, "{placement} {share}");
        }
    }

    #[test]
    fn a_repeat_is_told_as_mean_and_spread() {
        let found = findings(&sample::repeat());
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("default mean 24.50 ms"), "{found:?}");
        assert!(found[0].contains("balanced mean 11.45 ms"), "{found:?}");
    }

    #[test]
    fn claims_without_rows_are_not_answered() {
        let mut report = sample::working_set();
        report.rows.retain(|row| row.placement == Placement::Random);
        let found = findings(&report);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("Share of peak"), "{found:?}");
    }

    #[test]
    fn percentages_have_two_digits() {
        assert_eq!(percent(0.0432), "4.3%");
        assert_eq!(percent(0.0999), "10%");
        assert_eq!(percent(1.5), "150%");
    }
}
