// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs the arms in rounds, each in another order.

use std::time::{Duration, Instant};

use anyhow::Context;

use super::{Arm, Cost, ProgramRun};
use crate::{
    bench::{moment::Moment, progress::Progress, report::Moments, stats::quantile_of},
    signals::{Interrupted, Signals},
};

/// How often to run, and how long at most.
pub struct Plan {
    /// Runs of each arm; and as many in quiet moments, while time is left.
    pub runs: usize,
    /// Runs of each arm before, which do not count.
    pub warm: usize,
    /// The arms.
    pub arms: Vec<Arm>,
    /// No round begins after this time. The first always runs.
    pub time_limit: Duration,
    /// Seed of the order of runs.
    pub seed: u64,
}

/// Runs a program once: the interface between the order of runs and the machine.
pub trait Launch {
    /// Runs it to its end. A run that is not recorded may take longer.
    ///
    /// # Errors
    /// If it cannot be run, or fails.
    fn launch(&mut self, arm: Arm, recorded: bool) -> anyhow::Result<(Cost, Moment)>;
}

/// Runs all arms in rounds, and decides which runs were quiet; also returns whether
/// Ctrl-C ended the rounds, as the time limit does.
///
/// # Errors
/// The first run that failed; [`Interrupted`] if Ctrl-C came before the first round was over.
pub fn measure(launch: &mut impl Launch, plan: &Plan) -> anyhow::Result<(Vec<ProgramRun>, bool)> {
    let signals = Signals::hold();
    for number in 1..=plan.warm {
        for &arm in &plan.arms {
            let launched = launch.launch(arm, false);
            if signals.came() {
                return Err(Interrupted.into());
            }
            launched.with_context(|| format!("warm-up run {number}, {arm}"))?;
        }
    }
    let mut rng = fastrand::Rng::with_seed(plan.seed);
    let mut order = plan.arms.clone();
    let progress = Progress::new(plan.time_limit, plan.runs);
    let start = Instant::now();
    let mut runs: Vec<ProgramRun> = Vec::new();
    let (mut round, mut enough) = (0, 0);
    let mut interrupted = false;
    'rounds: while round == 0 || start.elapsed() < plan.time_limit && enough < plan.runs {
        rng.shuffle(&mut order);
        for &arm in &order {
            let begin = start.elapsed().as_secs_f64();
            let launched = launch.launch(arm, true);
            // The program has received the signal, too.
            if signals.came() {
                interrupted = true;
                break 'rounds;
            }
            let (cost, moment) = launched.with_context(|| format!("run {}, {arm}", round + 1))?;
            runs.push(ProgramRun { arm, round, start: begin, cost, quiet: false, moment });
        }
        round += 1;
        let quick = quick(&runs);
        runs.iter_mut().for_each(|run| run.quiet = run.moment.is_quiet(quick));
        let quiet = |arm: &Arm| runs.iter().filter(|run| run.arm == *arm && run.quiet).count();
        enough = plan.arms.iter().map(quiet).min().unwrap_or(0);
        progress.set(start.elapsed(), enough);
    }
    if round == 0 {
        return Err(Interrupted.into());
    }
    runs.retain(|run| run.round < round);
    Ok((runs, interrupted))
}

/// Nanoseconds that the loop of arithmetic takes in quick moments.
fn quick(runs: &[ProgramRun]) -> f64 {
    quantile_of(runs.iter().map(|run| run.moment.arithmetic as f64), 0.1)
}

