// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sentences about the results of the demo, good or bad.

use huepage::color::Method;

use huepage_present::{number::percent_in_column, paragraph::wrap};

use crate::{
    bench::{BenchReport, Estimate, Placement, chase, interval, slower_in_a_quarter},
    commands::colors,
};

/// What was found, what it gains, and whether the controls confirm it.
pub fn verdict(
    survey: &colors::ColorsReport,
    working_set: &BenchReport,
    repeat: &BenchReport,
) -> String {
    let whole = format!("A small program. {}", repeat.verdict.text);
    let worth = format!("A working set near the size of the cache. {}", working_set.verdict.text);
    let sentences = [found(survey), worth, whole, real(working_set)];
    sentences.into_iter().map(|sentence| wrap(&sentence, "")).collect()
}

fn found(survey: &colors::ColorsReport) -> String {
    match (survey.method, survey.agreement) {
        (Method::Measurement, Some(agreement)) => format!(
            "The L2 of this machine has {} colors, found by timing in {:.2} s; two independent \
             runs agree on {} of {} pages.",
            survey.colors,
            survey.seconds.discover,
            percent_in_column(Some(agreement), 2),
            survey.pages
        ),
        _ => format!(
            "The L2 of this machine has {} colors, and frame numbers tell them.",
            survey.colors
        ),
    }
}

/// If colors were wrong, pages of a quarter of the colors would not be slow, and
/// randomly permuted labels would be as good as true ones.
fn real(report: &BenchReport) -> String {
    let quarter = slower_in_a_quarter(report);
    let shuffled = chase(report, 7, Placement::ShuffledLabels).and_then(|row| row.ratio);
    let balanced = chase(report, 7, Placement::Balanced).and_then(|row| row.ratio);
    let (Some(quarter), Some(shuffled), Some(balanced)) = (quarter, shuffled, balanced) else {
        return "Whether the colors are real could not be checked: the controls had too few quiet \
                moments."
            .to_owned();
    };
    format!(
        "{}: half a cache squeezed into a quarter of them is {} times as slow as on random pages; \
         balanced pages are {} times as fast as random ones, and {} with shuffled labels.",
        if are_real(quarter, balanced, shuffled) {
            "The colors are real"
        } else {
            "The controls leave doubt whether these colors are real"
        },
        interval(quarter),
        interval(balanced),
        interval(shuffled)
    )
}

/// Intervals decide: a quarter is slower, balance gains, and shuffled labels gain
/// less than that.
fn are_real(quarter: Estimate, balanced: Estimate, shuffled: Estimate) -> bool {
    quarter.low > 1.0 && balanced.low > 1.0 && shuffled.high < balanced.low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_real_only_if_every_control_says_so() {
        let (slow, fast, none) =
            (Estimate::within(4.0, 6.0), Estimate::within(1.7, 2.1), Estimate::within(0.9, 1.1));
        assert!(are_real(slow, fast, none));
        assert!(
            are_real(slow, fast, Estimate::within(1.05, 1.2)),
            "a little luck, far from the gain"
        );
        assert!(!are_real(none, fast, none), "a quarter is not slower");
        assert!(!are_real(slow, none, none), "no gain, so none that is gone");
        assert!(!are_real(slow, fast, Estimate::within(0.9, 1.8)), "too noisy to tell");
        assert!(!are_real(slow, fast, fast), "labels do not matter");
    }
}
