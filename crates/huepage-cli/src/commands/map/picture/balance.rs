// SPDX-License-Identifier: MIT OR Apache-2.0
//! The balance beside a row: pages per color, and the imbalance as a number.

use huepage::map::Balance;

use huepage_present::{
    number::{self, expected},
    svg::{self, Anchor, Svg},
};

use super::{column, paint};

/// The most bars of a histogram.
const BARS: usize = 48;

/// Draws the histogram and the figures at `y`, `height` high.
pub fn balance(svg: &mut Svg, y: f64, height: f64, balance: &Balance, cache: &str, ways: u32) {
    if balance.frames == 0 {
        return;
    }
    histogram(svg, y, height, balance, ways);
    let middle = y + height / 2.0;
    let imbalance = if balance.imbalance == 0 { paint::INK } else { paint::OUT };
    let share = number::percent(balance.share());
    let (text, below) = match balance.imbalance {
        // All of the cache is in use: no placement could be better.
        0 if balance.frames > balance.held => {
            ("0".to_owned(), svg::fit(&format!("fills {cache}"), 11, 72.0))
        }
        0 => ("0".to_owned(), format!("random {}", expected(balance.imbalance_if_random))),
        n => {
            (format!("{n} ({share})"), format!("random {}", expected(balance.imbalance_if_random)))
        }
    };
    svg.text((column::FIGURE, middle - 3.0), 12, imbalance, Anchor::Start, &text);
    svg.text((column::FIGURE, middle + 11.0), 11, paint::PALE, Anchor::Start, &below);
}

/// A bar per color or per group of neighboring colors. Pages that the cache does not
/// hold are highlighted if it has room for all pages.
fn histogram(svg: &mut Svg, y: f64, height: f64, balance: &Balance, ways: u32) {
    if balance.histogram.len() < 2 {
        return;
    }
    let each = balance.histogram.len().div_ceil(BARS);
    let bars: Vec<(f64, f64)> = balance
        .histogram
        .chunks(each)
        .map(|colors| {
            let held: u64 = colors.iter().map(|&count| count.min(u64::from(ways))).sum();
            (
                held as f64 / colors.len() as f64,
                colors.iter().sum::<u64>() as f64 / colors.len() as f64,
            )
        })
        .collect();
    let room = u64::from(ways) * balance.histogram.len() as u64;
    let most = bars.iter().map(|bar| bar.1).fold(1.0, f64::max);
    let scale = height / most;
    let width = column::BALANCE_WIDTH / bars.len() as f64;
    let gap = if width >= 4.0 { 1.0 } else { 0.0 };
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for (i, &(held, all)) in bars.iter().enumerate() {
        let x = column::BALANCE + i as f64 * width;
        let held = if balance.frames > room { all } else { held };
        inside.push([x, y + height - held * scale, width - gap, held * scale]);
        if all > held {
            outside.push([x, y + height - all * scale, width - gap, (all - held) * scale]);
        }
    }
    svg.rectangles(&inside, "#7d8a99");
    svg.rectangles(&outside, paint::OUT);
    svg.rectangle((column::BALANCE, y + height), (column::BALANCE_WIDTH, 1.0), "#bbb");
}
