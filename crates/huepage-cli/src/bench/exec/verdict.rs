// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether placed runs are better, in one of three words. Intervals decide. If the
//! control shows a difference, which cannot be real, a difference of placed runs must
//! be larger.

use huepage_present::number::{figure, percent};

use super::{
    Arm,
    report::{ArmReport, Figures, Summary},
};
use crate::bench::{
    analysis::LEAST_ALLOCATIONS as LEAST_RUNS,
    bootstrap::Estimate,
    moment::{TICK, WHOLE},
    report::{Moments, Verdict, VerdictKind},
    verdict::judge,
};

/// The verdict on one figure of the arms, which is called `name`.
pub fn verdict(
    name: &str,
    arms: &[ArmReport],
    figures: fn(&ArmReport) -> &Figures,
    moments: &Moments,
) -> Verdict {
    let of = |arm: Arm| arms.iter().find(|report| report.arm == arm).map(figures);
    let (placed, default) = (of(Arm::Placed), of(Arm::Default));
    let quiet = |figures: Option<&Figures>| figures.and_then(|figures| figures.quiet);
    let control = quiet(of(Arm::Control)).and_then(|control| control.ratio);
    let ratio = quiet(placed).and_then(|placed| placed.ratio);
    let kind = decide(ratio, control);
    let mut text = match ratio {
        Some(ratio) => in_quiet(name, kind, ratio, quiet(placed), quiet(default)),
        None => why_not(name, placed, default, moments, arms.iter().any(waits_shortly)),
    };
    text.push_str(&of_control(ratio, control));
    if let Some(all) = placed.and_then(|placed| placed.all)
        && let Some(ratio) = all.ratio
    {
        text.push_str(&format!(
            " Over all runs, quiet or not: {:.3} times as fast ({:.3} to {:.3}){}.",
            ratio.value,
            ratio.low,
            ratio.high,
            less_or_more(all.saved)
        ));
    }
    Verdict { kind, text }
}

/// The verdict on a ratio, given that of the control, which is 1 in truth.
fn decide(ratio: Option<Estimate>, control: Option<Estimate>) -> VerdictKind {
    let (Some(ratio), Some(control)) = (ratio, control.filter(failed)) else {
        return judge(ratio);
    };
    match judge(Some(ratio)) {
        VerdictKind::Better if ratio.low > control.high => VerdictKind::Better,
        VerdictKind::NotBetter if ratio.high < control.low => VerdictKind::NotBetter,
        _ => VerdictKind::CannotTell,
    }
}

/// Whether the control shows a difference.
fn failed(control: &Estimate) -> bool {
    control.low > 1.0 || control.high < 1.0
}

fn in_quiet(
    name: &str,
    kind: VerdictKind,
    ratio: Estimate,
    placed: Option<Summary>,
    default: Option<Summary>,
) -> String {
    let Estimate { value, low, high } = ratio;
    let word = match kind {
        VerdictKind::Better => "Better",
        VerdictKind::NotBetter => "Not better",
        VerdictKind::CannotTell => "Cannot tell here",
    };
    let spread = |summary: Option<Summary>| summary.and_then(|summary| summary.spread);
    let spreads = match (spread(placed), spread(default)) {
        (Some(a), Some(b)) => format!(
            ", and vary by {} from run to run instead of {}",
            percent(a.value),
            percent(b.value)
        ),
        _ => String::new(),
    };
    format!(
        "{word} ({name}): in quiet moments placed runs are {value:.3} times as fast as default \
         ones (95 % interval {low:.3} to {high:.3}){}{spreads}.",
        less_or_more(placed.and_then(|placed| placed.saved))
    )
}

/// A ratio as a time: for a program that does nothing, the cost of the start.
fn less_or_more(saved: Option<Estimate>) -> String {
    let Some(saved) = saved else { return String::new() };
    let word = if saved.value < 0.0 { "more" } else { "less" };
    format!(", {} s {word}", figure(saved.value.abs()))
}

/// Why there is no result for quiet runs, and what to do.
fn why_not(
    name: &str,
    placed: Option<&Figures>,
    default: Option<&Figures>,
    moments: &Moments,
    waits: bool,
) -> String {
    let enough = |figures: Option<&Figures>| figures.is_some_and(|figures| figures.quiet.is_some());
    if enough(placed) && enough(default) {
        return format!("Cannot tell here ({name}): it is too little to be compared.");
    }
    let advice = if waits {
        "It waits for something, and ends within a second: to tell that from time that others \
         took, give it more to do."
    } else {
        "Try again at another time, on another CPU (--cpu), or longer (--time-limit, --runs)."
    };
    format!(
        "Cannot tell here ({name}): fewer than {LEAST_RUNS} default or placed runs were quiet. Of \
         all runs, {moments}. {advice}"
    )
}

