// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures as people read them.

/// A figure with at least three digits that count: `0.1583`, `5.497`, `24.50`,
/// `265.8`.
pub fn figure(value: f64) -> String {
    // By what is printed: 9.9996 has as many characters as 10.0.
    let decimals = match value.abs() {
        small if small < 0.99995 => 4,
        small if small < 9.9995 => 3,
        middle if middle < 99.995 => 2,
        large if large < 999.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
