// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures in few columns, the same in text and picture.

use huepage::units::Bytes;

/// A size in at most eight columns: `1.25 GiB`, `1023 KiB`.
pub fn size(bytes: Bytes) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut unit = 0;
    let mut value = bytes.0 as f64;
    while value >= 1023.5 && unit < UNITS.len() - 1 {
        value /= 1024.0;
        unit += 1;
    }
    let digits = match value {
        _ if unit == 0 || value >= 99.95 => 0,
        value if value >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{value:.digits$}");
    let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {}", UNITS[unit])
}

/// A share of a whole: `0 %`, `0.4 %`, `3.1 %`, `75 %`; what is not quite
/// nothing or not quite all does not read as that.
pub fn share(part: u64, whole: u64) -> String {
    if whole == 0 || part == 0 {
        return "0 %".to_owned();
    }
    if part >= whole {
        return "100 %".to_owned();
    }
    percent(part as f64 / whole as f64)
}

/// The same of a share.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        _ if percent <= 0.0 => "0 %".to_owned(),
        _ if percent < 0.1 => "<0.1 %".to_owned(),
        _ if percent < 9.95 => format!("{percent:.1} %"),
        _ if share >= 1.0 => "100 %".to_owned(),
        _ => format!("{:.0} %", percent.min(99.0)),
    }
}

/// An expectation: `0`, `0.4`, `28`.
pub fn expected(value: f64) -> String {
    match value {
        _ if value < 0.05 => "0".to_owned(),
        _ if value < 9.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_keep_three_digits_and_eight_columns() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (4096, "4 KiB"),
            (132 << 10, "132 KiB"),
            ((1 << 20) - 1, "1 MiB"),
            (1_200_000, "1.14 MiB"),
            (64 << 30, "64 GiB"),
            (100_000_000_000, "93.1 GiB"),
            (u64::MAX, "16 EiB"),
        ] {
            assert_eq!(size(Bytes(bytes)), text);
        }
        assert!((0..64).all(|i| size(Bytes((1 << i) + (1 << i >> 1))).len() <= 8));
    }

    #[test]
    fn a_little_is_not_nothing_and_almost_is_not_all() {
        for (part, whole, text) in [
            (0, 5, "0 %"),
            (1, 1_000_000, "<0.1 %"),
            (1, 200, "0.5 %"),
            (3, 4, "75 %"),
            (999_999, 1_000_000, "99 %"),
            (5, 5, "100 %"),
            (1, 0, "0 %"),
        ] {
            assert_eq!(share(part, whole), text);
        }
        assert_eq!(
            (expected(0.0), expected(3.25), expected(28.4)),
            ("0".into(), "3.2".into(), "28".into())
        );
    }
}
