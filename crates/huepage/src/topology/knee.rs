// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where caches end: the rises of a latency curve.
//!
//! With random frames an L2 has no sharp end: some of its sets overflow while others
//! are half empty, and the latency climbs from about 0.7 of the size to twice the size.
//! So an end is a range, from where a tenth of the climb is done to where six tenths
//! are. The best estimate is where four tenths are done: there was the true size in
//! measurements of a 1 MiB 16-way L2 on AMD family 26.

use super::{Curve, QuietEnds, curve::Point};
use crate::units::Bytes;

/// The curve and what follows from it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Measured {
    /// The measurement.
    pub curve: Curve,
    /// Where the L1 data cache ends; `None` where no end is seen.
    pub l1: Option<CacheEnd>,
    /// Where the L2 ends; `None` where no end is seen.
    pub l2: Option<CacheEnd>,
    /// The same in quiet moments; `None` where these are not known.
    pub quiet: Option<QuietEnds>,
}

/// The measured end of a cache.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CacheEnd {
    /// Working sets up to this size fit.
    pub at_least: Bytes,
    /// Working sets from this size on do not.
    pub at_most: Bytes,
    /// The most likely size, between the two; not more exact than they are.
    pub estimate: Bytes,
    /// Latency before the climb.
    pub nanoseconds_inside: f64,
    /// Latency after the climb.
    pub nanoseconds_outside: f64,
}

impl CacheEnd {
    /// Whether a cache of `size` can end here.
    pub fn fits(&self, size: Bytes) -> bool {
        (self.at_least..=self.at_most).contains(&size)
    }
}

/// The window in which a climb is looked for, 1.5 powers of two: the longest climb of
/// an L2 with random frames.
const WINDOW: f64 = 2.828_427;
/// The least climb. The end of the first-level TLB adds at most a third within
/// a window; the next cache level doubles the latency at least.
const LEAST_CLIMB: f64 = 1.7;
/// A climb is over when windows climb this much less than its steepest one. The
/// next cache's climb may follow at once.
const OVER: f64 = 0.8;

impl From<Curve> for Measured {
    fn from(curve: Curve) -> Self {
        let mut ends = ends(&curve.points).into_iter();
        let (l1, l2) = (ends.next(), ends.next());
        let quiet = QuietEnds::of(&curve.points);
        Measured { curve, l1, l2, quiet }
    }
}

/// The ends of all caches in a curve, ascending.
pub(super) fn ends(points: &[Point]) -> Vec<CacheEnd> {
    let points = smoothed(points);
    // One per starting point, with how much the latency climbs in it. None if the curve
    // ends first, since the top of the climb was not measured.
    let windows: Vec<(usize, f64)> = (0..points.len())
        .map_while(|from| {
            let top = latency_at(&points, points[from].bytes.0 as f64 * WINDOW)?;
            Some((from, top / points[from].nanoseconds))
        })
        .collect();
    peaks(&windows)
        .into_iter()
        .map(|from| {
            let limit = points[from].bytes.0 as f64 * WINDOW;
            let to = points.partition_point(|point| (point.bytes.0 as f64) < limit);
            end(&points[from..=to.min(points.len() - 1)])
        })
        .collect()
}

/// Where the steepest window of each climb starts. The last climb counts only if its
/// end was measured.
fn peaks(windows: &[(usize, f64)]) -> Vec<usize> {
    let mut peaks = Vec::new();
    let mut trough = f64::INFINITY;
    let mut steepest: Option<(usize, f64)> = None;
    for &(from, climb) in windows {
        match steepest {
            Some((peak, most)) if climb < OVER * most => {
                peaks.push(peak);
                (steepest, trough) = (None, climb);
            }
            Some((_, most)) if climb <= most => {}
            None if climb < LEAST_CLIMB || climb * OVER < trough => trough = trough.min(climb),
            _ => steepest = Some((from, climb)),
        }
    }
    peaks
}

/// The latency of a working set between two that were measured; `None` beyond
/// the last.
fn latency_at(points: &[Point], bytes: f64) -> Option<f64> {
    let after = points.iter().position(|point| point.bytes.0 as f64 >= bytes)?;
    let [a, b] = [points[after.saturating_sub(1)], points[after]];
    let gap = (b.bytes.0 - a.bytes.0).max(1) as f64;
    let way = ((bytes - a.bytes.0 as f64) / gap).clamp(0.0, 1.0);
    Some(a.nanoseconds + way * (b.nanoseconds - a.nanoseconds))
}

