// SPDX-License-Identifier: MIT OR Apache-2.0
//! A report as text of at most 80 columns.

mod detail;
mod matrix;

use huepage_present::paragraph::wrap;

use super::{BenchReport, cache_text, findings::findings};

/// The whole report: benchmark and machine, tables, and findings.
pub fn text(report: &BenchReport) -> String {
    let mut text = wrap(&head(report), "");
    text.push_str(&wrap(&moments(report), ""));
    for bench in report.benches() {
        text.push('\n');
        let sizes = report.sizes(bench);
        if sizes.len() > 3 {
            text.push_str(&matrix::speeds(report, bench, &sizes));
            text.push('\n');
        }
        let details = detail::sizes_worth_detail(report, &sizes).into_iter();
        let details: Vec<_> = details.map(|bytes| detail::detail(report, bench, bytes)).collect();
        text.push_str(&details.join("\n"));
    }
    text.push_str(
        "\nquiet: speed while no other program was seen to use CPU or cache or to slow\n\
         the CPU; between: p95/p5 - 1 of the allocations, and its interval; in time: the\n\
         same of one allocation's slices, quiet or not; median, p95: of all slices; odd:\n\
         share of pages that the cache cannot hold although it has room.\n\n",
    );
    for sentence in findings(report) {
        text.push_str(&wrap(&sentence, "  "));
    }
    text.push_str(&wrap(&report.verdict.text, "  "));
    text
}

fn head(report: &BenchReport) -> String {
    let share = report.cache_share.as_ref();
    let share = share.map_or(String::new(), |share| format!(" ({share} of the machine's)"));
    format!(
        "{}, CPU {}, {}{share}; {} allocations of each placement, each visited {} \
         times; memory: {}",
        report.machine.model,
        report.machine.cpu,
        cache_text(report.cache),
        report.allocations,
        report.visits,
        report.memory,
    )
}

fn moments(report: &BenchReport) -> String {
    let moved = report.rows.iter().map(|row| row.moved).reduce(|a, b| Some(a?.max(b?))).flatten();
    let moved = match moved {
        Some(0) => "no page moved".to_owned(),
        Some(some) => {
            format!("{some} allocations of a placement are left out, since their pages moved")
        }
        None => "of some allocations it is unknown whether pages moved".to_owned(),
    };
    format!("{} slices, {}; {moved}", report.moments.slices, report.moments)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::sample;

    #[test]
    fn text_fits_80_columns_and_names_every_placement() {
        for report in [sample::working_set(), sample::repeat()] {
            let text = text(&report);
            for line in text.lines() {
                assert!(line.chars().count() <= 80, "{line}");
            }
            for placement in report.placements() {
                let name = placement.to_string();
                let first = name.split('-').next().unwrap();
                assert!(text.contains(first), "{placement}\n{text}");
            }
        }
    }

    /// Figures of any size, and intervals as wide as they come.
    #[test]
    fn tables_fit_80_columns_whatever_their_figures() {
        let mut rng = fastrand::Rng::with_seed(1);
        let tidy = sample::working_set();
        for _ in 0..300 {
            let mut report = tidy.clone();
            let mut any = |most: f64| most.powf(rng.f64() * 2.0 - 1.0);
            for row in &mut report.rows {
                let quiet = row.quiet.as_mut().unwrap();
                (quiet.median, quiet.low, quiet.high) = (any(9e2), any(9e2), any(9e2));
                let between = row.between.as_mut().unwrap();
                (between.spread, between.low, between.high) = (any(9.0), any(9.0), any(9.0));
                row.over_time.as_mut().unwrap().spread = any(90.0);
                let whole = row.whole.as_mut().unwrap();
                (whole.median, whole.p95) = (any(9e3), any(9e3));
                for ratio in [&mut row.ratio, &mut row.ratio_to_default].into_iter().flatten() {
                    let mut values = [any(20.0), any(20.0), any(20.0)];
                    values.sort_by(f64::total_cmp);
                    [ratio.low, ratio.value, ratio.high] = values;
                }
            }
            for line in text(&report).lines() {
                assert!(line.chars().count() <= 80, "{} {line}", line.chars().count());
            }
        }
    }

    #[test]
    fn tables_hold_speeds_spreads_and_ratios() {
        let text = text(&sample::repeat());
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("balanced")).collect();
        let cells: Vec<&str> = rows[0].split_whitespace().collect();
        // A tenth of a percent between allocations, twice as slow over time.
        assert_eq!((cells[1], cells[4], cells[6]), ("10.00", "0.1%", "100%"), "{text}");
        // Default: 10 to 39 ms, so 24.5 in the middle.
        assert!(rows[1].split_whitespace().nth(1).unwrap().starts_with("2.4"), "{}", rows[1]);
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains("480 slices, 75% in quiet moments; others used the cache in 25%"));
        assert!(!text.contains("quarter"));
    }
}
