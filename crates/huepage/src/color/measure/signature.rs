// SPDX-License-Identifier: MIT OR Apache-2.0
//! Colors told apart by how pages answer to random crowds.
//!
//! A *crowd* is a random set of pages about as large as the cache has room for. By
//! chance it holds more pages of some colors than the cache has ways, fewer of others.
//! Reading a crowd evicts exactly the pages of the first kind: all pages of one color
//! answer alike, and the answers to 128 crowds are a signature that pages of one color
//! share and others do not. All colors are found at once, a single wrong answer does no
//! harm, and one reading of the crowd tests a whole batch of pages.

use super::{
    prober::{PageId, Prober},
    shape::Shape,
    tester::Tester,
};

/// Answers of one page to all crowds, a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Signature(pub u128);

/// Crowds asked.
const CROWDS: u32 = u128::BITS;

impl Signature {
    /// In how many answers two signatures differ.
    pub fn distance(self, other: Signature) -> u32 {
        (self.0 ^ other.0).count_ones()
    }

    /// The answers most of `signatures` give.
    pub fn majority(signatures: impl IntoIterator<Item = Signature> + Clone) -> Signature {
        let total = signatures.clone().into_iter().count();
        let bit_set = |bit: u32| {
            2 * signatures.clone().into_iter().filter(|s| s.0 >> bit & 1 == 1).count() > total
        };
        Signature((0..CROWDS).filter(|&bit| bit_set(bit)).fold(0, |bits, bit| bits | 1 << bit))
    }
}

/// How large a crowd is and how often it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Crowd {
    /// Pages, so many that about half of all pages are evicted.
    pub pages: usize,
    /// Passes, so many that the same question gets the same answer.
    pub passes: u32,
}

/// Share of repeated questions that may be answered differently.
const FICKLE: f64 = 0.1;
/// Lines of a crowd to read for one question at most: about a tenth of a
/// millisecond. More passes only where the index is not mixed too thoroughly.
const MOST_READS: usize = 1 << 16;
/// Shares of evicted pages at which a crowd separates colors well.
const USEFUL: std::ops::RangeInclusive<f64> = 0.43..=0.6;
/// Crowds that a share is averaged over: one alone may by chance evict few or many
/// colors.
const TRIALS: usize = 8;

/// Finds the size of crowd that evicts half of the targets, and the fewest
/// passes with which answers repeat. `None` if not even all of `pool` evicts
/// a quarter.
pub(super) fn tune<P: Prober>(
    tester: &mut Tester<P>,
    targets: &[PageId],
    pool: &[PageId],
    shape: Shape,
) -> Option<Crowd> {
    let mut trial = Trial { tester, targets, pool, batch: shape.batch_all() };
    let mut best: Option<(f64, Crowd)> = None;
    let mut pages = shape.full();
    for passes in [1, 2, 4, 8] {
        let reads = pages * trial.tester.lines_per_page() * passes as usize;
        if best.is_some() && reads > MOST_READS {
            break;
        }
        let Some(found) = trial.half_evicting(pages, passes) else { continue };
        pages = found;
        let crowd = Crowd { pages, passes };
        let fickle = trial.fickle_share(crowd);
        if best.is_none_or(|(least, _)| fickle < least) {
            best = Some((fickle, crowd));
        }
        if fickle <= FICKLE {
            break;
        }
    }
    best.map(|(_, crowd)| crowd)
}

/// Tries crowds drawn from `pool` on `targets`.
struct Trial<'a, P> {
    tester: &'a mut Tester<P>,
    targets: &'a [PageId],
    pool: &'a [PageId],
    batch: usize,
}

impl<P: Prober> Trial<'_, P> {
    fn half_evicting(&mut self, guess: usize, passes: u32) -> Option<usize> {
        // Bisection in factors: the answer lies within a few times the guess.
        let (mut low, mut high) = (8, self.pool.len());
        let mut pages = guess.clamp(low, high);
        for _ in 0..24 {
            let share = self.evicted_share(Crowd { pages, passes });
            if USEFUL.contains(&share) {
                return Some(pages);
            }
            if share < 0.5 {
                low = pages
            } else {
                high = pages
            }
            let next = if share < 0.5 && high == self.pool.len() {
                (2 * pages).min(high)
            } else {
                ((low as f64 * high as f64).sqrt()) as usize
            };
            if next == pages {
                return (share >= 0.25).then_some(pages);
            }
            pages = next;
        }
        Some(pages)
    }

    fn evicted_share(&mut self, crowd: Crowd) -> f64 {
        self.mean(
            |tester, part, set, batch| {
                let votes = tester.votes(part, batch, set, crowd.passes);
                votes.iter().filter(|v| **v == Some(true)).count()
            },
            crowd,
        )
    }

    fn fickle_share(&mut self, crowd: Crowd) -> f64 {
        self.mean(
            |tester, part, set, batch| {
                let first = tester.votes(part, batch, set, crowd.passes);
                let second = tester.votes(part, batch, set, crowd.passes);
                first.iter().zip(&second).filter(|(a, b)| a != b).count()
            },
            crowd,
        )
    }

    /// Share of the targets that `count` counts, each part of them tested with a crowd
    /// of its own.
    fn mean(
        &mut self,
        count: impl Fn(&mut Tester<P>, &[PageId], &[PageId], usize) -> usize,
        crowd: Crowd,
    ) -> f64 {
        let mut counted = 0;
        for part in self.targets.chunks(self.targets.len().div_ceil(TRIALS)) {
            let set = draw(self.tester, self.pool, crowd.pages);
            counted += count(self.tester, part, &set, self.batch);
        }
        counted as f64 / self.targets.len() as f64
    }
}