/// The shares of runs by the kind of disturbance, whatever their times are.
///
/// # Panics
/// If there are none.
pub fn moments(runs: &[ProgramRun]) -> Moments {
    Moments::of(runs.iter().map(|run| &run.moment), quick(runs))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records the requested runs; runs of these numbers lose their CPU.
    #[derive(Default)]
    struct Fake {
        launched: Vec<(Arm, bool)>,
        disturbed: Vec<usize>,
        fails: Option<usize>,
        /// Ctrl-C comes while it runs.
        interrupted: Option<usize>,
    }

    impl Launch for Fake {
        fn launch(&mut self, arm: Arm, recorded: bool) -> anyhow::Result<(Cost, Moment)> {
            let number = self.launched.len();
            self.launched.push((arm, recorded));
            if self.interrupted == Some(number) {
                // SAFETY: to this thread, which holds the signal back.
                unsafe { libc::pthread_kill(libc::pthread_self(), libc::SIGINT) };
            }
            anyhow::ensure!(self.fails != Some(number), "it failed");
            let cpu = if self.disturbed.contains(&number) { 500 } else { 1000 };
            let cost = Cost { elapsed: number as f64, ..Cost::default() };
            Ok((cost, Moment { elapsed: 1000, cpu, arithmetic: 10, ..Moment::default() }))
        }
    }

    fn plan(runs: usize, warm: usize, seconds: u64) -> Plan {
        let time_limit = Duration::from_secs(seconds);
        Plan { runs, warm, arms: Arm::ALL.to_vec(), time_limit, seed: 3 }
    }

    #[test]
    fn each_round_runs_each_arm_once_in_changing_order() {
        let mut fake = Fake::default();
        let (runs, _) = measure(&mut fake, &plan(8, 2, 600)).unwrap();
        assert_eq!(fake.launched[..6].iter().filter(|(_, recorded)| *recorded).count(), 0);
        assert_eq!(runs.len(), 24, "all were quiet, so no more than asked for");
        let rounds: Vec<Vec<Arm>> =
            runs.chunks(3).map(|round| round.iter().map(|run| run.arm).collect()).collect();
        for round in &rounds {
            let mut sorted = round.clone();
            sorted.sort();
            assert_eq!(sorted, Arm::ALL);
        }
        assert!(rounds.iter().any(|round| *round != rounds[0]), "{rounds:?}");
        for (number, run) in runs.iter().enumerate() {
            assert_eq!((run.round, run.cost.elapsed), (number / 3, (number + 6) as f64));
            assert!(run.quiet);
        }
    }

    #[test]
    fn it_goes_on_until_each_arm_has_had_quiet_moments_enough() {
        // The first four rounds are disturbed.
        let mut fake = Fake { disturbed: (0..12).collect(), ..Fake::default() };
        let (runs, _) = measure(&mut fake, &plan(5, 0, 600)).unwrap();
        assert_eq!(runs.len(), (4 + 5) * 3);
        assert_eq!(runs.iter().filter(|run| run.quiet).count(), 15);
        let moments = moments(&runs);
        assert!((moments.lost_cpu - 12.0 / 27.0).abs() < 1e-9, "{moments:?}");
        assert_eq!((moments.cache_shared, moments.slowed), (None, 0.0));
        let none =
            measure(&mut Fake { disturbed: (0..99).collect(), ..Fake::default() }, &plan(5, 0, 0));
        assert_eq!(none.unwrap().0.len(), 3, "time is up after the first round");
    }

    #[test]
    fn an_interrupt_keeps_whole_rounds() {
        let interrupted = |number, fails| {
            let mut fake = Fake { interrupted: Some(number), fails, ..Fake::default() };
            measure(&mut fake, &plan(9, 1, 600))
        };
        // In the warm-up, in the first round, and in the third.
        for number in [2, 5] {
            assert!(interrupted(number, None).unwrap_err().is::<Interrupted>());
        }
        let (runs, was) = interrupted(10, Some(10)).unwrap();
        assert!(was && runs.len() == 6 && runs.iter().all(|run| run.round < 2), "{runs:?}");
    }

    #[test]
    fn a_failure_says_which_run_it_was() {
        let failing = |number, warm| {
            let mut fake = Fake { fails: Some(number), ..Fake::default() };
            format!("{:#}", measure(&mut fake, &plan(2, warm, 600)).unwrap_err())
        };
        assert_eq!(failing(1, 1), "warm-up run 1, placed: it failed");
        assert!(failing(4, 1).starts_with("run 1, "), "{}", failing(4, 1));
    }
}
