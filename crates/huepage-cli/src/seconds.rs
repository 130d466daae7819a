// SPDX-License-Identifier: MIT OR Apache-2.0
//! Intervals given on the command line.

use std::time::Duration;

/// From a tenth of a second to a day.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.1..=86400.0).contains(seconds));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "write a number of seconds from 0.1 to 86400".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_of_a_second_to_a_day_are_intervals() {
        assert_eq!(seconds("0.1"), Ok(Duration::from_millis(100)));
        assert_eq!(seconds("86400"), Ok(Duration::from_secs(86400)));
        for text in ["0", "0.09", "86401", "-1", "nan", "inf", "", "1s"] {
            assert!(seconds(text).unwrap_err().contains("0.1 to 86400"), "{text}");
        }
    }
}
