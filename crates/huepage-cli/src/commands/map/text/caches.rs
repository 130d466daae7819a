// SPDX-License-Identifier: MIT OR Apache-2.0
//! How evenly pages spread over the colors of each cache.

use std::fmt::Write;

use huepage::map::{Balance, MappedCache, ProcessMap, Trust};

use huepage_present::{
    number::{counted, expected, percent, size},
    paragraph::put,
};

use super::{super::in_bytes, doubt};

/// The most columns of a histogram.
const BARS: usize = 64;

/// A line per cache, and its histogram.
pub fn caches(out: &mut String, map: &ProcessMap) {
    if map.total.balances.is_empty() || map.caches.is_empty() {
        return;
    }
    out.push_str("\nColors by frame number; imbalance: pages that a cache cannot hold together\n");
    out.push_str("although it has room, next to the imbalance that random placement would have\n");
    let _ = writeln!(
        out,
        "  {:<27} {:>8} {:>8} {:>4} {:>8} {:>9} {:>8}",
        "cache", "size", "colors", "ways", "frames", "imbalance", "random"
    );
    for (cache, balance) in map.caches.iter().zip(&map.total.balances) {
        line(out, cache, balance);
    }
    doubts(out, map);
}

fn line(out: &mut String, cache: &MappedCache, balance: &Balance) {
    let _ = writeln!(
        out,
        "  {:<27} {:>8} {:>8} {:>4} {:>8} {:>9} {:>8}",
        cache.name,
        size(cache.size),
        cache.colors.get(),
        cache.ways,
        balance.frames,
        balance.imbalance,
        expected(balance.imbalance_if_random),
    );
    histogram(out, balance);
}

/// The histogram, if there is one, and its ends.
fn histogram(out: &mut String, balance: &Balance) {
    if balance.frames == 0 {
        return;
    }
    let each = balance.histogram.len().div_ceil(BARS);
    if balance.histogram.len() > 1 {
        let _ = writeln!(out, "    {}", bars(&balance.histogram, each).trim_end());
    }
    let of = if each > 1 { format!(", {each} colors a bar") } else { String::new() };
    let (fewest, most) = (balance.fewest, balance.most);
    let share = percent(balance.share());
    let text = format!("{fewest} to {most} pages of a color{of}; imbalance {share}");
    put(out, "    ", &text);
}

/// A bar per color, or per `each` neighboring colors.
fn bars(histogram: &[u64], each: usize) -> String {
    let bars: Vec<u64> = histogram.chunks(each).map(|chunk| chunk.iter().sum()).collect();
    let most = bars.iter().copied().max().unwrap_or(0);
    bars.iter().map(|&bar| glyph(bar, most)).collect()
}

/// Eighths of a line; a color without pages is empty, one with few is not.
fn glyph(bar: u64, most: u64) -> char {
    const GLYPHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    GLYPHS[(bar * 8).div_ceil(most.max(1)) as usize]
}

/// Each reason why these figures are not those of the cache.
fn doubts(out: &mut String, map: &ProcessMap) {
    for trust in [Trust::Hashed, Trust::VirtualMachine] {
        let caches = map.caches.iter().filter(|cache| cache.trust == trust);
        let names: Vec<&str> = caches.map(|cache| cache.name.as_str()).collect();
        if let (Some(why), false) = (doubt(map, trust), names.is_empty()) {
            let text =
                format!("{}: {why}; these are not the colors of the cache", names.join(", "));
            put(out, "  Beware   ", &text);
        }
    }
}

/// Memory whose colors the program itself has registered.
pub fn registered(out: &mut String, map: &ProcessMap) {
    if map.registered.is_empty() {
        return;
    }
    out.push_str("\nColors of its own memory, as the program reports them\n");
    for range in &map.registered {
        let bytes = in_bytes(map, range.pages);
        let method = match range.method {
            huepage::color::Method::FrameNumber => "by frame number".to_owned(),
            huepage::color::Method::Measurement => "measured".to_owned(),
            other => other.to_string(),
        };
        let colors = counted(u64::from(range.colors.get()), "color");
        let mut text =
            format!("{bytes}, {colors}, {method}, {} of {} pages", range.known, range.pages);
        if let Some(balance) = &range.balance {
            let random = expected(balance.imbalance_if_random);
            text += &format!("; imbalance {}, random {random}", balance.imbalance);
        }
        put(out, "  ", &format!("{}: {text}", range.label));
        if let Some(balance) = &range.balance {
            histogram(out, balance);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_empty_only_for_nothing_and_full_only_for_the_most() {
        let bars: String = [0, 1, 500, 999, 1000].iter().map(|&bar| glyph(bar, 1000)).collect();
        assert_eq!(bars, " ▁▄██");
        assert_eq!(glyph(0, 0), ' ');
    }
}
