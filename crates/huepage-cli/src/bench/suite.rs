// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which workloads run over which sizes, in which placements.

use huepage::{topology::CacheGeometry, units::Bytes};

use super::{
    Placement,
    workload::Workload,
    workloads::{Fft, Matmul, PointerChase, Read, Repeat},
};

/// Workloads over the first bytes of every allocation of some placements.
pub struct Job {
    /// How much memory they need.
    pub bytes: Bytes,
    /// Run one after another over the same memory.
    pub workloads: Vec<Box<dyn Workload>>,
    /// Placements of this job, of those compared.
    pub placements: Vec<Placement>,
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

/// Sizes about which claims are made, in eighths: there the controls run, too.
pub const CLAIMED_EIGHTHS: [u64; 4] = [4, 6, 7, 8];

impl Suite {
    /// Its jobs on a machine with this cache, over memory placed by `placements`.
    pub fn jobs(self, cache: CacheGeometry, placements: &[Placement]) -> Vec<Job> {
        let line = cache.line() as usize;
        let job = |bytes, workloads| Job { bytes, workloads, placements: placements.to_vec() };
        match self {
            Suite::WorkingSet => (1..=EIGHTHS)
                .map(|eighths| {
                    let bytes = eighths_of(cache, eighths);
                    let claimed = CLAIMED_EIGHTHS.contains(&eighths);
                    let runs = |p: &Placement| claimed || !p.is_control();
                    Job {
                        bytes,
                        workloads: vec![
                            Box::new(PointerChase::new(bytes, line)),
                            Box::new(Read { bytes }),
                        ],
                        placements: placements.iter().copied().filter(runs).collect(),
                    }
                })
                .collect(),
            Suite::Matmul => {
                let matmul = Matmul::new(1000, cache.size());
                vec![job(matmul.footprint(), vec![Box::new(matmul)])]
            }
            Suite::Fft => Fft::fitting(cache.size())
                .filter(|fft| fft.name() != Fft::points_64k().name())
                .into_iter()
                .chain([Fft::points_64k(), Fft::points_1m()])
                .map(|fft| job(fft.footprint(), vec![Box::new(fft)]))
                .collect(),
            Suite::Repeat => {
                let bytes = eighths_of(cache, 7);
                vec![job(bytes, vec![Box::new(Repeat::new(bytes, line))])]
            }
        }
    }

    /// The default number of allocations of each placement that live side by side:
    /// fewer if each takes tens of MiB.
    pub fn allocations(self) -> u32 {
        match self {
            Suite::WorkingSet | Suite::Repeat => 15,
            Suite::Matmul | Suite::Fft => 8,
        }
    }

    /// The placements compared by default, of those offered.
    pub fn placements(self, offered: &[Placement]) -> Vec<Placement> {
        let wanted = |placement: &Placement| match self {
            Suite::WorkingSet => true,
            _ => !placement.is_control(),
        };
        offered.iter().copied().filter(wanted).collect()
    }
}

/// `eighths` eighths of the cache, rounded to whole pages' worth of lines.
pub fn eighths_of(cache: CacheGeometry, eighths: u64) -> Bytes {
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
        let jobs = Suite::WorkingSet.jobs(cache(), &Placement::ALL);
        let sizes: Vec<Bytes> = jobs.iter().map(|j| j.bytes).collect();
        assert_eq!(sizes.len(), 12);
        assert_eq!(
            (sizes[0], sizes[7], sizes[11]),
            (Bytes::kib(256), Bytes::mib(2), Bytes::mib(3))
        );
    }

    #[test]
    fn controls_run_where_claims_are_made() {
        let jobs = Suite::WorkingSet.jobs(cache(), &Placement::ALL);
        let with = |placement| -> Vec<u64> {
            let with = jobs.iter().zip(1..).filter(|(job, _)| job.placements.contains(&placement));
            with.map(|(_, eighths)| eighths).collect()
        };
        assert_eq!(with(Placement::ShuffledLabels), CLAIMED_EIGHTHS);
        assert_eq!(with(Placement::Balanced), (1..=12).collect::<Vec<_>>());
    }

    #[test]
    fn every_suite_runs_every_workload_of_its_name() {
        let names = |suite: Suite| -> Vec<&'static str> {
            let jobs = suite.jobs(cache(), &Placement::ALL);
            jobs.iter().flat_map(|j| &j.workloads).map(|w| w.name()).collect()
        };
        assert_eq!(names(Suite::WorkingSet)[..2], ["chase", "read"]);
        assert_eq!(names(Suite::Matmul), ["matmul"]);
        assert_eq!(names(Suite::Fft), ["fft-64k", "fft-1m"]);
        assert_eq!(names(Suite::Repeat), ["repeat"]);
        let small = CacheGeometry::from_size(2, Bytes::mib(1), 16, 64).unwrap();
        let ffts = Suite::Fft.jobs(small, &[]);
        assert_eq!(ffts[0].workloads[0].name(), "fft-32k");
        assert!(ffts[0].bytes <= small.size());
    }

    #[test]
    fn what_a_user_gets_is_compared_in_every_suite() {
        use Placement::*;
        assert_eq!(Suite::WorkingSet.placements(&[Default, Thp]), [Default, Thp]);
        assert_eq!(
            Suite::Repeat.placements(&Placement::ALL),
            [Default, Stirred, Thp, Random, Balanced]
        );
    }
}
