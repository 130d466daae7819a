// SPDX-License-Identifier: MIT OR Apache-2.0
//! How unevenly the pages of a working set spread over the colors of the cache.

use huepage::{
    color::Color, map::Balance, mapping::page_size, topology::CacheGeometry, units::Bytes,
};

/// The share of the pages in the first `bytes` that the cache cannot hold together
/// although it has room for them (as in `huepage map`), among pages of known color.
pub fn imbalance(colors: &[Option<Color>], bytes: Bytes, cache: CacheGeometry) -> f64 {
    let pages = bytes.pages(page_size()).min(colors.len());
    let mut counts = vec![0u64; cache.colors(page_size()).get() as usize];
    for color in colors[..pages].iter().flatten() {
        if let Some(count) = counts.get_mut(color.index()) {
            *count += 1;
        }
    }
    let balance = Balance::of(counts, cache.ways());
    balance.imbalance as f64 / balance.frames.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_too_many_for_one_color_are_counted_where_another_has_room() {
        // Four colors, two ways.
        let cache = CacheGeometry::from_size(2, Bytes::kib(32), 2, 64).unwrap();
        let share = |colors: &[u32]| {
            let colors: Vec<_> = colors.iter().map(|&c| Some(Color(c))).collect();
            imbalance(&colors, Bytes::kib(4 * colors.len() as u64), cache)
        };
        assert_eq!(share(&[0, 1, 2, 3, 0, 1, 2, 3]), 0.0);
        assert_eq!(share(&[0, 0, 0, 0]), 0.5);
        assert_eq!(share(&[0, 0, 0, 1, 1, 2, 2, 3]), 0.125);
        // Twelve pages for eight places: four too many in any placement.
        assert_eq!(share(&[0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]), 0.0);
    }

    #[test]
    fn only_the_first_bytes_count_and_unknown_colors_do_not() {
        let cache = CacheGeometry::from_size(2, Bytes::kib(32), 2, 64).unwrap();
        let colors = [Some(Color(0)), Some(Color(0)), None, Some(Color(0)), Some(Color(0))];
        assert_eq!(imbalance(&colors, Bytes::kib(12), cache), 0.0);
        assert_eq!(imbalance(&colors, Bytes::kib(16), cache), 1.0 / 3.0);
    }
}
