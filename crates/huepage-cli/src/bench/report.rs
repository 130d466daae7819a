// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report of a run, as it is written to JSON (schema `huepage.bench/1`).

use huepage::{topology::CacheGeometry, units::Bytes};
use serde::{Deserialize, Serialize};

use super::{
    Placement,
    machine::Machine,
    stats::{self, Summary},
    workload::Unit,
};

/// Everything measured, with what a reader needs to judge it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The version of this format.
    pub schema: Schema,
    /// Whether the figures come from a clock or from a model.
    pub kind: Kind,
    /// The command line that made it.
    pub command: String,
    /// Where it ran.
    pub machine: Machine,
    /// The cache that the working sets refer to.
    pub cache: CacheGeometry,
    /// Where the pages came from and how their colors were told.
    pub memory: String,
    /// Fresh allocations asked for per placement.
    pub samples_wanted: u32,
    /// One row per workload, size and placement.
    pub rows: Vec<Row>,
}

/// Readers refuse what they do not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Schema {
    /// The only version so far.
    #[serde(rename = "huepage.bench/1")]
    V1,
}

/// Modelled is never called measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// By a clock, on the machine named.
    Measured,
    /// By a model of a memory hierarchy.
    Modelled,
}

/// The samples of one workload over one size by one placement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the workload.
    pub bench: String,
    /// Memory placed for it.
    pub bytes: Bytes,
    /// How it was placed.
    pub placement: Placement,
    /// Unit of the samples.
    pub unit: Unit,
    /// One figure per fresh allocation. Those at the same index, in rows of the
    /// same bench and size, were taken in the same round, next to each other.
    pub samples: Vec<f64>,
}

impl Row {
    /// Median, spread and mean of the samples.
    pub fn summary(&self) -> Summary {
        Summary::of(&self.samples)
    }
}

impl Report {
    /// The placement that others are compared with: random pages of the pool,
    /// or else the kernel's own choice.
    pub fn baseline(&self) -> Option<Placement> {
        let has = |placement| self.rows.iter().any(|row| row.placement == placement);
        [Placement::Random, Placement::Default].into_iter().find(|&placement| has(placement))
    }

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

    /// How many times as fast as the baseline a row is: the median over pairs
    /// from the same round. `None` for the baseline itself.
    pub fn speedup(&self, row: &Row) -> Option<f64> {
        let baseline = self.baseline().filter(|&baseline| baseline != row.placement)?;
        let other = self.row(&row.bench, row.bytes, baseline)?;
        stats::paired(&row.samples, &other.samples, |s, b| row.unit.speedup(s, b))
    }

    /// How many samples every row has.
    pub fn samples_taken(&self) -> usize {
        self.rows.iter().map(|row| row.samples.len()).min().unwrap_or(0)
    }
}

#[cfg(test)]
pub mod sample {
    //! A made-up report for tests of what is derived from one.

    use super::*;

    /// A 1 MiB cache; figures follow simple rules so that tests can state them:
    /// sample `i` of `chase` is `eighths × slowness + i`, with slowness 10 for
    /// random, 5 for balanced and 40 for quarter; `read` is its inverse.
    pub fn working_set() -> Report {
        let cache = CacheGeometry::from_size(2, Bytes::mib(1), 16, 64).unwrap();
        let slowness = |placement| match placement {
            Placement::Balanced => 5.0,
            Placement::Quarter => 40.0,
            _ => 10.0,
        };
        let mut rows = Vec::new();
        for (bench, unit) in [("chase", Unit::NsPerAccess), ("read", Unit::GbPerSecond)] {
            for eighths in 1..=12 {
                for placement in Placement::ALL {
                    let times =
                        (0..5).map(|i| f64::from(eighths) * slowness(placement) + f64::from(i));
                    let samples = match unit {
                        Unit::NsPerAccess => times.collect(),
                        _ => times.map(|t| 1000.0 / t).collect(),
                    };
                    let bytes = Bytes::kib(128 * u64::from(eighths as u32));
                    rows.push(Row { bench: bench.to_owned(), bytes, placement, unit, samples });
                }
            }
        }
        report(cache, rows)
    }

    /// 30 runs: default from 10 to 39 ms, balanced from 10 to 12.9 ms.
    pub fn repeat() -> Report {
        let cache = CacheGeometry::from_size(2, Bytes::mib(1), 16, 64).unwrap();
        let row = |placement, step: f64| Row {
            bench: "repeat".to_owned(),
            bytes: Bytes::kib(896),
            placement,
            unit: Unit::Milliseconds,
            samples: (0..30).map(|i| 10.0 + step * f64::from(i * 7 % 30)).collect(),
        };
        report(cache, vec![row(Placement::Default, 1.0), row(Placement::Balanced, 0.1)])
    }

    fn report(cache: CacheGeometry, rows: Vec<Row>) -> Report {
        Report {
            schema: Schema::V1,
            kind: Kind::Measured,
            command: "huepage bench".to_owned(),
            machine: Machine { model: "A & B <CPU>".to_owned(), cpu: 1, kernel: "6.12".to_owned() },
            cache,
            memory: "made up".to_owned(),
            samples_wanted: rows[0].samples.len() as u32,
            rows,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_reads_back_as_it_was_written() {
        let report = sample::working_set();
        let json = serde_json::to_string(&report).unwrap();
        // The bodies are too long to print both.
        assert!(serde_json::from_str::<Report>(&json).unwrap() == report);
    }

    #[test]
    fn json_has_the_documented_shape() {
        let json = serde_json::to_value(sample::repeat()).unwrap();
        assert_eq!(json["schema"], "huepage.bench/1");
        assert_eq!(json["kind"], "measured");
        assert_eq!(json["cache"]["size"], 1 << 20);
        let row = &json["rows"][1];
        assert_eq!((&row["bench"], &row["placement"]), (&"repeat".into(), &"balanced".into()));
        assert_eq!((&row["bytes"], &row["unit"]), (&(896 << 10).into(), &"ms".into()));
        assert_eq!(row["samples"].as_array().unwrap().len(), 30);
    }

    #[test]
    fn another_schema_is_refused() {
        let mut json = serde_json::to_value(sample::repeat()).unwrap();
        json["schema"] = "huepage.bench/2".into();
        let error = serde_json::from_value::<Report>(json).unwrap_err();
        assert!(error.to_string().contains("huepage.bench/2"), "{error}");
    }

    #[test]
    fn speedup_is_relative_to_random_in_either_direction_of_better() {
        let report = sample::working_set();
        let speedup =
            |bench, placement| report.speedup(report.row(bench, Bytes::mib(1), placement).unwrap());
        // Pairs (80 + i) / (40 + i) for i in 0..5; the middle one is i = 2.
        assert_eq!(speedup("chase", Placement::Balanced), Some(82.0 / 42.0));
        let read = speedup("read", Placement::Balanced).unwrap();
        assert!((read - 82.0 / 42.0).abs() < 1e-12);
        assert_eq!(speedup("chase", Placement::ShuffledLabels), Some(1.0));
        assert_eq!(speedup("chase", Placement::Random), None);
    }

    #[test]
    fn without_random_the_baseline_is_the_kernel() {
        assert_eq!(sample::working_set().baseline(), Some(Placement::Random));
        assert_eq!(sample::repeat().baseline(), Some(Placement::Default));
    }
}
