// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report of a run, as it is written to JSON (schema `huepage.bench/2`).

use std::fmt;

use huepage::{topology::CacheGeometry, units::Bytes};
use huepage_present::number::percent;
use serde::Serialize;

use super::{
    Placement, bootstrap::Estimate, host::Host, moment::Moment, samples::Ceiling, workload::Unit,
};

/// The version of the format.
pub const SCHEMA: &str = "huepage.bench/2";

/// All results of the analysis, with what a reader needs to judge it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchReport {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// `measured`: the figures come from a clock.
    pub kind: &'static str,
    /// The command line that made it.
    pub command: String,
    /// Where it ran.
    pub machine: Host,
    /// The cache that the working sets refer to.
    pub cache: CacheGeometry,
    /// The share of the machine's cache that it is, such as `1/4`; null for all.
    pub cache_share: Option<String>,
    /// Where the pages came from and how their colors were found.
    pub memory: String,
    /// Allocations of each placement.
    pub allocations: usize,
    /// Times that each was visited.
    pub visits: usize,
    /// Share of the slices that were taken in quiet moments.
    pub quiet_share: f64,
    /// Shares of slices by the kind of disturbance.
    pub moments: Moments,
    /// The speed of arithmetic alone, for workloads that have some.
    pub ceilings: Vec<Ceiling>,
    /// One row per workload, size and placement.
    pub rows: Vec<Row>,
    /// Whether balanced placement is better.
    pub verdict: Verdict,
}

/// Disturbances around the slices, whatever their figures are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Moments {
    /// How many slices were timed.
    pub slices: usize,
    /// Share of them without any of the following.
    pub quiet: f64,
    /// Share in which others used the cache; null if it cannot be measured.
    pub cache_shared: Option<f64>,
    /// Share in which the CPU was taken away for a while.
    pub lost_cpu: f64,
    /// Share in which arithmetic was slower than in quick moments.
    pub slowed: f64,
}

impl Moments {
    /// Of all slices, whose arithmetic takes `quick` nanoseconds in quick moments.
    pub fn of<'a>(moments: impl Iterator<Item = &'a Moment> + Clone, quick: f64) -> Self {
        let slices = moments.clone().count();
        let share = |is: &dyn Fn(&Moment) -> bool| {
            moments.clone().filter(|moment| is(moment)).count() as f64 / slices.max(1) as f64
        };
        let looked = moments.clone().any(|moment| moment.cache_quiet.is_some());
        Moments {
            slices,
            quiet: share(&|moment| moment.is_quiet(quick)),
            cache_shared: looked.then(|| share(&Moment::cache_shared)),
            lost_cpu: share(&Moment::lost_cpu),
            slowed: share(&|moment| !moment.full_speed(quick)),
        }
    }
}

impl fmt::Display for Moments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in quiet moments; others ", percent(self.quiet))?;
        if let Some(share) = self.cache_shared {
            write!(f, "used the cache in {}, ", percent(share))?;
        }
        let (lost_cpu, slowed) = (percent(self.lost_cpu), percent(self.slowed));
        write!(f, "took the CPU in {lost_cpu}, slowed it in {slowed}")?;
        match self.cache_shared {
            Some(_) => Ok(()),
            None => f.write_str("; whether they used the cache cannot be told"),
        }
    }
}

