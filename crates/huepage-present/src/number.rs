// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures, percentages, sizes and counts in few columns, the same in text and picture.

use huepage::{list, units::Bytes};

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
    format!("{} {}", trimmed(value, digits), UNITS[unit])
}

/// At most `digits` digits after the point, without zeros at the end.
pub fn trimmed(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    match digits {
        0 => text,
        _ => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
    }
}

/// A share of a whole, as [`percent`] writes it.
pub fn share(part: u64, whole: u64) -> String {
    percent(part.min(whole) as f64 / whole.max(1) as f64)
}

/// A share as `0%`, `<0.1%`, `4.3%`, `75%`, `250%`. A share that is nearly 0 or nearly
/// 1 is not printed as 0% or 100%.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        _ if percent <= 0.0 => "0%".to_owned(),
        _ if percent < 0.05 => "<0.1%".to_owned(),
        _ if percent < 9.95 => format!("{percent:.1}%"),
        _ if percent < 100.0 => format!("{:.0}%", percent.min(99.0)),
        _ => format!("{percent:.0}%"),
    }
}

/// A share with `digits` digits after the point, for columns of values; `-` for `None`.
pub fn percent_in_column(share: Option<f64>, digits: usize) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.digits$}%", 100.0 * share))
}

/// An expectation: `0`, `0.4`, `28`.
pub fn expected(value: f64) -> String {
    match value {
        _ if value < 0.05 => "0".to_owned(),
        _ if value < 9.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// A figure with at least three significant digits: `0.1583`, `5.497`, `24.50`,
/// `265.8`.
pub fn figure(value: f64) -> String {
    // By the printed value: 9.9996 is printed as wide as 10.0.
    let decimals = match value.abs() {
        small if small < 0.99995 => 4,
        small if small < 9.9995 => 3,
        middle if middle < 99.995 => 2,
        large if large < 999.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// `1 color`, `2 colors`.
pub fn counted(count: u64, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// A list in the syntax of numactl; `0-124:4` for a single stride.
pub fn indexes(list: &[u32]) -> String {
    if let [first, second, .., last] = list {
        let stride = second - first;
        if stride > 1 && list.len() > 3 && list.windows(2).all(|pair| pair[1] - pair[0] == stride) {
            return format!("{first}-{last}:{stride}");
        }
    }
    list::format(list)
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
            (0, 5, "0%"),
            (1, 1_000_000, "<0.1%"),
            (1, 200, "0.5%"),
            (3, 4, "75%"),
            (999_999, 1_000_000, "99%"),
            (5, 5, "100%"),
            (1, 0, "0%"),
        ] {
            assert_eq!(share(part, whole), text);
        }
        assert_eq!(
            (expected(0.0), expected(3.25), expected(28.4)),
            ("0".into(), "3.2".into(), "28".into())
        );
    }

    #[test]
    fn small_figures_keep_their_digits() {
        for (value, text) in [
            (0.15831, "0.1583"),
            (5.4968, "5.497"),
            (9.9996, "10.00"),
            (24.5, "24.50"),
            (99.996, "100.0"),
            (265.77, "265.8"),
            (12345.6, "12346"),
        ] {
            assert_eq!(figure(value), text);
        }
    }

    #[test]
    fn one_stride_is_told_as_such() {
        for (list, text) in [
            (vec![0, 4, 8, 12], "0-12:4"),
            (vec![0, 4, 8], "0,4,8"),
            (vec![0, 1, 2, 3], "0-3"),
            (vec![0, 2, 4, 7], "0,2,4,7"),
            (vec![5], "5"),
            (vec![], ""),
        ] {
            assert_eq!(indexes(&list), text);
        }
    }

    #[test]
    fn zeros_at_the_end_go_and_those_of_whole_numbers_stay() {
        let texts = [(2.5, 3), (2.0, 3), (1200.0, 0), (0.0004, 3), (100.0, 2)];
        assert_eq!(
            texts.map(|(value, digits)| trimmed(value, digits)),
            ["2.5", "2", "1200", "0", "100"]
        );
    }

    #[test]
    fn one_thing_is_singular() {
        assert_eq!(
            (counted(1, "color"), counted(2, "color")),
            ("1 color".into(), "2 colors".into())
        );
    }

    #[test]
    fn percentages_have_two_digits_and_go_beyond_a_hundred() {
        let texts = [0.0432, 0.0996, 0.5, 2.5].map(percent);
        assert_eq!(texts, ["4.3%", "10%", "50%", "250%"]);
        assert_eq!(percent_in_column(Some(0.5), 1), "50.0%");
        assert_eq!(percent_in_column(None, 1), "-");
    }
}
