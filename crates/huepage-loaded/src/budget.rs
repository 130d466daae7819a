// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long the thread pauses. Pure: no system calls here.

use std::time::Duration;

/// CPU time that placing may take.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// The share of the time that passes.
    pub share: f64,
    /// CPU time that may be used beside that, once.
    pub allowance: Duration,
}

/// CPU time for opening a palette and placing the first pages.
pub const START: Duration = Duration::from_millis(20);

const SHORTEST: Duration = Duration::from_millis(2);
const LONGEST: Duration = Duration::from_millis(500);

impl Budget {
    /// How long to pause so that `used` CPU time after `elapsed` stays within the
    /// budget.
    pub fn pause(&self, used: Duration, elapsed: Duration) -> Duration {
        let beyond = used.saturating_sub(self.allowance).as_secs_f64();
        let due = beyond / self.share.max(1e-6);
        Duration::from_secs_f64((due - elapsed.as_secs_f64()).clamp(0.0, 3600.0))
    }
}

/// How long to pause if there is nothing to do: longer each time.
#[derive(Clone, Copy, Debug)]
pub struct Idle(Duration);

/// After a page was placed.
impl Default for Idle {
    fn default() -> Self {
        Idle(SHORTEST)
    }
}

impl Idle {
    /// The next pause.
    pub fn pause(&mut self) -> Duration {
        let pause = self.0;
        self.0 = (self.0 * 2).min(LONGEST);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_allowance_is_free_and_what_is_beyond_is_waited_for() {
        let budget = Budget { share: 0.01, allowance: Duration::from_millis(100) };
        let seconds = Duration::from_secs_f64;
        assert_eq!(budget.pause(seconds(0.1), seconds(0.0)), Duration::ZERO);
        assert_eq!(budget.pause(seconds(0.1), seconds(5.0)), Duration::ZERO);
        let pause = budget.pause(seconds(0.11), seconds(0.25));
        assert!((pause.as_secs_f64() - 0.75).abs() < 1e-6, "{pause:?}");
    }

    #[test]
    fn an_idle_placer_wakes_at_most_a_few_times_a_second() {
        let mut idle = Idle::default();
        let pauses: Vec<Duration> = std::iter::repeat_with(|| idle.pause()).take(20).collect();
        assert_eq!(pauses[0], SHORTEST);
        assert!(pauses.windows(2).all(|pair| pair[0] <= pair[1]));
        assert_eq!(pauses[19], LONGEST);
    }
}