/// The end of a cache by its climb: where the given parts of it are reached.
fn end(climb: &[Point]) -> CacheEnd {
    let inside = climb[0].nanoseconds;
    let outside = climb[climb.len() - 1].nanoseconds;
    let reaches = |share: f64| {
        let height = inside + share * (outside - inside);
        climb.iter().position(|p| p.nanoseconds >= height).unwrap_or(climb.len() - 1).max(1)
    };
    let between = |share: f64| {
        let height = inside + share * (outside - inside);
        let after = reaches(share);
        let [a, b] = [climb[after - 1], climb[after]];
        let way = ((height - a.nanoseconds) / (b.nanoseconds - a.nanoseconds)).clamp(0.0, 1.0);
        let bytes = a.bytes.0 as f64 + way * (b.bytes.0 - a.bytes.0) as f64;
        // To whole pages: sizes between the measured points are estimates in any case.
        Bytes((bytes / 4096.0).round() as u64 * 4096)
    };
    CacheEnd {
        at_least: climb[reaches(0.1) - 1].bytes,
        at_most: climb[reaches(0.6)].bytes,
        estimate: between(0.4),
        nanoseconds_inside: inside,
        nanoseconds_outside: outside,
    }
}

/// Removes what disturbances on the host add: a larger working set is never quicker, so
/// a point above any later one was disturbed. The median of three comes first, since
/// the last point has no later one to correct it.
fn smoothed(points: &[Point]) -> Vec<Point> {
    let middle = |i: usize| {
        let near = &points[i.saturating_sub(1)..(i + 2).min(points.len())];
        let mut times: Vec<f64> = near.iter().map(|point| point.nanoseconds).collect();
        times.sort_by(f64::total_cmp);
        if times.len() == 3 { times[1] } else { times[0] }
    };
    let mut smooth: Vec<Point> =
        (0..points.len()).map(|i| Point::new(points[i].bytes, middle(i))).collect();
    let mut least = f64::INFINITY;
    for point in smooth.iter_mut().rev() {
        least = least.min(point.nanoseconds);
        point.nanoseconds = least;
    }
    smooth
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::topology::curve::sizes;

    fn curve(points: Vec<Point>) -> Curve {
        Curve { cpu: 0, rounds: 1, points }
    }

    fn range(end: CacheEnd) -> (Bytes, Bytes) {
        (end.at_least, end.at_most)
    }

    /// A machine to draw curves from: latency per level in ns, L1 and L2 in KiB.
    struct Model {
        l1: f64,
        l2: f64,
        ways: u32,
        latency: [f64; 3],
    }

    impl Model {
        /// The L1 is sharp; the pages of a working set fall into the L2's colors
        /// at random, and a color with more pages than ways keeps `ways` of them.
        fn curve(&self, largest: Bytes, noise: f64, rng: &mut Rng) -> Curve {
            let [l1, l2, l3] = self.latency;
            let point = |bytes: Bytes| {
                let kib = bytes.0 as f64 / 1024.0;
                let time = if kib <= self.l1 {
                    l1
                } else {
                    let missed = self.missed(kib, rng);
                    l2 * (1.0 - missed) + l3 * missed
                };
                let jitter = 1.0 + noise * (rng.f64() - 0.5);
                Point::new(bytes, time * jitter)
            };
            curve(sizes(largest).into_iter().map(point).collect())
        }

        /// The share of lines that the L2 does not keep: with the replacement of
        /// the processors measured, an overfull set misses more than its excess.
        fn missed(&self, size_kib: f64, rng: &mut Rng) -> f64 {
            let colors = (self.l2 / 4.0 / f64::from(self.ways)).round() as usize;
            let pages = (size_kib / 4.0) as usize;
            let mut per_color = vec![0u32; colors];
            for _ in 0..pages {
                per_color[rng.usize(..colors)] += 1;
            }
            let missed: f64 = per_color
                .iter()
                .map(|&n| {
                    let excess = f64::from(n.saturating_sub(self.ways));
                    (excess * 2.5).min(f64::from(n))
                })
                .sum();
            missed / pages.max(1) as f64
        }
    }

    #[test]
    fn the_ends_of_many_shapes_of_cache_are_found() {
        let mut rng = Rng::with_seed(2);
        for (l1, l2, ways, latency) in [
            (32.0, 256.0, 8, [1.1, 3.5, 12.0]),
            (48.0, 1024.0, 16, [0.9, 3.2, 11.7]),
            (48.0, 1280.0, 20, [1.3, 4.0, 20.0]),
            (48.0, 2048.0, 16, [1.7, 5.0, 30.0]),
            (64.0, 1024.0, 8, [1.4, 3.8, 32.0]),
        ] {
            let model = Model { l1, l2, ways, latency };
            for round in 0..20 {
                let found = Measured::from(model.curve(Bytes::mib(8), 0.05, &mut rng));
                let at = format!("L2 of {l2} KiB, round {round}: {found:?}");
                let (found1, found2) = (found.l1.expect(&at), found.l2.expect(&at));
                assert!(found1.fits(Bytes((l1 * 1024.0) as u64)), "{at}");
                assert!(found2.fits(Bytes((l2 * 1024.0) as u64)), "{at}");
                let ratio = found2.estimate.0 as f64 / (l2 * 1024.0);
                assert!((0.7..1.4).contains(&ratio), "{at}");
            }
        }
    }

    #[test]
    fn a_slow_climb_of_the_tlb_is_no_end() {
        let points = (0..44)
            .map(|i| {
                let bytes = Bytes((4096.0 * 2f64.powf(f64::from(i) / 4.0)) as u64);
                let beyond = (1.0 - 393_216.0 / bytes.0 as f64).max(0.0);
                Point::new(bytes, 3.0 * (1.0 + 0.5 * beyond))
            })
            .collect();
        let found = Measured::from(curve(points));
        assert_eq!((found.l1, found.l2), (None, None));
    }

    #[test]
    fn one_disturbed_point_is_no_end() {
        let mut points: Vec<Point> = (0..20).map(|i| Point::new(Bytes::kib(4 + i), 1.0)).collect();
        points[9].nanoseconds = 50.0;
        let found = Measured::from(curve(points));
        assert_eq!(found.l1, None);
    }

    #[test]
    fn memory_right_behind_the_l2_is_another_climb() {
        let model = Model { l1: 48.0, l2: 1024.0, ways: 16, latency: [0.9, 3.2, 11.7] };
        let mut curve = model.curve(Bytes::mib(8), 0.0, &mut Rng::with_seed(5));
        let quiet = Measured::from(curve.clone()).l2.unwrap();
        // A guest whose neighbors leave it 3 MiB of the L3.
        for point in curve.points.iter_mut().filter(|point| point.bytes > Bytes::mib(3)) {
            point.nanoseconds *= point.bytes.0 as f64 / Bytes::mib(3).0 as f64 * 2.0;
        }
        let found = Measured::from(curve).l2.unwrap();
        assert_eq!(range(found), range(quiet));
    }

    /// A curve measured on a guest of AMD family 26 with an L2 of 1 MiB: the
    /// window from 448 KiB climbs by 1.69, those before and after it by more.
    #[test]
    fn a_climb_with_a_step_in_its_foot_is_one_climb() {
        let inside_l1 = [0.92; 15];
        let beyond = [
            3.22, 3.214, 3.212, 3.21, 3.21, 3.212, 3.209, 3.212, 3.209, 3.21, 3.209, 3.224, 3.439,
            3.625, 3.866, 4.298, 5.111, 5.807, 7.508, 8.567, 9.142, 9.631, 10.323, 10.788, 11.138,
            11.424,
        ];
        let latencies = inside_l1.into_iter().chain(beyond);
        let points = sizes(Bytes::mib(4)).into_iter().zip(latencies);
        let points = points.map(|(bytes, nanoseconds)| Point::new(bytes, nanoseconds)).collect();
        let found = Measured::from(curve(points));
        assert_eq!(found.l1.map(range), Some((Bytes::kib(48), Bytes::kib(56))));
        assert_eq!(found.l2.map(range), Some((Bytes::kib(768), Bytes::kib(1280))));
    }

    #[test]
    fn a_disturbed_stretch_changes_no_end() {
        let model = Model { l1: 48.0, l2: 1024.0, ways: 16, latency: [0.9, 3.2, 11.7] };
        let mut curve = model.curve(Bytes::mib(4), 0.0, &mut Rng::with_seed(4));
        let quiet = Measured::from(curve.clone());
        for point in &mut curve.points {
            if (Bytes::kib(160)..=Bytes::kib(448)).contains(&point.bytes) {
                point.nanoseconds *= 2.0;
            }
        }
        let disturbed = Measured::from(curve);
        assert!(quiet.l2.is_some());
        assert_eq!(disturbed.l1.map(range), quiet.l1.map(range));
        assert_eq!(disturbed.l2.map(range), quiet.l2.map(range));
    }

    #[test]
    fn a_climb_that_the_curve_cuts_off_is_not_guessed_at() {
        let model = Model { l1: 48.0, l2: 2048.0, ways: 16, latency: [1.0, 4.0, 20.0] };
        let found = Measured::from(model.curve(Bytes::mib(2), 0.0, &mut Rng::with_seed(3)));
        assert!(found.l1.is_some());
        assert_eq!(found.l2, None);
    }

    #[test]
    fn a_curve_without_points_has_no_ends() {
        let found = Measured::from(curve(Vec::new()));
        assert_eq!((found.l1, found.l2), (None, None));
    }
}
