// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the thread of either library does before and after it places anything.

use std::{sync::atomic::Ordering, time::Duration};

use huepage::run::{Config, State, Way};

use crate::{
    privileges, start,
    tally::Tally,
    thread::{leave_descriptors, sleep},
};

/// Why nothing is placed any more, as a sentence.
pub type Stop = String;

/// Calls `place`, which returns when the program ends or when nothing can be placed any
/// more, and reports what it did. `last` completes the report at the end of the program.
pub fn run(
    way: Way,
    place: impl FnOnce(&Config, &mut Tally) -> Result<(), Stop>,
    last: impl FnOnce(&mut Tally),
) {
    let Some(config) = Config::decode(start::text()) else { return };
    let wanted = config.verbose || config.report.is_some();
    start::WANTED.store(wanted, Ordering::Relaxed);
    let _ = rustix::thread::set_name(c"huepage");
    // Before any file is opened, the report included: descriptors are still the
    // program's.
    let left = leave_descriptors().map_err(|e| format!("no descriptors of its own: {e}"));
    let mut tally = Tally::new(&config);
    tally.report.way = way;
    let placed = left.and_then(|()| place(&config, &mut tally));
    // The program has ended this thread and goes on without it.
    let placed = match privileges::changed() {
        true => placed.and(Err("the program changed what it may do".to_owned())),
        false => placed,
    };
    tally.report.state = State::Ended;
    if let Err(why) = placed {
        tally.report.state = State::Stopped;
        tally.report.stopped = Some(why);
        tally.write(true);
        // Waits until the program ends, to print the summary then.
        while wanted && !sleep(Duration::from_secs(3600)) {}
    }
    last(&mut tally);
    tally.write(true);
}
