// SPDX-License-Identifier: MIT OR Apache-2.0
//! One discovery run from nothing to a set per color.

use super::{
    assign::assign,
    calibrate::{Gauge, calibrate},
    discover::{Discovery, discover},
    lines::{Masks, SCAN_WIDTH, find_masks},
    prober::{Chain, LINES_PER_PAGE, PageId, Pattern, Prober, Warm},
    shape::Shape,
    tester::Tester,
};
use crate::color::Color;

/// What all runs on one machine share: which lines can meet, and which lines
/// each run may read.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    pub masks: Masks,
    /// Lines for the first run, for the second, and for comparing them: no line
    /// is in two groups, where the page has lines enough.
    pub first: Vec<u8>,
    pub second: Vec<u8>,
    pub held_out: Vec<u8>,
}

/// Lines that a run or a comparison reads at most: more only cost calibration.
pub(super) const BASES: usize = 6;

impl Lines {
    /// Finds the masks, and deals out lines at random.
    pub fn find(
        prober: &mut impl Prober,
        pages: &[PageId],
        shape: Shape,
        rng: &mut fastrand::Rng,
    ) -> Self {
        let masks = scan_twice(prober, pages, shape, rng);
        let mut bases = masks.representatives();
        rng.shuffle(&mut bases);
        let part = (bases.len() / 3).clamp(1, BASES);
        let group = |n: usize| -> Vec<u8> {
            // Where every line can meet every other there is but one base.
            bases.iter().copied().cycle().skip(n * part).take(part).collect()
        };
        Lines { first: group(0), second: group(1), held_out: group(2), masks }
    }
}

/// Scans for masks until two scans find the same: one disturbed scan would spoil
/// everything that builds on the masks.
fn scan_twice(
    prober: &mut impl Prober,
    pages: &[PageId],
    shape: Shape,
    rng: &mut fastrand::Rng,
) -> Masks {
    let mut seen = vec![scan(prober, pages, shape, rng)];
    for _ in 1..SCANS {
        let masks = scan(prober, pages, shape, rng);
        if seen.contains(&masks) {
            return masks;
        }
        seen.push(masks);
    }
    // No two scans agree: later checks of this attempt will find wrong masks. The
    // largest group reads more lines than needed, but does not mix colors.
    seen.into_iter().max_by_key(Masks::len).expect("scanned at least once")
}

/// Scans at most.
const SCANS: usize = 5;

fn scan(
    prober: &mut impl Prober,
    pages: &[PageId],
    shape: Shape,
    rng: &mut fastrand::Rng,
) -> Masks {
    let mut gauge = Gauge::new(pages, shape);
    // The masks are not known yet, so all lines are read to empty the cache, of no more
    // pages than that takes.
    gauge.flush.truncate(2 * shape.full());
    let mut lines: Vec<u8> = (0..LINES_PER_PAGE).collect();
    rng.shuffle(&mut lines);
    let target = Chain::new(&lines[..SCAN_WIDTH]);
    let pattern =
        Pattern { target, warm: Warm::new(lines[SCAN_WIDTH..].iter().copied()), set: lines };
    let threshold = calibrate(prober, &pattern, &gauge);
    let rest: Vec<PageId> =
        pages.iter().copied().filter(|page| !gauge.targets.contains(page)).collect();
    find_masks(prober, &threshold, &gauge, &rest, shape.full(), rng)
}

/// Sets of pages, one per color, with what is needed to use them.
#[derive(Debug)]
pub(super) struct DiscoveryRun<P> {
    pub tester: Tester<P>,
    pub found: Discovery,
    pub shape: Shape,
}

impl<P: Prober> DiscoveryRun<P> {
    /// Discovers with `pages`, reading lines of `bases`.
    pub fn discover(
        prober: P,
        pages: &[PageId],
        shape: Shape,
        masks: &Masks,
        bases: &[u8],
        mut rng: fastrand::Rng,
    ) -> Self {
        let mut order = pages.to_vec();
        rng.shuffle(&mut order);
        order.truncate(shape.pages());
        let gauge = Gauge::new(&order, shape);
        let mut tester = Tester::new(prober, gauge, masks, bases, rng.fork());
        rng.shuffle(&mut order);
        let found = discover(&mut tester, &order, shape);
        DiscoveryRun { tester, found, shape }
    }

    /// Number of colors found.
    pub fn colors(&self) -> usize {
        self.found.sets.len()
    }

