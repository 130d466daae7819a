// SPDX-License-Identifier: MIT OR Apache-2.0
//! Round numbers on the axis of time, and upper ends for shares.

/// Steps of time that people count in, in seconds.
const STEPS: [f64; 22] = [
    0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0,
    3600.0, 7200.0, 10_800.0, 21_600.0, 43_200.0, 86_400.0, 604_800.0,
];

/// At most `wanted` times from 0 to `seconds`, each with its label.
pub fn times(seconds: f64, wanted: u32) -> Vec<(f64, String)> {
    let enough = |step: &&f64| seconds / **step <= f64::from(wanted);
    let step = STEPS.iter().find(enough).copied().unwrap_or(seconds.max(1.0));
    let (unit, name) = match step {
        step if step < 60.0 => (1.0, "s"),
        step if step < 3600.0 => (60.0, "min"),
        step if step < 86_400.0 => (3600.0, "h"),
        _ => (86_400.0, "d"),
    };
    let digits = usize::from(step < 1.0);
    (0..=(seconds / step) as u64)
        .map(|i| i as f64 * step)
        .map(|time| (time, format!("{:.digits$} {name}", time / unit)))
        .collect()
}

/// The least round share that none exceeds, so that small shares are visible too.
pub fn top(shares: impl Iterator<Item = f64>) -> f64 {
    let most = shares.fold(0.0, f64::max);
    [0.1, 0.2, 0.5].into_iter().find(|&top| most <= top).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_round_and_not_too_many() {
        let labels = |seconds| -> Vec<String> {
            times(seconds, 10).into_iter().map(|(_, label)| label).collect()
        };
        assert_eq!(labels(3.0), ["0.0 s", "0.5 s", "1.0 s", "1.5 s", "2.0 s", "2.5 s", "3.0 s"]);
        assert_eq!(labels(60.0)[..3], ["0 s", "10 s", "20 s"]);
        assert_eq!(labels(3000.0)[..2], ["0 min", "5 min"]);
        assert_eq!(labels(36_000.0)[..2], ["0 h", "1 h"]);
        assert_eq!(labels(3e6)[..2], ["0 d", "7 d"]);
        for seconds in [0.0, 0.01, 1.0, 59.0, 86_400.0, 1e7] {
            assert!((1..=11).contains(&times(seconds, 10).len()), "{seconds}");
        }
    }

    #[test]
    fn shares_fill_their_scale() {
        assert_eq!(top([0.02, 0.07].into_iter()), 0.1);
        assert_eq!(top([0.3].into_iter()), 0.5);
        assert_eq!(top([0.51, 1.0].into_iter()), 1.0);
        assert_eq!(top(std::iter::empty()), 0.1);
    }
}
