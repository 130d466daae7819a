// SPDX-License-Identifier: MIT OR Apache-2.0
//! A report as text of at most 80 columns.

mod detail;
mod figure;
mod matrix;
mod table;

pub use figure::figure;

use super::{
    Report,
    findings::{findings, percent},
};
use crate::wrap::wrap;

/// The whole report: what ran where, tables, and what they say.
pub fn text(report: &Report) -> String {
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
        "\nquiet: speed when nobody else took CPU, cache or clock; between: p95/p5 - 1 of\n\
         allocations; over time: of an allocation's slices, quiet or not; median, p95: of\n\
         all slices; uneven: pages that the cache cannot hold though it has room.\n\n",
    );
    for sentence in findings(report) {
        text.push_str(&wrap(&sentence, "  "));
    }
    text.push_str(&wrap(&report.verdict.text, "  "));
    text
}

fn head(report: &Report) -> String {
    let cache = report.cache;
    let share = report.cache_share.as_ref();
    let share = share.map_or(String::new(), |share| format!(" ({share} of the machine's)"));
    format!(
        "{}, CPU {}, L{} {} {}-way{share}; {} allocations of each placement, each visited {} \
         times; memory: {}",
        report.machine.model,
        report.machine.cpu,
        cache.level(),
        cache.size(),
        cache.ways(),
        report.allocations,
        report.visits,
        report.memory,
    )
}

fn moments(report: &Report) -> String {
    let moments = &report.moments;
    let cache = match moments.cache_shared {
        Some(share) => format!("others used the cache in {}", percent(share)),
        None => "whether others used the cache cannot be told".to_owned(),
    };
    let moved: usize = report.rows.iter().map(|row| row.moved).max().unwrap_or(0);
    let moved = match moved {
        0 => String::new(),
        some => format!("; {some} allocations of a placement left out: their pages moved"),
    };
    format!(
        "{} slices, {} in quiet moments: {cache}, took the CPU in {}, slowed it in {}{moved}",
        moments.slices,
        percent(moments.quiet),
        percent(moments.lost_cpu),
        percent(moments.slowed)
    )
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
    fn tables_hold_speeds_spreads_and_ratios() {
        let text = text(&sample::repeat());
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("balanced")).collect();
        let cells: Vec<&str> = rows[0].split_whitespace().collect();
        // A tenth of a percent between allocations, twice as slow over time.
        assert_eq!((cells[1], cells[4], cells[5]), ("10.00", "0.1%", "100%"), "{text}");
        // Default: 10 to 39 ms, so 24.5 in the middle.
        assert!(rows[1].split_whitespace().nth(1).unwrap().starts_with("2.4"), "{}", rows[1]);
        assert!(text.contains("75% in quiet moments: others used the cache in 25%"), "{text}");
        assert!(!text.contains(Placement::Quarter.name()));
    }
}
