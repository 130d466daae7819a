// SPDX-License-Identifier: MIT OR Apache-2.0
//! Round numbers for axes.

/// Round numbers in `lo..=hi` for a logarithmic axis: 1, 2, 5 of every decade,
/// or more of them where that leaves too few to read.
pub fn logarithmic(lo: f64, hi: f64) -> Vec<f64> {
    let coarse = steps(lo, hi, &[1.0, 2.0, 5.0]);
    if coarse.len() >= 5 {
        coarse
    } else {
        steps(lo, hi, &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0])
    }
}

fn steps(lo: f64, hi: f64, digits: &[f64]) -> Vec<f64> {
    let decades = lo.log10().floor() as i32..=hi.log10().ceil() as i32;
    let all = decades.flat_map(|decade| digits.iter().map(move |d| d * 10f64.powi(decade)));
    all.filter(|tick| (lo..=hi).contains(tick)).collect()
}

/// About `wanted` multiples of 1, 2, 2.5 or 5 times a power of ten in `lo..=hi`.
pub fn linear(lo: f64, hi: f64, wanted: u32) -> Vec<f64> {
    let raw = (hi - lo) / f64::from(wanted);
    let decade = 10f64.powf(raw.log10().floor());
    let factor = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|f| f * decade >= raw);
    let step = factor.unwrap_or(10.0) * decade;
    let first = (lo / step).ceil() as i64;
    (first..).map(|i| i as f64 * step).take_while(|tick| *tick <= hi).collect()
}

/// A tick without zeros that say nothing.
pub fn label(tick: f64) -> String {
    let text = format!("{tick:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithmic_ticks_are_round_and_never_too_few() {
        assert_eq!(logarithmic(1.0, 100.0), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(logarithmic(3.5, 40.0), [4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 40.0]);
    }

    #[test]
    fn linear_ticks_are_round() {
        assert_eq!(linear(0.0, 105.0, 5), [0.0, 25.0, 50.0, 75.0, 100.0]);
        let labels: Vec<String> = linear(11.93, 12.31, 4).into_iter().map(label).collect();
        assert_eq!(labels, ["12", "12.1", "12.2", "12.3"]);
    }
}
