// SPDX-License-Identifier: MIT OR Apache-2.0
//! The progress of a measurement, on stderr and only if that is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Shows what is done before a measurement begins. It is not redrawn meanwhile, since a
/// thread that redraws it would disturb what is timed.
pub struct Preparation(ProgressBar);

impl Preparation {
    /// Shows what is done until the next call, or until this is dropped.
    pub fn new(what: &'static str) -> Self {
        let style = ProgressStyle::with_template("{msg} …").expect("the template is a constant");
        let preparation = Preparation(ProgressBar::new_spinner().with_style(style));
        preparation.next(what);
        preparation
    }

    /// Shows the next thing that is done.
    pub fn next(&self, what: &'static str) {
        self.0.set_message(what);
        self.0.tick();
    }
}

impl Drop for Preparation {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// Shows a measurement that ends when there is enough, or when its time is up.
pub struct Progress {
    bar: ProgressBar,
    time_limit: Duration,
    wanted: usize,
}

impl Progress {
    /// At the beginning.
    pub fn new(time_limit: Duration, wanted: usize) -> Self {
        let style =
            ProgressStyle::with_template("{wide_bar} {percent} %, {elapsed} of at most {msg}")
                .expect("the template is a constant");
        let message = format!("{} s", time_limit.as_secs());
        let bar = ProgressBar::new(100).with_style(style).with_message(message);
        Progress { bar, time_limit, wanted }
    }

    /// After so much time with so much of what is wanted.
    pub fn set(&self, elapsed: Duration, enough: usize) {
        self.bar.set_position(percent(elapsed, self.time_limit, enough, self.wanted));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn percent(elapsed: Duration, limit: Duration, enough: usize, wanted: usize) -> u64 {
    let time = elapsed.as_secs_f64() / limit.as_secs_f64().max(1e-9);
    let done = enough as f64 / wanted.max(1) as f64;
    (100.0 * time.max(done).min(1.0)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearer_to_its_end_decides() {
        let seconds = Duration::from_secs;
        assert_eq!(percent(seconds(30), seconds(120), 1, 10), 25);
        assert_eq!(percent(seconds(30), seconds(120), 5, 10), 50);
        assert_eq!(percent(seconds(300), seconds(120), 0, 0), 100);
    }
}