/// One workload over one size in allocations of one placement.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Name of the workload.
    pub bench: String,
    /// Memory that it ran over.
    pub bytes: Bytes,
    /// How it was placed.
    pub placement: Placement,
    /// Unit of the figures.
    pub unit: Unit,
    /// Allocations that had enough quiet moments.
    pub allocations: usize,
    /// Quiet slices of each of them that figures are taken from.
    pub slices: usize,
    /// Share of all slices of this row that are quiet.
    pub quiet_share: f64,
    /// Allocations left out because their pages moved; null if that is not known.
    pub moved: Option<usize>,
    /// Pages that the cache cannot hold together although it has room, as a share: the
    /// median of the allocations. Null if colors are not known.
    pub imbalance: Option<f64>,
    /// Speed in quiet moments: the median of the allocations. Null where too few
    /// had quiet moments.
    pub quiet: Option<Quiet>,
    /// How much quiet costs vary between allocations, which is due to placement.
    pub between: Option<Spread>,
    /// How much the costs of all slices of an allocation vary, in the median of the
    /// allocations, which is due to other programs.
    pub over_time: Option<Spread>,
    /// The speed that a user got, in quiet moments or not. Null if all allocations
    /// moved.
    pub whole: Option<Whole>,
    /// How many times as fast as random pages, in quiet moments. Null for random pages
    /// themselves, and if one side had too few quiet moments.
    pub ratio: Option<Estimate>,
    /// The same against the kernel's own base pages.
    pub ratio_to_default: Option<Estimate>,
    /// The same against those after free memory was stirred.
    pub ratio_to_stirred: Option<Estimate>,
    /// The same against the kernel's huge pages.
    pub ratio_to_thp: Option<Estimate>,
    /// Every allocation whose pages did not move.
    pub each: Vec<Dot>,
}

/// Speed in quiet moments.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quiet {
    /// Of the allocations.
    pub median: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// p95 / p5 - 1 of costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The figure.
    pub spread: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// All slices together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Whole {
    /// Half of the slices were better.
    pub median: f64,
    /// All but one in twenty were better.
    pub p95: f64,
}

/// One allocation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Dot {
    /// Its speed in quiet moments; null where it had too few.
    pub quiet: Option<f64>,
    /// One slice in twenty was better.
    pub p5: f64,
    /// One in twenty was worse.
    pub p95: f64,
}

impl BenchReport {
    /// Names of the workloads, in the order they ran.
    pub fn benches(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !names.contains(&row.bench.as_str()) {
                names.push(&row.bench);
            }
        }
        names
    }

    /// Sizes of a workload, ascending.
    pub fn sizes(&self, bench: &str) -> Vec<Bytes> {
        let mut sizes: Vec<Bytes> = self.rows_of(bench).map(|row| row.bytes).collect();
        sizes.sort();
        sizes.dedup();
        sizes
    }

    /// Placements compared, in the order of tables.
    pub fn placements(&self) -> Vec<Placement> {
        let has = |placement: &Placement| self.rows.iter().any(|row| row.placement == *placement);
        Placement::ALL.into_iter().filter(has).collect()
    }

    /// Rows of one workload.
    pub fn rows_of<'a>(&'a self, bench: &str) -> impl Iterator<Item = &'a Row> {
        self.rows.iter().filter(move |row| row.bench == bench)
    }

    /// The row of one workload, size and placement.
    pub fn row(&self, bench: &str, bytes: Bytes, placement: Placement) -> Option<&Row> {
        self.rows_of(bench).find(|row| row.bytes == bytes && row.placement == placement)
    }
}

impl Row {
    /// The ratio to another placement, where there is one.
    pub fn ratio_to(&self, other: Placement) -> Option<Estimate> {
        match other {
            Placement::Random => self.ratio,
            Placement::Default => self.ratio_to_default,
            Placement::Stirred => self.ratio_to_stirred,
            Placement::Thp => self.ratio_to_thp,
            _ => None,
        }
    }
}

/// Whether placement is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictKind {
    /// The interval of the ratio is above 1.
    Better,
    /// It is below 1, or ends there.
    NotBetter,
    /// It contains 1, or there were too few quiet moments.
    CannotTell,
}

/// Whether placement is better, and the reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// The answer.
    pub kind: VerdictKind,
    /// As a sentence or a few.
    pub text: String,
}

#[cfg(test)]
pub mod sample {
    //! A made-up report for tests of what is derived from one.

    use super::*;
    use crate::bench::{
        analysis,
        samples::{Allocation, Group, Samples, Slice},
        verdict::verdict,
    };

