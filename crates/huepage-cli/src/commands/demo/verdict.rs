// SPDX-License-Identifier: MIT OR Apache-2.0
//! A few sentences on what the demo saw, good or bad.

use huepage::color::Method;

use crate::{
    bench::{Placement, Report, chase, percent, slower_in_a_quarter},
    commands::colors,
    wrap::wrap,
};

/// What was found, what it is worth, and whether it is real.
pub fn verdict(survey: &colors::Report, working_set: &Report, repeat: &Report) -> String {
    let whole = format!("A small program. {}", repeat.verdict.text);
    let worth = format!("A working set near the size of the cache. {}", working_set.verdict.text);
    let sentences = [found(survey), worth, whole, real(working_set)];
    sentences.into_iter().map(|sentence| wrap(&sentence, "")).collect()
}

fn found(survey: &colors::Report) -> String {
    match (survey.method, survey.agreement) {
        (Method::Measurement, Some(agreement)) => format!(
            "The L2 of this machine has {} colors, found by timing in {:.2} s; two independent \
             runs agree on {} of {} pages.",
            survey.colors,
            survey.seconds.discover,
            percent(agreement),
            survey.pages
        ),
        _ => format!(
            "The L2 of this machine has {} colors, and frame numbers tell them.",
            survey.colors
        ),
    }
}

/// Intervals decide here, too: a quarter of the colors must be slower, and what
/// shuffled labels gain must be less than what balance gains.
fn real(report: &Report) -> String {
    let quarter = slower_in_a_quarter(report);
    let shuffled = chase(report, 7, Placement::ShuffledLabels).and_then(|row| row.ratio);
    let balanced = chase(report, 7, Placement::Balanced).and_then(|row| row.ratio);
    let (Some(quarter), Some(shuffled), Some(balanced)) = (quarter, shuffled, balanced) else {
        return "Whether the colors are real could not be checked: the controls had too few quiet \
                moments."
            .to_owned();
    };
    let gone = shuffled.low <= 1.0 || shuffled.high < balanced.low;
    let sure = match quarter.low > 1.0 && gone {
        true => "The colors are real",
        false => "The controls leave doubt whether these colors are real",
    };
    format!(
        "{sure}: half a cache squeezed into a quarter of them is {:.1} times as slow as on random \
         pages [{:.1} to {:.1}], and with shuffled labels the gain of balance over random pages, \
         {:.2} times, is {} ({:.2} times [{:.2} to {:.2}]).",
        quarter.value,
        quarter.low,
        quarter.high,
        balanced.value,
        if gone { "gone" } else { "still there" },
        shuffled.value,
        shuffled.low,
        shuffled.high
    )
}