fn draw<P: Prober>(tester: &mut Tester<P>, pool: &[PageId], pages: usize) -> Vec<PageId> {
    tester.rng.choose_multiple(pool.iter().copied(), pages)
}

/// Asks every target about [`CROWDS`] crowds drawn from `pool`, which must not
/// hold targets: a page that is read with the crowd is never evicted by it.
/// `batch` targets are timed at once.
pub(super) fn collect<P: Prober>(
    tester: &mut Tester<P>,
    targets: &[PageId],
    pool: &[PageId],
    crowd: Crowd,
    batch: usize,
) -> Vec<Signature> {
    let mut signatures = vec![Signature(0); targets.len()];
    for bit in 0..CROWDS {
        if bit % 16 == 15 {
            tester.recalibrate();
        }
        let set = draw(tester, pool, crowd.pages);
        let votes = tester.votes(targets, batch, &set, crowd.passes);
        for (signature, vote) in signatures.iter_mut().zip(votes) {
            signature.0 |= u128::from(vote == Some(true)) << bit;
        }
    }
    signatures
}

/// Groups pages of like signatures; each group lists indexes into `signatures`.
/// Groups smaller than `least` are left out, as are pages that fit no group.
pub(super) fn cluster(signatures: &[Signature], least: usize) -> Vec<Vec<usize>> {
    let within = |center: Signature, among: &[usize]| -> Vec<usize> {
        let distance = |i: usize| center.distance(signatures[i]);
        let mut sorted: Vec<u32> = among.iter().map(|&i| distance(i)).collect();
        sorted.sort_unstable();
        let radius = radius(&sorted, least);
        among.iter().copied().filter(|&i| distance(i) <= radius).collect()
    };
    let mut left: Vec<usize> = (0..signatures.len()).collect();
    let mut groups = Vec::new();
    while let Some(&seed) = left.first() {
        let mut group = within(signatures[seed], &left);
        for _ in 0..3 {
            let center = Signature::majority(group.iter().map(|&i| signatures[i]));
            group = within(center, &left);
        }
        if group.len() >= least {
            left.retain(|i| !group.contains(i));
            groups.push(group);
        }
        // The seed has no neighbors, or the center moved away from it: in both cases it
        // is done.
        left.retain(|&i| i != seed);
    }
    groups
}

/// Where a group ends, given the distances of all pages from its center,
/// ascending: at the widest gap.
///
/// Pages of unlike color differ as coins do, in 64 ± 6 answers of 128, less if
/// one of the colors nearly always says yes; pages of like color differ from
/// their majority only where answers are fickle, in up to 30.
fn radius(sorted: &[u32], least: usize) -> u32 {
    let gaps = sorted.windows(2).skip(least.saturating_sub(1));
    let near = gaps.take_while(|pair| pair[0] < CROWDS * 3 / 8);
    let widest = near.max_by_key(|pair| (pair[1] - pair[0], std::cmp::Reverse(pair[0])));
    match widest {
        Some(pair) => pair[0].min(CROWDS / 4),
        None => CROWDS / 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noisy_signatures_fall_into_their_groups() {
        let mut rng = fastrand::Rng::with_seed(7);
        let centers: Vec<u128> = (0..40).map(|_| rng.u128(..)).collect();
        let signatures: Vec<Signature> = (0..40 * 30)
            .map(|i| {
                // Each answer wrong with probability 1/8.
                let noise = rng.u128(..) & rng.u128(..) & rng.u128(..);
                Signature(centers[i % 40] ^ noise)
            })
            .collect();
        let groups = cluster(&signatures, 10);
        assert_eq!(groups.len(), 40);
        for group in &groups {
            assert!(group.iter().all(|i| i % 40 == group[0] % 40));
            assert!(group.len() >= 27, "{}", group.len());
        }
    }

    #[test]
    fn strangers_form_no_group() {
        let mut rng = fastrand::Rng::with_seed(8);
        let signatures: Vec<Signature> = (0..500).map(|_| Signature(rng.u128(..))).collect();
        assert_eq!(cluster(&signatures, 10), Vec::<Vec<usize>>::new());
    }

    #[test]
    fn the_majority_is_what_most_answer() {
        let answers = [0b110, 0b100, 0b101].map(Signature);
        assert_eq!(Signature::majority(answers), Signature(0b100));
    }
}