    /// Costs follow simple rules so that tests can state them: 10 for each eighth
    /// of a 1 MiB cache, 5 if balanced, 40 in a quarter of the colors; the same
    /// in all allocations but for a tenth of a percent, and in all slices but
    /// each fourth, which a neighbor makes twice as slow and the canary sees.
    pub fn working_set() -> BenchReport {
        let slowness = |placement| match placement {
            Placement::Balanced => 5.0,
            Placement::Quarter => 40.0,
            _ => 10.0,
        };
        let mut groups = Vec::new();
        for (bench, unit, scale) in
            [("chase", Unit::NsPerAccess, 1.0), ("read", Unit::GbPerSecond, 1000.0)]
        {
            for eighths in 1..=12u64 {
                for placement in Placement::ALL {
                    let cost = eighths as f64 * slowness(placement) / scale;
                    let bytes = Bytes::kib(128 * eighths);
                    groups.push(group(bench, bytes, placement, unit, |_| cost));
                }
            }
        }
        report(groups)
    }

    /// Default from 10 to 39 ms, balanced always 10.
    pub fn repeat() -> BenchReport {
        let make = |placement, step: f64| {
            let cost = move |allocation: usize| 10.0 + step * (allocation * 7 % 30) as f64;
            group("repeat", Bytes::kib(896), placement, Unit::Milliseconds, cost)
        };
        report(vec![make(Placement::Default, 1.0), make(Placement::Balanced, 0.0)])
    }

    const ALLOCATIONS: usize = 30;
    const BLOCKS: usize = 8;

    fn group(
        bench: &'static str,
        bytes: Bytes,
        placement: Placement,
        unit: Unit,
        cost: impl Fn(usize) -> f64,
    ) -> Group {
        let allocation = |number: usize| {
            let slice = |block: usize| {
                let shared = block % 4 == 3;
                let cost = cost(number) * (1.0 + (number % 5) as f64 * 2e-4);
                let cost = if shared { 2.0 * cost } else { cost };
                let moment = Moment { cache_quiet: Some(!shared), ..Moment::default() };
                Slice { block, start: block as f64, figure: unit.cost(cost), moment }
            };
            Allocation {
                slices: (0..BLOCKS).map(slice).collect(),
                imbalance: Some(0.01),
                moved: Some(false),
            }
        };
        let allocations = (0..ALLOCATIONS).map(allocation).collect();
        Group { bench, bytes, placement, unit, allocations }
    }

    fn report(groups: Vec<Group>) -> BenchReport {
        let cache = CacheGeometry::from_size(2, Bytes::mib(1), 16, 64).unwrap();
        let samples = Samples { groups, blocks: BLOCKS, ..Samples::default() };
        let rows = analysis::rows(&samples, 1);
        let moments = analysis::moments(&samples);
        BenchReport {
            schema: SCHEMA,
            kind: "measured",
            command: "huepage bench".to_owned(),
            machine: Host { model: "A & B <CPU>".to_owned(), cpu: 1, kernel: "6.12".to_owned() },
            cache,
            cache_share: None,
            memory: "made up".to_owned(),
            allocations: ALLOCATIONS,
            visits: BLOCKS,
            quiet_share: moments.quiet,
            verdict: verdict(&rows, cache, &moments),
            moments,
            ceilings: Vec::new(),
            rows,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_the_documented_shape() {
        let json = serde_json::to_value(sample::repeat()).unwrap();
        assert_eq!(json["schema"], "huepage.bench/2");
        assert_eq!(json["kind"], "measured");
        assert_eq!(json["cache"]["size"], 1 << 20);
        assert_eq!(json["quiet_share"], 0.75);
        assert_eq!(json["verdict"]["kind"], "better");
        let row = &json["rows"][1];
        assert_eq!((&row["bench"], &row["placement"]), (&"repeat".into(), &"balanced".into()));
        assert_eq!((&row["bytes"], &row["unit"]), (&(896 << 10).into(), &"ms".into()));
        for (field, part) in [
            ("quiet", "median"),
            ("between", "spread"),
            ("over_time", "spread"),
            ("whole", "p95"),
            ("ratio_to_default", "value"),
        ] {
            assert!(row[field][part].is_f64(), "{field}.{part}: {row}");
        }
        assert!(row["ratio"].is_null(), "no random pages were compared");
    }
}
