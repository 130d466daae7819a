// SPDX-License-Identifier: MIT OR Apache-2.0
//! The results of an interval, or of a whole run, as data.

use std::time::Duration;

use huepage::{
    color::{ColorCount, ColorOracle, MeasuredOracle, Pressure},
    mapping::page_size,
    topology::CacheGeometry,
    units::Bytes,
};
use serde::Serialize;

use super::{
    bins::{Bin, Bins},
    clocks::Spent,
    tally::Tally,
};
use crate::{bench::Host, commands::cache_options::ResolvedCache};

/// What is watched.
#[derive(Clone, Debug, Serialize)]
pub struct Subject {
    pub model: Option<String>,
    pub kernel: String,
    pub cpu: u32,
    pub cache: Option<CacheGeometry>,
    pub page_size: Bytes,
    pub colors: u32,
}

impl Subject {
    /// The running machine; unknown facts are left out.
    pub fn new(cache: &ResolvedCache, oracle: &MeasuredOracle) -> Self {
        let Host { model, cpu, kernel } = Host::here(cache.cpu);
        Subject {
            model: Some(model).filter(|model| !model.is_empty()),
            kernel,
            cpu,
            cache: cache.geometry,
            page_size: page_size(),
            colors: oracle.count().get(),
        }
    }

    /// At least one.
    pub fn color_count(&self) -> ColorCount {
        ColorCount::new(self.colors).expect("colors were counted, so there are some")
    }

    /// `L2 of 2 MiB`, or without a size if none is declared.
    pub fn cache_name(&self) -> String {
        match &self.cache {
            Some(cache) => format!("L{} of {}", cache.level(), cache.size()),
            None => "L2".to_owned(),
        }
    }
}

/// The time that a report covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Covers {
    /// One interval of `--watch`.
    Interval,
    /// All of the run.
    Run,
}

/// What `--json` prints (schema huepage.pressure/1).
#[derive(Clone, Debug, Serialize)]
pub struct PressureReport {
    schema: &'static str,
    kind: &'static str,
    pub covers: Covers,
    #[serde(flatten)]
    pub subject: Subject,
    /// When the run began, in seconds since 1970.
    began: u64,
    /// Seconds from the beginning of the run to that of the interval.
    pub at: f64,
    pub seconds: f64,
    /// How long lines were left alone, in the mean: longer than planned if looks were
    /// interrupted.
    wait: f64,
    pub looks: u64,
    pub quiet_looks: u64,
    pub interrupted_looks: u64,
    lines: u64,
    /// `None` if no look saw any line.
    pub evicted: Option<Evicted>,
    pub color_shares: Vec<Option<f64>>,
    /// `None` if the kernel does not count it.
    pub steal: Option<f64>,
    pub cpu_share: f64,
    /// Of a whole run only.
    pub series: Vec<Point>,
}

/// Shares of the lines that others evicted.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Evicted {
    pub mean: f64,
    pub median: f64,
    pub p95: f64,
    /// `None` if all looks were interrupted.
    pub mean_of_uninterrupted: Option<f64>,
}

/// Some looks in a row.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    pub at: f64,
    pub seconds: f64,
    pub looks: u64,
    pub quiet_looks: u64,
    pub interrupted_looks: u64,
    pub evicted: Option<f64>,
    pub color_shares: Vec<Option<f64>>,
}

impl PressureReport {
    /// The contents of `tally` and `bins`, which began `at` after the run did.
    pub fn new(
        subject: &Subject,
        covers: Covers,
        began: u64,
        at: Duration,
        spent: Spent,
        tally: &Tally,
        bins: &Bins,
    ) -> Self {
        let Tally { sum, interrupted, shares, uninterrupted } = tally;
        let evicted = shares.mean().zip(shares.quantile(0.5)).zip(shares.quantile(0.95));
        PressureReport {
            schema: "huepage.pressure/1",
            kind: "measured",
            covers,
            subject: subject.clone(),
            began,
            at: to_millionth(at.as_secs_f64()),
            seconds: to_millionth(spent.elapsed.as_secs_f64()),
            wait: to_millionth(sum.waited.as_secs_f64()),
            looks: sum.looks,
            quiet_looks: sum.quiet_looks,
            interrupted_looks: *interrupted,
            lines: sum.held().lines,
            evicted: evicted.map(|((mean, median), p95)| Evicted {
                mean: to_millionth(mean),
                median,
                p95,
                mean_of_uninterrupted: uninterrupted.mean().map(to_millionth),
            }),
            color_shares: color_shares(sum),
            steal: spent.stolen.map(to_millionth),
            cpu_share: to_millionth(spent.own),
            series: bins.bins.iter().map(Point::from).collect(),
        }
    }

    /// The share of the looks that were quiet; `None` without looks.
    pub fn quiet_share(&self) -> Option<f64> {
        (self.looks > 0).then(|| self.quiet_looks as f64 / self.looks as f64)
    }

    /// The color that lost most, with its share; `None` if none lost any.
    pub fn most(&self) -> Option<(usize, f64)> {
        let shares = self.color_shares.iter().enumerate();
        let seen = shares.filter_map(|(color, share)| Some((color, (*share)?)));
        seen.filter(|&(_, share)| share > 0.0).max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

impl From<&Bin> for Point {
    fn from(bin: &Bin) -> Self {
        Point {
            at: to_millionth(bin.from.as_secs_f64()),
            seconds: to_millionth((bin.to - bin.from).as_secs_f64()),
            looks: bin.sum.looks,
            quiet_looks: bin.sum.quiet_looks,
            interrupted_looks: bin.interrupted,
            evicted: bin.sum.share().map(to_millionth),
            color_shares: color_shares(&bin.sum),
        }
    }
}

fn color_shares(sum: &Pressure) -> Vec<Option<f64>> {
    sum.colors.iter().map(|held| held.share().map(to_millionth)).collect()
}

/// To millionths: microseconds, and less than one line of those looked at in a run.
fn to_millionth(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::super::sample;

    #[test]
    fn a_run_of_a_minute_says_what_happened_in_it() {
        let run = sample::run(8);
        assert_eq!((run.looks, run.quiet_looks, run.interrupted_looks), (600, 400, 6));
        assert_eq!(run.quiet_share(), Some(400.0 / 600.0));
        // Of 80 lines, 16 in two colors, and none, one or two in each of six.
        let evicted = run.evicted.unwrap();
        assert!((evicted.mean - (16.0 + 6.0) / 80.0 / 3.0).abs() < 1e-3, "{evicted:?}");
        assert_eq!(evicted.median, 0.0);
        assert!(evicted.p95 >= 0.275, "{evicted:?}");
        assert!(evicted.mean_of_uninterrupted.unwrap() <= evicted.mean + 1e-3);
        let most = run.most().unwrap();
        assert!(most.0 < 2 && (most.1 - 0.8 / 3.0).abs() < 1e-3, "{most:?}");
        assert_eq!(run.series.len(), 600);
        assert_eq!((run.series[300].color_shares[0], run.series[300].quiet_looks), (Some(0.8), 0));
        assert_eq!((run.series[100].evicted, run.series[100].quiet_looks), (Some(0.0), 1));
    }
}
