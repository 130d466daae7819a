// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long to sleep between two looks.

use std::time::Duration;

/// The most of the CPU that looks may take, below the 2 % that are promised: printing a
/// line and the following constants come on top.
const MOST: f64 = 0.013;
/// The share for measuring anew the limit between hits and misses and, beside a
/// neighbor, how many lines are gone on a quiet machine. That takes as long as many
/// looks.
pub const UPKEEP: f64 = 0.003;
/// The least pause, which most pauses are near.
pub const LEAST: Duration = Duration::from_millis(50);
/// Seconds of a random addition to the pause: looks in step with something that happens
/// ten times a second would see it always or never.
const MORE: f64 = 0.05;

/// The factor by which the next look may cost more than the costliest so far: after a
/// pause less of what it reads is in any cache.
const SURPRISE: u32 = 8;

/// The times of looks, computed from the CPU time of the looks before.
#[derive(Debug, Default)]
pub struct Pace {
    costliest: Duration,
}

impl Pace {
    /// When the next look may begin after one that took `cost` of CPU time and ended at
    /// `now` since the watch began, in which this program used `spent`.
    pub fn next_look(
        &mut self,
        cost: Duration,
        spent: Duration,
        now: Duration,
        rng: &mut fastrand::Rng,
    ) -> Duration {
        self.costliest = self.costliest.max(cost);
        let usual = LEAST + Duration::from_secs_f64(MORE * rng.f64());
        self.payable(spent).max(now + usual.max(cost.div_f64(MOST)))
    }

    /// When a run that has used `spent` could afford another look, since a watch may
    /// end right after it, and beside a neighbor some looks take fifty times the usual.
    /// If waking up costs much, frequent lines leave little for looks. Zero as long as
    /// no look took more than the usual pause covers.
    pub fn payable(&self, spent: Duration) -> Duration {
        if self.costliest.div_f64(MOST) <= LEAST + Duration::from_secs_f64(MORE) {
            return Duration::ZERO;
        }
        (spent + SURPRISE * self.costliest).div_f64(MOST)
    }
}

#[cfg(test)]
mod tests {
    use std::iter::repeat_n;

    use super::*;

    /// Each look of a run: when it began and ended, and the CPU time of the run by
    /// then.
    fn looks(costs: impl IntoIterator<Item = Duration>) -> Vec<[Duration; 3]> {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut pace = Pace::default();
        let (mut begins, mut spent) = (Duration::ZERO, Duration::ZERO);
        let looks = costs.into_iter().map(|cost| {
            spent += cost;
            let look = [begins, begins + cost, spent];
            begins = pace.next_look(cost, spent, begins + cost, &mut rng);
            look
        });
        looks.collect()
    }

    #[test]
    fn looks_come_some_ten_times_a_second_and_never_take_two_percent() {
        for micros in [0, 300, 600, 750, 1000, 5000, 100_000] {
            let cost = Duration::from_micros(micros);
            for pair in looks(repeat_n(cost, 101)).windows(2) {
                let pause = pair[1][0] - pair[0][1];
                let share = cost.as_secs_f64() / (cost + pause).as_secs_f64();
                assert!(share <= MOST, "{micros}: {share}");
                assert!(pause >= Duration::from_millis(50));
                assert!(micros > 750 || pause <= Duration::from_millis(100), "{pause:?}");
            }
        }
    }

    /// Whenever a run ends, and however the costs of its looks change: unless the last
    /// look costs more than any before, the run has not used more than its share.
    #[test]
    fn a_run_that_ends_with_a_costly_look_has_not_taken_more() {
        let costs = |look: u64| Duration::from_micros(if look % 7 == 6 { 40_000 } else { 900 });
        let looks = looks((0..100).map(costs));
        // The first looks are most of their time, and the first costly one is
        // unexpected.
        let later = looks.iter().filter(|[_, ends, _]| *ends > Duration::from_secs(1));
        assert!(later.clone().count() > 90);
        for [_, ends, spent] in later {
            let share = spent.div_duration_f64(*ends);
            assert!(share <= MOST, "{ends:?}: {share}");
        }
    }

    /// Beside a neighbor that never pauses: the cost of a look that renews the canary
    /// is unexpected the first time, but does not come too early.
    #[test]
    fn renewing_and_looking_take_less_than_two_percent_together() {
        for renewal in [0.02, 0.05, 0.1, 0.4] {
            let mut rng = fastrand::Rng::with_seed(1);
            let mut pace = Pace::default();
            let (mut now, mut spent, mut renewed) = (0.0, 0.0, 0.0);
            for _ in 0..2000 {
                let due = now - renewed > 2.0 && renewal <= UPKEEP * (now - renewed);
                let cost = 0.0009 + if due { renewal } else { 0.0 };
                renewed = if due { now } else { renewed };
                (now, spent) = (now + cost, spent + cost);
                assert!(now < 1.0 || spent < 0.0195 * now, "{renewal}: {spent} of {now}");
                let [cost, ends] = [cost, now].map(Duration::from_secs_f64);
                let total = Duration::from_secs_f64(spent);
                now = pace.next_look(cost, total, ends, &mut rng).as_secs_f64();
            }
            assert!(renewed > 0.0, "{renewal}");
        }
    }

    /// Costs that grow from look to look, each unexpected, as in a watch beside a
    /// neighbor: the CPU time after 3.5 seconds, in which a pause by each look's own
    /// cost alone allowed 2.2 %.
    #[test]
    fn surprises_do_not_add_up() {
        let millis = [0.4, 0.95, 1.0, 1.6, 1.7, 1.4, 1.5, 11.5, 19.0, 40.0];
        let looks = looks(millis.map(|millis| Duration::from_secs_f64(millis * 1e-3)));
        let early = |[begins, ..]: &&[Duration; 3]| *begins <= Duration::from_millis(3500);
        let [_, _, spent] = looks.iter().rfind(early).unwrap();
        assert!(spent.as_secs_f64() < 0.02 * 3.5, "{spent:?}");
    }
}
