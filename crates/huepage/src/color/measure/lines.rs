// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which lines of two pages can meet in one cache set.
//!
//! In a plainly indexed cache, line 5 of a page meets only line 5 of other pages. Some
//! caches mix higher address bits into the low index bits: there, line 5 of one page
//! may meet line 21 of another, and a test that reads one line per page sees several
//! times as many "colors" as the cache has. The lines that can meet differ by a fixed
//! group of XOR masks (for the 16-way 1 MiB L2 of AMD family 26: 0, 16, 32, 48). If all
//! of these lines are read, the color of the page decides, not that of the line.

use super::{
    calibrate::{Gauge, Threshold},
    prober::{Chain, LINES_PER_PAGE, PageId, Pattern, Prober, Sample, Warm},
};

/// The XOR masks between lines that can share a set: a group under XOR,
/// ascending, with 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Masks(Vec<u8>);

impl Masks {
    /// The smallest group that holds all of `masks`.
    pub fn generated_by(masks: impl IntoIterator<Item = u8>) -> Self {
        let mut group = vec![0];
        for mask in masks {
            if !group.contains(&mask) {
                let shifted: Vec<u8> = group.iter().map(|m| m ^ mask).collect();
                group.extend(shifted);
            }
        }
        group.sort_unstable();
        Masks(group)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The masks, ascending.
    #[cfg(feature = "serde")]
    pub fn iter(&self) -> impl Iterator<Item = u8> {
        self.0.iter().copied()
    }

    /// All lines that can meet one of `bases`.
    pub fn lines_of<'a>(
        &'a self,
        bases: impl IntoIterator<Item = &'a u8>,
    ) -> impl Iterator<Item = u8> {
        bases.into_iter().flat_map(|base| self.0.iter().map(move |mask| base ^ mask))
    }

    /// One line of each group of lines that can meet, ascending.
    pub fn representatives(&self) -> Vec<u8> {
        let lowest = |line: &u8| self.0.iter().all(|mask| line ^ mask >= *line);
        (0..LINES_PER_PAGE).filter(lowest).collect()
    }

    /// The pattern that times `width` lines, at most eight, out of the groups
    /// of `bases`, in an order drawn by `rng` (a regular order would be
    /// prefetched), against all lines of those groups.
    pub fn pattern(&self, bases: &[u8], width: usize, rng: &mut fastrand::Rng) -> Pattern {
        let mut set: Vec<u8> = self.lines_of(bases).collect();
        rng.shuffle(&mut set);
        let target = Chain::new(&set[..width.clamp(1, Chain::MAX).min(set.len())]);
        Pattern { target, warm: far_from(&set, &[]), set }
    }
}

/// Finds the masks: for each, whether reading line `l ^ mask` of a great many
/// pages evicts line `l` of another.
/// `threshold` must be that of a chain of [`SCAN_WIDTH`] lines of the targets of
/// `gauge`; `pages` are the pages to read. Only the fewest that evict at all are read:
/// with more, prefetches evict lines that no test reads. `full_sets` is the number of
/// pages that fill every set of a plainly indexed cache.
/// `full_sets` is how many pages fill every set of a plainly indexed cache.
pub(super) fn find_masks(
    prober: &mut impl Prober,
    threshold: &Threshold,
    gauge: &Gauge,
    pages: &[PageId],
    full_sets: usize,
    rng: &mut fastrand::Rng,
) -> Masks {
    let mut scan = Scan { prober, threshold, gauge, rng, out: Vec::new() };
    let mut count = 2 * full_sets;
    while !scan.can_meet(0, &ALONE, 0.75, &pages[..count.min(pages.len())]) {
        if count >= pages.len() {
            // The same line of other pages never evicts, however many are read: index
            // bits are mixed so thoroughly that only whole pages can be tested.
            return Masks::generated_by(0..LINES_PER_PAGE);
        }
        count += count / 2;
    }
    let flush = &pages[..count.min(pages.len())];
    let mut least = Masks::generated_by(0..LINES_PER_PAGE);
    for _ in 0..SCANS {
        let found = scan.masks(flush);
        let masks = Masks::generated_by(found.iter().copied());
        // True masks form a group; a wrong one among them makes it grow.
        let complete = masks.len() == found.len() + 1;
        if complete || masks.len() < least.len() {
            least = masks;
        }
        if complete {
            break;
        }
    }
    least
}

/// Lines timed together while masks are looked for.
pub(super) const SCAN_WIDTH: usize = 4;
/// Draws of lines to test a mask, and how many may show no eviction: if the mask is the
/// distance of two drawn lines, or a prefetcher reads a neighbor, a draw shows an
/// eviction for a wrong reason, but not nearly always.
const DRAWS: usize = 12;
const MAY_SAY_NO: usize = 2;
/// Scans until the masks found form a group.
const SCANS: usize = 3;

struct Scan<'a, P> {
    prober: &'a mut P,
    threshold: &'a Threshold,
    gauge: &'a Gauge,
    rng: &'a mut fastrand::Rng,
    out: Vec<Sample>,
}

/// Stands for drawing each line by itself.
const ALONE: Masks = Masks(Vec::new());

