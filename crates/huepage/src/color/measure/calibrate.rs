// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where a hit ends and a miss begins, in ticks, on this machine right now.

use super::{
    prober::{PageId, Pattern, Prober, Sample},
    shape::Shape,
};

/// A limit between hits and misses, and how well it tells them apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Threshold {
    /// Samples above are misses.
    pub ticks: u32,
    /// Median of chains that stayed in the cache.
    pub hit: u32,
    /// Median of chains that everything else was read after.
    pub miss: u32,
    /// Steps of the counter between the medians: with a coarse counter, one step
    /// may be chance.
    pub steps: u32,
    /// Share of calibration hits above the limit.
    pub false_positive: f64,
    /// Share of calibration misses above the limit.
    pub true_positive: f64,
}

impl Threshold {
    /// Whether a chain was evicted; `None` for a disturbed sample.
    pub fn is_miss(&self, sample: Sample) -> Option<bool> {
        sample.map(|ticks| ticks > self.ticks)
    }

    /// True positive rate less false positive rate: 1 is perfect, 0 is chance.
    pub fn contrast(&self) -> f64 {
        self.true_positive - self.false_positive
    }
}

/// If the contrast is lower than this, no answer is used.
pub(super) const LEAST_CONTRAST: f64 = 0.5;
/// Batches of targets per kind of sample. One batch may meet an interrupt or a
/// slow moment of the clock; four do not all.
const BATCHES: usize = 4;

/// Pages to calibrate with.
#[derive(Clone, Debug)]
pub(super) struct Gauge {
    /// Pages to time.
    pub targets: Vec<PageId>,
    /// How many to time at once.
    pub batch: usize,
    /// Enough pages to push a target out of L1, too few to fill a set of the
    /// cache looked at.
    pub few: Vec<PageId>,
    /// Pages that empty the cache.
    pub flush: Vec<PageId>,
}

impl Gauge {
    /// Takes pages from `pages`, given in random order.
    pub fn new(pages: &[PageId], shape: Shape) -> Self {
        let (full, batch) = (shape.full(), shape.batch_all());
        let (few, rest) = pages.split_at(few(full).min(pages.len() / 4));
        let (targets, rest) = rest.split_at((BATCHES * batch).min(rest.len() / 2));
        Gauge {
            targets: targets.to_vec(),
            batch,
            few: few.to_vec(),
            flush: rest[..(3 * full).min(rest.len())].to_vec(),
        }
    }

    /// Pages read in all: nearly all are those that empty the cache.
    pub fn reads(&self) -> usize {
        self.targets.len().div_ceil(self.batch.max(1)) * (self.few.len() + 2 * self.flush.len())
    }

    /// Takes pages of known color: `flush` has as many of each as the cache and
    /// more, one of each color after the other, and none of `targets`.
    #[cfg(feature = "serde")]
    pub fn known(targets: Vec<PageId>, flush: Vec<PageId>, shape: Shape) -> Self {
        let few = few(shape.full()).min(flush.len());
        Gauge { targets, batch: shape.batch_all(), few: flush[..few].to_vec(), flush }
    }
}

/// More pages than the ways of any L1, whose sets are as many as a page's lines.
fn few(full: usize) -> usize {
    (full / 5).clamp(13, 48)
}

/// Times the targets in small batches after a few pages (hits, though not in
/// L1) and after those that empty the cache (misses).
pub(super) fn calibrate(prober: &mut impl Prober, pattern: &Pattern, gauge: &Gauge) -> Threshold {
    let mut sample = |set: &[PageId], passes| {
        let (mut all, mut out) = (Vec::new(), Vec::new());
        for batch in gauge.targets.chunks(gauge.batch) {
            prober.probe(batch, set, pattern, passes, &mut out);
            all.extend(out.iter().flatten());
        }
        all.sort_unstable();
        all
    };
    let hits = sample(&gauge.few, 1);
    let misses = sample(&gauge.flush, 2);
    threshold(&hits, &misses)
}

/// The limit that gets the fewest samples wrong; of equally good ones the
/// middle. Both slices ascending.
fn threshold(hits: &[u32], misses: &[u32]) -> Threshold {
    let above = |samples: &[u32], limit: u32| {
        let at = samples.partition_point(|&ticks| ticks <= limit);
        (samples.len() - at) as f64 / samples.len().max(1) as f64
    };
    let median = |samples: &[u32]| samples.get(samples.len() / 2).copied().unwrap_or(0);
    let (hit, miss) = (median(hits), median(misses));
    let score = |limit: u32| above(misses, limit) - above(hits, limit);
    // A coarse counter leaves gaps without samples: the best limit is a plateau,
    // and its middle is the farthest from both sides.
    let mut best = (hit, hit, f64::MIN);
    for limit in hit..=miss.max(hit) {
        let now = score(limit);
        if now > best.2 {
            best = (limit, limit, now);
        } else if now == best.2 && best.1 + 1 == limit {
            best.1 = limit;
        }
    }
    let ticks = best.0 + (best.1 - best.0) / 2;
    let step = hits.iter().chain(misses).fold(0, |step, &ticks| gcd(step, ticks)).max(1);
    Threshold {
        ticks,
        steps: miss.saturating_sub(hit) / step,
        hit,
        miss,
        false_positive: above(hits, ticks),
        true_positive: above(misses, ticks),
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_lies_in_the_middle_of_the_gap() {
        let found = threshold(&[52, 52, 52, 78], &[104, 130, 130, 130]);
        assert_eq!((found.hit, found.miss, found.steps), (52, 130, 3));
        assert_eq!(found.ticks, 90);
        assert_eq!((found.false_positive, found.true_positive), (0.0, 1.0));
    }

    #[test]
    fn without_a_difference_there_is_no_contrast() {
        let same = [52, 52, 78, 78];
        assert_eq!(threshold(&same, &same).contrast(), 0.0);
        assert_eq!(threshold(&[], &[]).contrast(), 0.0);
    }

    #[test]
    fn outliers_do_not_move_the_limit() {
        let mut hits = vec![52; 97];
        hits.extend([900, 1000, 1100]);
        let found = threshold(&hits, &[130; 100]);
        assert!((52..130).contains(&found.ticks), "{found:?}");
        assert_eq!(found.true_positive, 1.0);
    }
}
