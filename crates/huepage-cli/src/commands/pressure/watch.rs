// SPDX-License-Identifier: MIT OR Apache-2.0
//! Looks, one after the other, in intervals.

use std::{
    io,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use huepage::color::{MeasuredOracle, Pressure};

use super::{
    bins::Bins,
    clocks::{self, Clocks},
    pace::{LEAST, Pace, UPKEEP},
    report::{Covers, PressureReport, Subject},
    tally::{Look, Tally},
};
use crate::signals::Signals;

/// How long to watch.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub interval: Duration,
    /// Intervals; `None` goes on until a signal comes.
    pub count: Option<u64>,
    pub seed: Option<u64>,
}

/// Watches, and gives each interval to `each` when it is over, until that
/// returns false, a signal comes, or all intervals are over. Returns the run.
///
/// # Errors
/// If the CPU is not available any more, or whatever `each` reports.
pub fn watch(
    oracle: &mut MeasuredOracle,
    subject: &Subject,
    plan: &Plan,
    mut each: impl FnMut(&PressureReport) -> io::Result<bool>,
) -> anyhow::Result<PressureReport> {
    let mut rng = plan.seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed);
    // The first look measures how many lines are gone on a quiet machine, and takes
    // long.
    oracle.pressure(Pressure::WAIT)?;
    let signals = Signals::hold();
    let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let begin = Instant::now();
    let beginning = Clocks::read(subject.cpu);
    let mut run = Tally::none(subject.color_count());
    let mut bins = Bins::default();
    let mut done = 0;
    let mut go_on = true;
    // The end of the last interval, and of this one.
    let mut last = Duration::ZERO;
    let mut end = plan.interval;
    let mut last_clocks = beginning;
    let mut interval = run.clone();
    let own_before = clocks::own();
    let mut own = own_before;
    let mut next_look = Duration::ZERO;
    let mut pace = Pace::default();
    while go_on && plan.count.is_none_or(|count| done < count) {
        if signals.wait(next_look.min(end).saturating_sub(begin.elapsed())) {
            break;
        }
        // Lines printed meanwhile have used their part; waking up takes little.
        let payable = pace.payable(clocks::own().saturating_sub(own_before));
        if next_look < end && payable > begin.elapsed() + LEAST {
            next_look = payable;
            continue;
        }
        if next_look < end {
            let look = Look(oracle.pressure_within(Pressure::WAIT, UPKEEP)?);
            run.add(&look);
            interval.add(&look);
            bins.add(look, begin.elapsed());
            let before = std::mem::replace(&mut own, clocks::own());
            let cost = own.saturating_sub(before);
            let spent = own.saturating_sub(own_before);
            next_look = pace.next_look(cost, spent, begin.elapsed(), &mut rng);
            continue;
        }
        let clocks = Clocks::read(subject.cpu);
        let spent = last_clocks.until(&clocks);
        let none = Bins::default();
        let report =
            PressureReport::new(subject, Covers::Interval, began, last, spent, &interval, &none);
        go_on = each(&report)?;
        done += 1;
        (last, last_clocks) = (begin.elapsed(), clocks);
        // Intervals during which the program was stopped are joined.
        while end <= last {
            end += plan.interval;
        }
        interval = Tally::none(subject.color_count());
    }
    let spent = beginning.until(&Clocks::read(subject.cpu));
    Ok(PressureReport::new(subject, Covers::Run, began, Duration::ZERO, spent, &run, &bins))
}
