// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether balanced placement is better, in one of three words. Intervals decide: a
//! difference counts however small it is, if the interval excludes 1.

use huepage::topology::CacheGeometry;
use huepage_present::number::percent;

use super::{
    Placement,
    analysis::LEAST_ALLOCATIONS,
    bootstrap::Estimate,
    report::{Moments, Row, Verdict, VerdictKind},
    suite::eighths_of,
};

/// The verdict on a ratio with its interval.
pub fn judge(ratio: Option<Estimate>) -> VerdictKind {
    match ratio {
        Some(ratio) if ratio.low > 1.0 => VerdictKind::Better,
        Some(ratio) if ratio.high <= 1.0 => VerdictKind::NotBetter,
        _ => VerdictKind::CannotTell,
    }
}

/// Placements that balanced pages are compared with: those that programs get today, or
/// else random pages of the same pool.
pub const BASELINES: [Placement; 4] =
    [Placement::Default, Placement::Random, Placement::Stirred, Placement::Thp];

/// The row that a suite's claim is about: balanced pages at seven eighths of the cache
/// if there are many sizes, otherwise the first size.
pub fn claimed(rows: &[Row], cache: CacheGeometry) -> Option<&Row> {
    let balanced = || rows.iter().filter(|row| row.placement == Placement::Balanced);
    balanced().find(|row| row.bytes == eighths_of(cache, 7)).or_else(|| balanced().next())
}

/// The first baseline that ran beside a row.
pub fn baseline<'a>(rows: &'a [Row], row: &Row) -> Option<&'a Row> {
    BASELINES.into_iter().find_map(|placement| {
        rows.iter().find(|other| {
            (&other.bench, other.bytes, other.placement) == (&row.bench, row.bytes, placement)
        })
    })
}

/// The verdict of a run.
pub fn verdict(rows: &[Row], cache: CacheGeometry, moments: &Moments) -> Verdict {
    let cannot_tell = |text: String| Verdict { kind: VerdictKind::CannotTell, text };
    let Some(row) = claimed(rows, cache) else {
        return cannot_tell("Balanced placement is not among those compared.".to_owned());
    };
    let Some(other) = baseline(rows, row) else {
        return cannot_tell("Nothing to compare balanced placement with was measured.".to_owned());
    };
    let ratio = row.ratio_to(other.placement);
    let kind = judge(ratio);
    let Some(Estimate { value, low, high }) = ratio else {
        return cannot_tell(format!("Cannot tell here ({}, {}): {}", row.bench, row.bytes, {
            why_not(if row.allocations < other.allocations { row } else { other }, moments)
        }));
    };
    let than = named(other.placement);
    let subject =
        format!("in quiet moments {} over {} placed evenly by color", row.bench, row.bytes);
    let interval = format!("95 % interval {low:.2} to {high:.2}");
    let first = match kind {
        VerdictKind::Better => {
            format!("Better: {subject} is {value:.2} times as fast as on {than} ({interval})")
        }
        VerdictKind::NotBetter => {
            format!("Not better: {subject} is {value:.2} times as fast as on {than} ({interval})")
        }
        VerdictKind::CannotTell => format!(
            "Cannot tell here: {subject} is between {low:.2} and {high:.2} times as fast as on \
             {than}"
        ),
    };
    let spread = match (row.between, other.between) {
        (Some(a), Some(b)) => format!(
            ", and varies by {} from allocation to allocation instead of {}",
            percent(a.spread),
            percent(b.spread)
        ),
        _ => String::new(),
    };
    let whole = match (row.whole, other.whole) {
        (Some(a), Some(b)) => {
            let ratio = row.unit.cost(b.median) / row.unit.cost(a.median);
            format!(" Over all moments, quiet or not: {ratio:.2} times.")
        }
        _ => String::new(),
    };
    let advice = match kind {
        VerdictKind::CannotTell => " More allocations make the interval narrower (--allocations).",
        _ => "",
    };
    Verdict { kind, text: format!("{first}{spread}.{whole} Of all slices, {moments}.{advice}") }
}

