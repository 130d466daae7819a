// SPDX-License-Identifier: MIT OR Apache-2.0
//! Figures as people read them.

/// A figure with at least three digits that count: `0.1583`, `5.497`, `24.50`,
/// `265.8`.
pub fn figure(value: f64) -> String {
    let decimals = match value.abs() {
        small if small < 1.0 => 4,
        small if small < 10.0 => 3,
        middle if middle < 100.0 => 2,
        _ => 1,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_figures_keep_their_digits() {
        for (value, text) in
            [(0.15831, "0.1583"), (5.4968, "5.497"), (24.5, "24.50"), (265.77, "265.8")]
        {
            assert_eq!(figure(value), text);
        }
    }
}
