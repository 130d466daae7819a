// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long to sleep between two looks.

use std::time::Duration;

/// The most of the CPU that looks may take, below the 2 % that are promised: a
/// line printed comes on top.
const MOST: f64 = 0.015;
/// The least pause, which most pauses are near, in seconds.
const LEAST: f64 = 0.05;
/// Drawn at random above that: looks in step with something that happens ten
/// times a second would see it always or never.
const MORE: f64 = 0.05;

/// The pause after a look that took `cost` of the CPU.
pub fn pause(cost: Duration, rng: &mut fastrand::Rng) -> Duration {
    let usual = LEAST + MORE * rng.f64();
    Duration::from_secs_f64(usual.max(cost.as_secs_f64() / MOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_come_some_ten_times_a_second_and_never_take_two_percent() {
        let mut rng = fastrand::Rng::with_seed(1);
        for micros in [0, 300, 600, 750, 1000, 5000, 100_000] {
            let cost = Duration::from_micros(micros);
            for _ in 0..100 {
                let pause = pause(cost, &mut rng);
                let share = cost.as_secs_f64() / (cost + pause).as_secs_f64();
                assert!(share <= MOST, "{micros}: {share}");
                assert!(pause >= Duration::from_millis(50));
                assert!(micros > 750 || pause <= Duration::from_millis(100), "{pause:?}");
            }
        }
    }
}
