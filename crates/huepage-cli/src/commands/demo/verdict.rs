// SPDX-License-Identifier: MIT OR Apache-2.0
//! Three sentences on what the demo saw, good or bad.

use huepage::{color::Method, units::Bytes};

use crate::{
    bench::{Placement, Report, percent},
    commands::colors,
    wrap::wrap,
};

/// A ratio below which a difference is not called one.
const A_DIFFERENCE: f64 = 1.05;

/// What was found, what it is worth, and whether it is real.
pub fn verdict(survey: &colors::Report, working_set: &Report, repeat: &Report) -> String {
    let sentences = [Some(found(survey)), worth(working_set, repeat), real(working_set)];
    sentences.into_iter().flatten().map(|sentence| wrap(&sentence, "")).collect()
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

fn worth(working_set: &Report, repeat: &Report) -> Option<String> {
    let bytes = *repeat.sizes("repeat").first()?;
    let chase = working_set.row("chase", bytes, Placement::Balanced)?;
    let speedup = working_set.speedup(chase)?;
    let random = working_set.row("chase", bytes, Placement::Random)?;
    let balanced = repeat.row("repeat", bytes, Placement::Balanced)?;
    let default = repeat.row("repeat", bytes, Placement::Default)?;
    let spreads = |a: f64, b: f64| format!("{} instead of {}", percent(a), percent(b));
    let effect = if speedup >= A_DIFFERENCE {
        format!("is {speedup:.2} times as fast as on random pages")
    } else {
        format!("is no faster than on random pages ({speedup:.2} times)")
    };
    Some(format!(
        "A working set of {bytes} placed evenly by color {effect}, and its time varies by {}; \
         the same program run {} times varies by {}.",
        spreads(chase.summary().spread(), random.summary().spread()),
        balanced.samples.len(),
        spreads(balanced.summary().spread(), default.summary().spread()),
    ))
}

fn real(report: &Report) -> Option<String> {
    let eighth = report.cache.size().0 / 8;
    let speedup = |eighths, placement| {
        report.speedup(report.row("chase", Bytes(eighths * eighth), placement)?)
    };
    let slower = 1.0 / speedup(4, Placement::Quarter)?;
    let (shuffled, balanced) =
        (speedup(7, Placement::ShuffledLabels)?, speedup(7, Placement::Balanced)?);
    // The control may catch some luck, but not half of the gain.
    let gone = shuffled < A_DIFFERENCE || shuffled - 1.0 < (balanced - 1.0) / 2.0;
    let sure = match slower >= 1.5 && gone {
        true => "The colors are real",
        false => "The controls leave doubt whether these colors are real",
    };
    Some(format!(
        "{sure}: half a cache squeezed into a quarter of them is {slower:.1} times as slow as on \
         random pages, and with shuffled labels the gain of balance is {} ({shuffled:.2} times).",
        if gone { "gone" } else { "still there" },
    ))
}
