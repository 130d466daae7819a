// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report of a comparison, as it is written to JSON (schema
//! `huepage.bench-exec/1`).

use huepage::{topology::CacheGeometry, units::Bytes};
use serde::Serialize;

use super::{Arm, PlacerSum, ProgramRun};
use crate::bench::{
    Host,
    bootstrap::Estimate,
    report::{Moments, Verdict},
};

/// The version of the format.
pub const SCHEMA: &str = "huepage.bench-exec/1";

/// All results of the analysis, and the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExecReport {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// `measured`: the figures come from a clock.
    pub kind: &'static str,
    /// The command line that made it.
    pub command: String,
    /// The program and its arguments.
    pub program: Vec<String>,
    /// The command that starts placed runs.
    pub placed_by: Vec<String>,
    /// Where it ran.
    pub machine: Host,
    /// The CPUs that the program ran on, as a list.
    pub cpus: String,
    /// The cache that pages are placed for; null if none is declared.
    pub cache: Option<CacheGeometry>,
    /// How the cache was looked at, or why not.
    pub looks: String,
    /// The most memory that a warm-up run had, of its largest process.
    pub memory: Bytes,
    /// Memory that was stirred before each run.
    pub stirred: Bytes,
    /// Runs of each arm before those that count.
    pub warm: usize,
    /// Rounds in which each arm ran once.
    pub rounds: usize,
    /// Shares of runs by the kind of disturbance.
    pub moments: Moments,
    /// What `huepage run` did in the last warm-up run; null without any.
    pub placing: Option<PlacerSum>,
    /// One for each arm.
    pub arms: Vec<ArmReport>,
    /// Whether placed runs take less time.
    pub verdict: Verdict,
    /// Whether they take less CPU time in user mode.
    pub verdict_user: Verdict,
    /// Every run that counts.
    pub runs: Vec<ProgramRun>,
}

/// What the runs of one arm took.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArmReport {
    /// The arm.
    pub arm: Arm,
    /// Its runs.
    pub runs: usize,
    /// Of these, those that failed.
    pub failures: usize,
    /// The share of them without a disturbance by others.
    pub quiet_share: f64,
    /// Seconds from start to end.
    pub elapsed: Figures,
    /// Seconds of CPU time in user mode.
    pub user: Figures,
    /// Median seconds of CPU time in the kernel, of all runs.
    pub system: f64,
}

/// A figure of one arm, in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Of the quiet runs; null where they are too few.
    pub quiet: Option<Summary>,
    /// Of all runs; null where they are too few.
    pub all: Option<Summary>,
}

/// A summary of some runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// How many they are.
    pub runs: usize,
    /// Their median.
    pub median: Estimate,
    /// p95 / p5 - 1; null if that is not a number.
    pub spread: Option<Estimate>,
    /// How many times as fast as `default`; null for `default` itself, and if it had
    /// too few runs.
    pub ratio: Option<Estimate>,
    /// How many seconds less than `default`, below zero if it takes more; null if
    /// `ratio` is null.
    pub saved: Option<Estimate>,
}

impl ExecReport {
    /// The figures of one arm.
    pub fn arm(&self, arm: Arm) -> Option<&ArmReport> {
        self.arms.iter().find(|report| report.arm == arm)
    }
}

#[cfg(test)]
pub mod sample {
    //! A made-up report for tests of what is derived from one.

    use super::*;
    use crate::bench::exec::{Cost, arms, moments, verdict};
    use crate::bench::moment::Moment;

    /// Placed runs take 1 s, others 1.5 s to 2 s; each fourth run is disturbed and
    /// takes twice as long. User time is a tenth less than all.
    pub fn report() -> ExecReport {
        let mut runs = Vec::new();
        for round in 0..20 {
            for arm in Arm::ALL {
                let luck = 1.5 + 0.1 * ((round * 7 + arm as usize * 2) % 6) as f64;
                let seconds =
                    if arm == Arm::Placed { 1.0 + 1e-3 * (round % 5) as f64 } else { luck };
                let quiet = round % 4 != 3;
                let elapsed = if quiet { seconds } else { 2.0 * seconds };
                let cost = Cost { elapsed, user: 0.9 * elapsed, system: 0.01, succeeded: true };
                let moment = Moment {
                    elapsed: (1e9 * elapsed) as u64,
                    cpu: (1e9 * elapsed * if quiet { 1.0 } else { 0.5 }) as u64,
                    cache_quiet: Some(quiet),
                    evicted: Some(0.0),
                    arithmetic: 10,
                    ..Moment::default()
                };
                let start = (round * 10 + arm as usize) as f64;
                runs.push(ProgramRun { arm, round, start, cost, quiet, moment });
            }
        }
        of(runs)
    }

    /// The report of some runs.
    pub fn of(runs: Vec<ProgramRun>) -> ExecReport {
        let arms = arms(&runs, 1);
        let moments = moments(&runs);
        let words = |text: &str| text.split(' ').map(str::to_owned).collect();
        ExecReport {
            schema: SCHEMA,
            kind: "measured",
            command: "huepage bench exec -- chase 1792 10".to_owned(),
            program: words("chase 1792 10"),
            placed_by: words("huepage run --must"),
            machine: Host { model: "A & B <CPU>".to_owned(), cpu: 1, kernel: "6.12".to_owned() },
            cpus: "1".to_owned(),
            cache: CacheGeometry::from_size(2, Bytes::mib(2), 16, 64).ok(),
            looks: "a made-up palette".to_owned(),
            memory: Bytes::mib(20),
            stirred: Bytes::mib(80),
            warm: 1,
            rounds: runs.iter().map(|run| run.round + 1).max().unwrap_or(0),
            verdict: verdict("elapsed time", &arms, |arm| &arm.elapsed, &moments),
            verdict_user: verdict("user time", &arms, |arm| &arm.user, &moments),
            moments,
            placing: Some(PlacerSum {
                processes: 1,
                pages_seen: 500,
                pages_placed: 498,
                cpu_seconds: 0.05,
                memory: Bytes::mib(7),
                pages_huge: 0,
            }),
            arms,
            runs,
        }
    }
}