    /// The color of each page.
    pub fn assign(&mut self, pages: &[PageId]) -> Vec<Option<Color>> {
        assign(&mut self.tester, pages, &self.found.sets, self.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::simulated::{CacheModel, Replacement, Simulated},
        *,
    };
    use crate::color::agreement::agreement;

    struct Outcome {
        masks: usize,
        colors: usize,
        unassigned: usize,
        /// Share of assigned pages whose class is that of their true color.
        right: f64,
    }

    fn run(machine: CacheModel, known: bool, seed: u64) -> Outcome {
        let colors = machine.colors();
        let shape = Shape { colors: known.then_some(colors), ways: machine.ways as u32 };
        let count = shape.pages() + 500;
        let mut prober = Simulated::new(machine, count, seed);
        let mut rng = fastrand::Rng::with_seed(seed ^ 0xABCD);
        let mut pages: Vec<PageId> = (0..count as u32).map(PageId).collect();
        rng.shuffle(&mut pages);
        let lines = Lines::find(&mut prober, &pages, shape, &mut rng);
        let truth: Vec<_> = pages.iter().map(|&p| Some(Color(prober.color(p)))).collect();
        let mut run =
            DiscoveryRun::discover(prober, &pages, shape, &lines.masks, &lines.first, rng);
        let assigned = run.assign(&pages);
        Outcome {
            masks: lines.masks.len(),
            colors: run.colors(),
            unassigned: assigned.iter().filter(|c| c.is_none()).count(),
            right: agreement(&assigned, &truth).among_both,
        }
    }

    fn expect_all(machine: CacheModel, masks: usize, seed: u64) {
        let colors = machine.colors() as usize;
        let label = format!("{machine:?}");
        let out = run(machine, true, seed);
        assert_eq!((out.masks, out.colors), (masks, colors), "{label}");
        assert!(out.right >= 0.999, "{} right: {label}", out.right);
        assert!(out.unassigned <= 10, "{} unassigned: {label}", out.unassigned);
    }

    #[test]
    fn every_geometry_of_the_field_is_colored() {
        for (kib, ways) in [(256, 4), (256, 8), (1280, 20), (2560, 16), (2048, 16), (2048, 8)] {
            expect_all(CacheModel::new(kib << 10, ways), 1, 11);
        }
    }

    #[test]
    fn every_replacement_policy_can_be_colored() {
        for replacement in [Replacement::TreePlru, Replacement::Random, Replacement::Qlru] {
            expect_all(CacheModel { replacement, ..CacheModel::new(512 << 10, 8) }, 1, 12);
        }
        let replacement = Replacement::Qlru;
        expect_all(CacheModel { replacement, ..CacheModel::new(2 << 20, 16) }, 1, 13);
    }

    #[test]
    fn mixed_index_bits_are_found_and_the_page_colors_with_them() {
        expect_all(CacheModel { mixed_lines: 0b11_0000, ..CacheModel::new(1 << 20, 16) }, 4, 14);
        expect_all(CacheModel { mixed_lines: 0b00_0001, ..CacheModel::new(512 << 10, 8) }, 2, 15);
    }

    #[test]
    fn a_coarse_counter_is_made_up_for_by_longer_chains() {
        let latency = (5, 18, 31);
        let machine = CacheModel { step: 26, latency, ..CacheModel::new(1 << 20, 16) };
        expect_all(machine, 1, 16);
    }

    #[test]
    fn a_neighbor_that_empties_the_cache_does_no_harm() {
        expect_all(CacheModel { intrusions: 50, ..CacheModel::new(1 << 20, 16) }, 1, 17);
    }

    /// Latencies as seen on a 16-way 2 MiB L2: 70 ticks for a chain that hits,
    /// 124 to 176 for one that misses, of which 50 are the time stamp itself.
    #[test]
    fn a_large_noisy_cache_that_is_no_lru_is_colored() {
        let machine = CacheModel {
            replacement: Replacement::Qlru,
            latency: (10, 20, 90),
            jitter: 14.0,
            interrupts: 500,
            intrusions: 500,
            ..CacheModel::new(2 << 20, 16)
        };
        expect_all(machine, 1, 21);
    }

    /// A prefetched neighbor looks like a line that can meet the other: more lines are
    /// read than needed, and the colors are right.
    #[test]
    fn prefetched_neighbors_do_no_harm() {
        expect_all(CacheModel { pair_prefetch: true, ..CacheModel::new(1 << 20, 16) }, 2, 22);
        let replacement = Replacement::Qlru;
        let machine =
            CacheModel { pair_prefetch: true, replacement, ..CacheModel::new(2 << 20, 16) };
        expect_all(machine, 2, 23);
    }

    #[test]
    fn colors_are_counted_where_no_geometry_is_declared() {
        let out = run(CacheModel::new(1280 << 10, 20), false, 18);
        assert_eq!((out.colors, out.right), (16, 1.0));
    }

    #[test]
    fn noise_alone_gives_no_colors() {
        let machine =
            CacheModel { latency: (20, 20, 20), jitter: 30.0, ..CacheModel::new(1 << 20, 16) };
        assert_eq!(run(machine, true, 19).colors, 0);
    }

    #[test]
    fn the_same_seed_gives_the_same_discovery() {
        let once = |seed| {
            let out = run(CacheModel::new(256 << 10, 8), true, seed);
            (out.colors, out.unassigned, out.right)
        };
        assert_eq!(once(20), once(20));
    }
}
