// SPDX-License-Identifier: MIT OR Apache-2.0
//! How far two colorings of the same pages agree, whatever numbers they give to the
//! colors.

use std::collections::HashMap;

use super::Color;

/// Two colorings compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Agreement {
    /// Share of all pages to which both give the same color.
    pub among_all: f64,
    /// The same share among pages to which both give a color.
    pub among_both: f64,
}

/// How many pages have each pair of colors, of those to which both give one.
fn common(a: &[Option<Color>], b: &[Option<Color>]) -> HashMap<(Color, Color), usize> {
    let mut common = HashMap::new();
    for pair in a.iter().zip(b).filter_map(|(x, y)| Some(((*x)?, (*y)?))) {
        *common.entry(pair).or_default() += 1;
    }
    common
}

/// Compares two colorings, matching their color names one to one: the pair of
/// classes with the most pages in common first.
pub(super) fn agreement(a: &[Option<Color>], b: &[Option<Color>]) -> Agreement {
    let common = common(a, b);
    let both: usize = common.values().sum();
    let mut pairs: Vec<_> = common.into_iter().collect();
    pairs.sort_by_key(|&(pair, count)| (std::cmp::Reverse(count), pair));
    let (mut used_a, mut used_b) = (Vec::new(), Vec::new());
    let mut same = 0;
    for ((x, y), count) in pairs {
        if !used_a.contains(&x) && !used_b.contains(&y) {
            used_a.push(x);
            used_b.push(y);
            same += count;
        }
    }
    let share = |of: usize| if of == 0 { 0.0 } else { same as f64 / of as f64 };
    Agreement { among_all: share(a.len()), among_both: share(both) }
}

/// Of all pairs of pages with one color in `a`, the share that also has one
/// color in `b`. Two unrelated colorings with `n` even colors give `1/n`.
pub fn pair_agreement(a: &[Option<Color>], b: &[Option<Color>]) -> f64 {
    let cells = common(a, b);
    let mut rows: HashMap<Color, usize> = HashMap::new();
    cells.iter().for_each(|((x, _), count)| *rows.entry(*x).or_default() += count);
    let pairs = |&count: &usize| count as u64 * (count as u64).saturating_sub(1) / 2;
    let all: u64 = rows.values().map(pairs).sum();
    let same: u64 = cells.values().map(pairs).sum();
    if all == 0 { 0.0 } else { same as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colors(names: &[i32]) -> Vec<Option<Color>> {
        names.iter().map(|&n| u32::try_from(n).ok().map(Color)).collect()
    }

    #[test]
    fn names_do_not_matter() {
        let found = agreement(&colors(&[0, 0, 1, 1, 2]), &colors(&[5, 5, 3, 3, 0]));
        assert_eq!(found, Agreement { among_all: 1.0, among_both: 1.0 });
    }

    #[test]
    fn a_merged_class_agrees_with_one_of_its_colors_only() {
        let found = agreement(&colors(&[0, 0, 0, 0]), &colors(&[1, 1, 1, 2]));
        assert_eq!(found.among_both, 0.75);
    }

    #[test]
    fn unassigned_pages_count_against_all_only() {
        let found = agreement(&colors(&[0, 0, -1, 1]), &colors(&[0, 0, 0, -1]));
        assert_eq!(found, Agreement { among_all: 0.5, among_both: 1.0 });
        assert_eq!(agreement(&[], &[]), Agreement { among_all: 0.0, among_both: 0.0 });
    }

    #[test]
    fn unrelated_colorings_agree_as_often_as_chance_does() {
        let mut rng = fastrand::Rng::with_seed(1);
        let mut draw = || (0..8000).map(|_| Some(Color(rng.u32(0..16)))).collect::<Vec<_>>();
        let (a, b) = (draw(), draw());
        assert!((pair_agreement(&a, &b) - 1.0 / 16.0).abs() < 0.005);
        assert_eq!(pair_agreement(&a, &a), 1.0);
    }
}