impl<P: Prober> Scan<'_, P> {
    /// The masks, other than 0, at whose distance lines can meet.
    ///
    /// Four masks are tested at once: lines that differ by a group of four masks are
    /// timed, all of them moved by one further mask are read, and so each line timed is
    /// met at four distances. On most machines no line is evicted, and a quarter of the
    /// reads is enough.
    fn masks(&mut self, flush: &[PageId]) -> Vec<u8> {
        let a = self.rng.u8(1..LINES_PER_PAGE);
        // Any mask but 0 and a.
        let b = 1 + (a - 1 + self.rng.u8(1..LINES_PER_PAGE - 1)) % (LINES_PER_PAGE - 1);
        let four = Masks::generated_by([a, b]);
        let mut found = Vec::new();
        for first in four.representatives() {
            // Moved by one of its own masks, the group would read what it times.
            if first == 0 || self.can_meet(first, &four, 0.5, flush) {
                let masks = four.0.iter().map(|mask| mask ^ first).filter(|mask| *mask != 0);
                found.extend(masks.filter(|&mask| self.can_meet(mask, &ALONE, 0.5, flush)));
            }
        }
        found
    }

    /// Whether lines at distance `mask` can meet, or at a distance by one of
    /// `group` more: in nearly all draws, more than `share` of the targets are
    /// evicted.
    fn can_meet(&mut self, mask: u8, group: &Masks, share: f64, flush: &[PageId]) -> bool {
        let mut no = 0;
        for _ in 0..DRAWS {
            let lines = if group == &ALONE {
                self.rng.choose_multiple(0..LINES_PER_PAGE, SCAN_WIDTH)
            } else {
                let base = self.rng.u8(0..LINES_PER_PAGE);
                let mut lines: Vec<u8> = group.0.iter().map(|mask| base ^ mask).collect();
                self.rng.shuffle(&mut lines);
                lines
            };
            no += usize::from(self.evicted_share(mask, &lines, flush) <= share);
            if no > MAY_SAY_NO {
                return false;
            }
        }
        true
    }

    fn evicted_share(&mut self, mask: u8, lines: &[u8], flush: &[PageId]) -> f64 {
        let set: Vec<u8> = lines.iter().map(|l| l ^ mask).collect();
        let pattern = Pattern { target: Chain::new(lines), warm: far_from(lines, &set), set };
        let targets =
            self.rng.choose_multiple(self.gauge.targets.iter().copied(), self.gauge.batch);
        self.prober.probe(&targets, flush, &pattern, 1, &mut self.out);
        let seen = self.out.iter().filter_map(|&s| self.threshold.is_miss(s));
        let (misses, all) = seen.fold((0, 0), |(m, n), miss| (m + u32::from(miss), n + 1));
        f64::from(misses) / f64::from(all.max(1))
    }
}

/// The lines that are neither among `a` or `b` nor next to one of them, where a
/// neighbor would have them prefetched; else those that are at least not among
/// them.
fn far_from(a: &[u8], b: &[u8]) -> Warm {
    let used = || a.iter().chain(b);
    let distant = |l: &u8| used().all(|u| u.abs_diff(*l) > 1 && u ^ 1 != *l);
    let unused = |l: &u8| used().all(|u| u != l);
    let all = || 0..LINES_PER_PAGE;
    if all().any(|l| distant(&l)) {
        Warm::new(all().filter(distant))
    } else if all().any(|l| unused(&l)) {
        Warm::new(all().filter(unused))
    } else {
        // If every line is read, one line of the chain is read for warming, and its
        // time shows nothing.
        Warm::new([a[0]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_form_a_group() {
        assert_eq!(Masks::generated_by([]).0, [0]);
        assert_eq!(Masks::generated_by([16, 32]).0, [0, 16, 32, 48]);
        assert_eq!(Masks::generated_by([48, 16, 32]).0, [0, 16, 32, 48]);
        assert_eq!(Masks::generated_by(0..64).len(), 64);
    }

    #[test]
    fn representatives_and_masks_cover_every_line_once() {
        for masks in
            [Masks::generated_by([]), Masks::generated_by([16, 32]), Masks::generated_by([5, 9])]
        {
            let mut covered: Vec<u8> = masks
                .representatives()
                .iter()
                .flat_map(|r| masks.0.iter().map(move |m| r ^ m))
                .collect();
            covered.sort_unstable();
            assert_eq!(covered, (0..64).collect::<Vec<u8>>());
        }
    }

    #[test]
    fn a_pattern_warms_a_line_far_from_those_it_times() {
        let mut rng = fastrand::Rng::with_seed(1);
        for seed in 0..200 {
            rng.seed(seed);
            let masks = Masks::generated_by([16, 32]);
            let pattern = masks.pattern(&[rng.u8(0..16)], 4, &mut rng);
            assert_eq!((pattern.target.len(), pattern.set.len()), (4, 4));
            assert!(pattern.warm.iter().all(|w| pattern.set.iter().all(|l| l.abs_diff(w) > 1)));
        }
        let all = Masks::generated_by(0..64).pattern(&[0], 8, &mut rng);
        assert_eq!((all.target.len(), all.set.len()), (8, 64));
    }
}