/// Why a row has no quiet speed, and what to do.
fn why_not(row: &Row, moments: &Moments) -> String {
    let still = row.each.len();
    let moved = row.moved.unwrap_or(0);
    if still < LEAST_ALLOCATIONS && moved > 0 {
        return format!(
            "pages of {moved} allocations as {} moved meanwhile, so only {still} are left. Memory \
             is being compacted, merged or migrated: try again at another time.",
            row.placement
        );
    }
    if still < LEAST_ALLOCATIONS {
        return format!(
            "{still} allocations are too few, {LEAST_ALLOCATIONS} are needed (--allocations)."
        );
    }
    format!(
        "fewer than {LEAST_ALLOCATIONS} allocations as {} had quiet moments enough. {moments}. Try \
         again at another time, on another CPU (--cpu), or longer (--time-limit).",
        row.placement
    )
}

/// A baseline as people call it.
pub fn named(placement: Placement) -> String {
    let name = match placement {
        Placement::Default => "the kernel's own pages",
        Placement::Stirred => "the kernel's own pages from stirred memory",
        Placement::Thp => "the kernel's huge pages",
        Placement::Random => "random pages",
        other => return other.to_string(),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::sample;

    fn ratio(low: f64, high: f64) -> Option<Estimate> {
        Some(Estimate::within(low, high))
    }

    #[test]
    fn intervals_decide() {
        assert_eq!(judge(ratio(1.001, 1.003)), VerdictKind::Better);
        assert_eq!(judge(ratio(0.5, 1.0)), VerdictKind::NotBetter);
        assert_eq!(judge(ratio(0.999, 3.0)), VerdictKind::CannotTell);
        assert_eq!(judge(None), VerdictKind::CannotTell);
    }

    #[test]
    fn the_verdict_is_about_seven_eighths_and_the_kernels_pages() {
        let report = sample::working_set();
        let text = &report.verdict.text;
        assert_eq!(report.verdict.kind, VerdictKind::Better);
        assert!(
            text.starts_with(
                "Better: in quiet moments chase over 896 KiB placed evenly by color is 2.00 times \
                 as fast as on the kernel's own pages (95 % interval "
            ),
            "{text}"
        );
        assert!(text.contains("Over all moments, quiet or not: 2.00 times."), "{text}");
    }

    #[test]
    fn without_quiet_moments_the_verdict_says_what_to_do() {
        let mut report = sample::repeat();
        for row in &mut report.rows {
            (row.quiet, row.ratio, row.ratio_to_default) = (None, None, None);
            row.allocations = 0;
        }
        let moments = Moments { quiet: 0.01, cache_shared: Some(0.98), ..report.moments };
        let verdict = verdict(&report.rows, report.cache, &moments);
        assert_eq!(verdict.kind, VerdictKind::CannotTell);
        assert!(verdict.text.contains("others used the cache in 98%"), "{}", verdict.text);
        assert!(verdict.text.contains("--cpu"), "{}", verdict.text);
    }

    #[test]
    fn moments_are_a_sentence_whether_or_not_the_cache_was_looked_at() {
        let seen = Moments { cache_shared: Some(0.5), ..sample::repeat().moments };
        assert!(seen.to_string().contains("; others used the cache in 50%, took the CPU in"));
        let unseen = Moments { cache_shared: None, ..seen }.to_string();
        assert!(unseen.contains("; others took the CPU in"), "{unseen}");
        assert!(unseen.ends_with("; whether they used the cache cannot be told"), "{unseen}");
    }

    #[test]
    fn each_reason_why_it_cannot_be_told_is_its_own() {
        let mut report = sample::repeat();
        let row = &mut report.rows[0];
        row.each.truncate(3);
        let moments = report.moments.clone();
        assert_eq!(
            why_not(row, &moments),
            "3 allocations are too few, 6 are needed (--allocations)."
        );
        row.moved = Some(27);
        assert!(why_not(row, &moments).contains("pages of 27 allocations as default moved"));
    }

    #[test]
    fn what_was_not_compared_is_not_judged() {
        let mut report = sample::repeat();
        report.rows.retain(|row| row.placement == Placement::Default);
        let verdict = verdict(&report.rows, report.cache, &report.moments);
        assert_eq!(verdict.kind, VerdictKind::CannotTell);
        assert!(verdict.text.contains("not among those compared"), "{}", verdict.text);
    }
}
