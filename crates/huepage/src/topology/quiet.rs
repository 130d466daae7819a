// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where caches end in quiet moments, and whether that fits a declared size.

use super::{CacheEnd, Measured, Point, knee::ends};
use crate::units::Bytes;

/// The part of a curve that was measured in quiet moments.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct QuietEnds {
    /// Samples taken at any moment, of all working sets together.
    pub samples: u32,
    /// The share of them beside which a neighbor was seen.
    pub neighbor_share: f64,
    /// Whether every working set had enough quiet samples. If not, there may be an end
    /// that was not seen.
    pub complete: bool,
    /// Where the L1 data cache ends; `None` where no end is seen.
    pub l1: Option<CacheEnd>,
    /// Where the L2 ends; `None` where no end is seen.
    pub l2: Option<CacheEnd>,
}

/// Whether a declared size agrees with timing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeVerdict {
    /// The measured size is the declared one.
    Fits,
    /// It is the declared one in quiet moments; now others use part of the cache.
    FitsWhenQuiet,
    /// It differs from the declared one, in quiet moments too.
    Differs,
    /// It differs now; whether others use part of the cache is not known.
    DiffersNow,
    /// It differs now, and too few moments were quiet to find out why.
    CannotTell,
}

/// If a neighbor was seen in a larger share of samples, samples that look quiet may not
/// be: the neighbor may have run between two looks. A cache that looks smaller than
/// declared is then no proof that it is smaller.
const MOSTLY: f64 = 0.5;
/// A curve that begins beyond this size may have missed the end of the L1.
const FIRST: Bytes = Bytes::kib(8);
/// If sizes are missing from one size to at most twice that, the end of a cache can
/// still be distinguished from that of the next one.
const GAP: u64 = 2;

impl QuietEnds {
    /// `None` if it is not known which samples were quiet.
    pub(super) fn of(points: &[Point]) -> Option<Self> {
        let witnessed = || points.iter().filter_map(|point| point.witnessed);
        // A record read from a file may be made up.
        let samples = witnessed().map(|of| of.samples).fold(0, u32::saturating_add);
        let beside = witnessed().map(|of| of.with_neighbor).fold(0, u32::saturating_add);
        if samples == 0 {
            return None;
        }
        let quiet = quiet(points);
        let mut ends = ends(&quiet).into_iter();
        Some(QuietEnds {
            samples,
            neighbor_share: f64::from(beside) / f64::from(samples),
            complete: quiet.len() == points.len(),
            l1: ends.next(),
            l2: ends.next(),
        })
    }
}

/// The points with enough quiet samples, as far as they are near each other.
fn quiet(points: &[Point]) -> Vec<Point> {
    let all = points
        .iter()
        .filter_map(|point| Some(Point::new(point.bytes, point.witnessed?.quiet_nanoseconds?)));
    let mut quiet: Vec<Point> = Vec::new();
    for point in all {
        let before = quiet.last().map_or(FIRST.0 / GAP, |point| point.bytes.0);
        if point.bytes.0 > before * GAP {
            break;
        }
        quiet.push(point);
    }
    quiet
}