/// Whether the program is idle for longer than a quiet run may lose, and too short for
/// the ticks that idle time is counted in: then no run counts as quiet.
fn waits_shortly(arm: &ArmReport) -> bool {
    let (Some(elapsed), Some(user)) = (arm.elapsed.all, arm.user.all) else { return false };
    let elapsed = elapsed.median.value;
    elapsed < TICK.as_secs_f64() / (1.0 - WHOLE) && user.median.value + arm.system < WHOLE * elapsed
}

fn of_control(ratio: Option<Estimate>, control: Option<Estimate>) -> String {
    let Some(control) = control.filter(|_| ratio.is_some()) else { return String::new() };
    let Estimate { value, low, high } = control;
    let word = if failed(&control) {
        "The control found a difference that is not there, so that only one beyond it counts"
    } else {
        "The control found none"
    };
    format!(" {word}: default runs against others of them {value:.3} ({low:.3} to {high:.3}).")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::exec::{Cost, report::sample};

    fn ratio(low: f64, high: f64) -> Option<Estimate> {
        Some(Estimate::within(low, high))
    }

    #[test]
    fn a_control_that_finds_something_takes_the_place_of_one() {
        use VerdictKind::*;
        let good = ratio(0.9, 1.1);
        assert_eq!(decide(ratio(1.05, 1.5), good), Better, "a good control is no limit");
        assert_eq!(decide(ratio(0.8, 0.95), good), NotBetter);
        assert_eq!(decide(ratio(0.95, 1.05), good), CannotTell);
        let high = ratio(1.1, 1.3);
        assert_eq!(decide(ratio(1.05, 1.5), high), CannotTell);
        assert_eq!(decide(ratio(1.4, 1.5), high), Better);
        assert_eq!(decide(ratio(0.8, 0.95), high), NotBetter);
        let low = ratio(0.7, 0.9);
        assert_eq!(decide(ratio(0.8, 0.95), low), CannotTell);
        assert_eq!(decide(ratio(0.5, 0.6), low), NotBetter);
        assert_eq!(decide(ratio(1.4, 1.5), None), Better);
        assert_eq!(decide(None, good), CannotTell);
    }

    #[test]
    fn the_verdict_says_how_much_how_sure_and_how_even() {
        let report = sample::report();
        assert_eq!(report.verdict.kind, VerdictKind::Better);
        let text = &report.verdict.text;
        assert!(
            text.starts_with("Better (elapsed time): in quiet moments placed runs are 1.697 times"),
            "{text}"
        );
        assert!(text.contains("), 0.6980") && text.contains(" s less, and vary"), "{text}");
        assert!(text.contains("vary by 0.4% from run to run instead of 33%"), "{text}");
        assert!(text.contains("The control found none: "), "{text}");
        assert!(text.contains("Over all runs, quiet or not: 1."), "{text}");
        assert!(report.verdict_user.text.starts_with("Better (user time)"));
    }

    #[test]
    fn without_quiet_runs_the_verdict_says_what_to_do_and_what_a_user_got() {
        let mut runs = sample::report().runs;
        for run in &mut runs {
            run.quiet = false;
            run.moment.cpu = 0;
        }
        let report = sample::of(runs);
        let text = &report.verdict.text;
        assert_eq!(report.verdict.kind, VerdictKind::CannotTell);
        assert!(text.contains("fewer than 6 default or placed runs were quiet"), "{text}");
        assert!(text.contains("took the CPU in 100%"), "{text}");
        assert!(
            text.contains("--cpu") && text.contains("Over all runs, quiet or not: 1."),
            "{text}"
        );
        assert!(!text.contains("control"), "{text}");
    }

    #[test]
    fn a_short_program_that_waits_is_told_so() {
        let text = |elapsed: f64, user: f64| {
            let mut runs = sample::report().runs;
            for run in &mut runs {
                (run.quiet, run.moment.cpu) = (false, 0);
                run.cost = Cost { elapsed, user, succeeded: true, ..Cost::default() };
            }
            sample::of(runs).verdict.text
        };
        assert!(text(0.5, 0.1).contains("give it more to do"), "{}", text(0.5, 0.1));
        for text in [text(0.5, 0.5), text(2.0, 0.1)] {
            assert!(text.contains("Try again at another time"), "{text}");
        }
    }

    #[test]
    fn what_takes_no_user_time_cannot_be_compared_by_it() {
        let mut runs = sample::report().runs;
        runs.iter_mut().for_each(|run| run.cost.user = 0.0);
        let report = sample::of(runs);
        let text = &report.verdict_user.text;
        assert_eq!(report.verdict_user.kind, VerdictKind::CannotTell);
        assert!(text.contains("too little to be compared"), "{text}");
    }
}
