// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which workloads run over which sizes.

use huepage::{topology::CacheGeometry, units::Bytes};

use super::{
    Placement,
    workload::Workload,
    workloads::{Chase, Fft, Matmul, Read, Repeat},
};

/// Workloads that share one allocation.
pub struct Job {
    /// How much memory is placed for them.
    pub bytes: Bytes,
    /// Run one after another over the same memory.
    pub workloads: Vec<Box<dyn Workload>>,
}

/// One of the benchmarks a user can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// Latency and bandwidth from 1/8 to 12/8 of the cache.
    WorkingSet,
    /// 1000 × 1000 doubles.
    Matmul,
    /// 64k and 1M complex doubles, and as many as fit the cache.
    Fft,
    /// The same program again and again.
    Repeat,
}

/// Working sets go up to this many eighths of the cache.
const EIGHTHS: u64 = 12;

impl Suite {
    /// Its jobs on a machine with this cache.
    pub fn jobs(self, cache: CacheGeometry) -> Vec<Job> {
        let line = cache.line() as usize;
        match self {
            Suite::WorkingSet => (1..=EIGHTHS)
                .map(|eighths| Job {
                    bytes: eighths_of(cache, eighths),
                    workloads: vec![Box::new(Chase { line }), Box::new(Read)],
                })
                .collect(),
            Suite::Matmul => {
                let matmul = Matmul::new(1000, cache.size());
                vec![Job { bytes: matmul.footprint(), workloads: vec![Box::new(matmul)] }]
            }
            Suite::Fft => Fft::fitting(cache.size())
                .filter(|fft| fft.name() != Fft::points_64k().name())
                .into_iter()
                .chain([Fft::points_64k(), Fft::points_1m()])
                .map(|fft| Job { bytes: fft.footprint(), workloads: vec![Box::new(fft)] })
                .collect(),
            Suite::Repeat => {
                vec![Job {
                    bytes: eighths_of(cache, 7),
                    workloads: vec![Box::new(Repeat { line })],
                }]
            }
        }
    }

    /// How many fresh allocations there are unless the user says otherwise.
    pub fn samples(self) -> u32 {
        if self == Suite::Repeat { 30 } else { 15 }
    }

    /// The placements compared unless the user says otherwise, of those offered.
    pub fn placements(self, offered: &[Placement]) -> Vec<Placement> {
        let wanted = |placement: &Placement| match self {
            // The promise to users is about their programs as they are.
            Suite::Repeat => matches!(placement, Placement::Default | Placement::Balanced),
            // The kernel's own choice is a baseline only where no pool is there
            // to draw random pages from.
            _ => *placement != Placement::Default || !offered.contains(&Placement::Random),
        };
        offered.iter().copied().filter(wanted).collect()
    }
}

/// So many eighths of the cache, in whole pages' worth of lines.
fn eighths_of(cache: CacheGeometry, eighths: u64) -> Bytes {
    Bytes((cache.size().0 * eighths / 8).next_multiple_of(4096))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> CacheGeometry {
        CacheGeometry::from_size(2, Bytes::mib(2), 16, 64).unwrap()
    }

    #[test]
    fn working_sets_go_from_an_eighth_to_one_and_a_half() {
        let sizes: Vec<Bytes> = Suite::WorkingSet.jobs(cache()).iter().map(|j| j.bytes).collect();
        assert_eq!(sizes.len(), 12);
        assert_eq!(
            (sizes[0], sizes[7], sizes[11]),
            (Bytes::kib(256), Bytes::mib(2), Bytes::mib(3))
        );
    }

    #[test]
    fn every_suite_runs_every_workload_of_its_name() {
        let names = |suite: Suite| -> Vec<&'static str> {
            suite.jobs(cache()).iter().flat_map(|j| &j.workloads).map(|w| w.name()).collect()
        };
        assert_eq!(names(Suite::WorkingSet)[..2], ["chase", "read"]);
        assert_eq!(names(Suite::Matmul), ["matmul"]);
        assert_eq!(names(Suite::Fft), ["fft-64k", "fft-1m"]);
        assert_eq!(names(Suite::Repeat), ["repeat"]);
        let small = CacheGeometry::from_size(2, Bytes::mib(1), 16, 64).unwrap();
        let ffts = Suite::Fft.jobs(small);
        assert_eq!(ffts[0].workloads[0].name(), "fft-32k");
        assert!(ffts[0].bytes <= small.size());
    }

    #[test]
    fn the_baseline_is_random_pages_of_the_pool_where_there_is_one() {
        use Placement::*;
        assert_eq!(Suite::WorkingSet.placements(&[Default, Thp]), [Default, Thp]);
        assert_eq!(Suite::Matmul.placements(&[Default, Random, Thp]), [Random, Thp]);
        assert_eq!(Suite::Repeat.placements(&Placement::ALL), [Default, Balanced]);
    }
}