impl Measured {
    /// Whether a declared size of an L1 data cache (`level` 1) or an L2 agrees with
    /// timing; `None` if no end was seen.
    pub fn verdict(&self, level: u8, declared: Bytes) -> Option<SizeVerdict> {
        let ends = |l1, l2| if level == 1 { l1 } else { l2 };
        let now: Option<CacheEnd> = ends(self.l1, self.l2);
        let fits_now = now.is_some_and(|end| end.fits(declared));
        let Some(quiet) = self.quiet else {
            let verdict = if fits_now { SizeVerdict::Fits } else { SizeVerdict::DiffersNow };
            return now.map(|_| verdict);
        };
        match ends(quiet.l1, quiet.l2) {
            // Others can make a cache look smaller, but not larger.
            Some(end) if end.at_least > declared => Some(SizeVerdict::Differs),
            Some(end) if end.fits(declared) && (fits_now || now.is_none()) => {
                Some(SizeVerdict::Fits)
            }
            Some(end) if end.fits(declared) => Some(SizeVerdict::FitsWhenQuiet),
            _ if fits_now => Some(SizeVerdict::Fits),
            Some(_) if quiet.neighbor_share <= MOSTLY => Some(SizeVerdict::Differs),
            None if quiet.complete => None,
            _ => now.map(|_| SizeVerdict::CannotTell),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Witnessed, *};
    use crate::topology::{Curve, curve::sizes};

    /// A curve with an L1 of 48 KiB and an L2 that ends where given, now and in
    /// quiet moments; quiet samples for sizes that `told` picks.
    fn measured(now: Bytes, quiet: Bytes, told: impl Fn(Bytes) -> bool) -> Measured {
        let time = |size: Bytes, end: Bytes| match size {
            size if size <= Bytes::kib(48) => 1.0,
            size if size <= end => 4.0,
            size => 40.0 - 30.0 * end.0 as f64 / size.0 as f64,
        };
        let points = sizes(Bytes::mib(8)).into_iter().map(|size| Point {
            bytes: size,
            nanoseconds: time(size, now),
            witnessed: Some(Witnessed {
                samples: 4,
                with_neighbor: if now == quiet { 1 } else { 3 },
                quiet: if told(size) { 3 } else { 1 },
                quiet_nanoseconds: told(size).then(|| time(size, quiet)),
            }),
        });
        Measured::from(Curve { cpu: 0, rounds: 4, points: points.collect() })
    }

    const MIB: Bytes = Bytes::mib(1);

    #[test]
    fn a_record_that_is_made_up_does_not_overflow() {
        let witnessed = Witnessed {
            samples: u32::MAX,
            with_neighbor: u32::MAX,
            quiet: 3,
            quiet_nanoseconds: Some(1.0),
        };
        let point = |bytes| Point { bytes, nanoseconds: 1.0, witnessed: Some(witnessed) };
        let points: Vec<Point> = [8, 16].map(|kib| point(Bytes::kib(kib))).into();
        assert_eq!(QuietEnds::of(&points).unwrap().neighbor_share, 1.0);
    }

    #[test]
    fn a_neighbor_that_takes_half_is_no_difference() {
        let found = measured(MIB, Bytes::mib(2), |_| true);
        let quiet = found.quiet.unwrap();
        assert!(found.l2.unwrap().fits(MIB) && quiet.l2.unwrap().fits(Bytes::mib(2)), "{found:?}");
        assert_eq!((quiet.samples, quiet.neighbor_share, quiet.complete), (45 * 4, 0.75, true));
        assert_eq!(found.verdict(2, Bytes::mib(2)), Some(SizeVerdict::FitsWhenQuiet));
        assert_eq!(found.verdict(1, Bytes::kib(48)), Some(SizeVerdict::Fits));
    }

    #[test]
    fn what_is_declared_wrong_differs_in_quiet_moments_too() {
        let found = measured(MIB, MIB, |_| true);
        assert_eq!(found.verdict(2, Bytes::mib(2)), Some(SizeVerdict::Differs));
        assert_eq!(found.verdict(2, MIB), Some(SizeVerdict::Fits));
        assert_eq!(found.verdict(1, Bytes::kib(32)), Some(SizeVerdict::Differs));
        // A larger cache, of which others happen to leave the declared size.
        let found = measured(MIB, Bytes::mib(2), |_| true);
        assert_eq!(found.verdict(2, MIB), Some(SizeVerdict::Differs));
    }

    #[test]
    fn a_cache_that_looks_small_beside_a_neighbor_who_hardly_rests_is_no_proof() {
        let found = measured(Bytes::kib(512), MIB, |_| true);
        assert_eq!(found.quiet.unwrap().neighbor_share, 0.75);
        assert_eq!(found.verdict(2, Bytes::mib(2)), Some(SizeVerdict::CannotTell));
        // Moments counted as quiet were not, as the other samples show.
        let found = measured(Bytes::mib(2), MIB, |_| true);
        assert_eq!(found.verdict(2, Bytes::mib(2)), Some(SizeVerdict::Fits));
    }

    #[test]
    fn too_few_quiet_moments_are_no_verdict() {
        for told in [|_| false, |size| size < Bytes::kib(512), |size| size > Bytes::kib(16)] {
            let found = measured(MIB, Bytes::mib(2), told);
            assert_eq!(found.quiet.unwrap().l2, None, "{found:?}");
            assert_eq!(found.verdict(2, Bytes::mib(2)), Some(SizeVerdict::CannotTell));
            // A neighbor can only make the cache look smaller.
            assert_eq!(found.verdict(2, MIB), Some(SizeVerdict::Fits));
        }
    }

    #[test]
    fn a_few_sizes_without_quiet_moments_make_the_range_wider_only() {
        let gap = |size: Bytes| !(Bytes::kib(1536)..Bytes::kib(2560)).contains(&size);
        let found = measured(MIB, Bytes::mib(2), gap);
        let end = found.quiet.unwrap().l2.unwrap();
        assert!(end.at_least <= Bytes::kib(1280) && end.at_most >= Bytes::kib(2560), "{end:?}");
        assert_eq!(found.verdict(2, Bytes::mib(2)), Some(SizeVerdict::FitsWhenQuiet));
    }

    #[test]
    fn without_a_witness_a_difference_is_one_of_this_moment() {
        let mut found = measured(MIB, MIB, |_| true);
        found.curve.points.iter_mut().for_each(|point| point.witnessed = None);
        let found = Measured::from(found.curve);
        assert_eq!(found.quiet, None);
        assert_eq!(found.verdict(2, Bytes::mib(2)), Some(SizeVerdict::DiffersNow));
        assert_eq!(found.verdict(2, MIB), Some(SizeVerdict::Fits));
    }
}
