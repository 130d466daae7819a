// SPDX-License-Identifier: MIT OR Apache-2.0
//! Computes figures from runs. Text, picture and verdict all use these.

use super::{
    Arm, Cost, ProgramRun,
    report::{ArmReport, Figures, Summary},
};
use crate::bench::{
    analysis::LEAST_ALLOCATIONS as LEAST_RUNS,
    bootstrap::{DRAWS, Estimate, weights},
    stats::{quantile, quantile_of, spread},
};

/// The figures of every arm that was run, in the order of tables.
pub fn arms(runs: &[ProgramRun], seed: u64) -> Vec<ArmReport> {
    let elapsed = figures(runs, |cost| cost.elapsed, 0.0, seed);
    let user = figures(runs, |cost| cost.user, LEAST_USER, seed);
    let run = Arm::ALL.into_iter().filter(|arm| runs.iter().any(|run| run.arm == *arm));
    run.zip(elapsed.into_iter().zip(user))
        .map(|(arm, (elapsed, user))| {
            let of = || runs.iter().filter(move |run| run.arm == arm);
            let median =
                |figure: fn(&Cost) -> f64| quantile_of(of().map(|run| figure(&run.cost)), 0.5);
            ArmReport {
                arm,
                runs: of().count(),
                failures: of().filter(|run| !run.cost.succeeded).count(),
                quiet_share: of().filter(|run| run.quiet).count() as f64 / of().count() as f64,
                elapsed,
                user,
                system: median(|cost| cost.system),
            }
        })
        .collect()
}

/// Seconds of user time that can be compared: the kernel separates user from system
/// time by what runs at its ticks, which are a hundredth of a second apart at most.
const LEAST_USER: f64 = 0.02;

/// Figures below `least` are not compared.
fn figures(runs: &[ProgramRun], figure: fn(&Cost) -> f64, least: f64, seed: u64) -> Vec<Figures> {
    let quiet = summaries(runs, |run| run.quiet.then(|| figure(&run.cost)), least, seed);
    let all = summaries(runs, |run| Some(figure(&run.cost)), least, seed);
    quiet.into_iter().zip(all).map(|(quiet, all)| Figures { quiet, all }).collect()
}

/// The figures of one arm with their rounds.
struct Sample {
    arm: Arm,
    values: Vec<(f64, usize)>,
}

impl Sample {
    /// The values of the rounds drawn, ascending; all if none was drawn.
    fn drawn(&self, rounds: &[u32]) -> Vec<f64> {
        let times =
            |&(value, round): &(f64, usize)| std::iter::repeat_n(value, rounds[round] as usize);
        let mut drawn: Vec<f64> = self.values.iter().flat_map(times).collect();
        if drawn.is_empty() {
            drawn = self.values.iter().map(|at| at.0).collect();
        }
        drawn.sort_by(f64::total_cmp);
        drawn
    }
}

/// One summary for each arm that was run; none for arms with too few runs for which
/// `figure` has a value.
fn summaries(
    runs: &[ProgramRun],
    figure: impl Fn(&ProgramRun) -> Option<f64>,
    least: f64,
    seed: u64,
) -> Vec<Option<Summary>> {
    let rounds = runs.iter().map(|run| run.round + 1).max().unwrap_or(0);
    let sample = |arm: Arm| {
        let of = runs.iter().filter(|run| run.arm == arm);
        let values = of.clone().filter_map(|run| Some((figure(run)?, run.round))).collect();
        of.clone().next().map(|_| Sample { arm, values })
    };
    let samples: Vec<Sample> = Arm::ALL.into_iter().filter_map(sample).collect();
    // Rounds are drawn for all arms together, so a disturbance that met all of them
    // cancels out of the ratios.
    let mut rng = fastrand::Rng::with_seed(seed);
    let draws: Vec<Vec<Vec<f64>>> = (0..DRAWS)
        .map(|_| {
            let rounds = weights(rounds, &mut rng);
            samples.iter().map(|sample| sample.drawn(&rounds)).collect()
        })
        .collect();
    let once = vec![1; rounds];
    let base = samples.iter().position(|sample| sample.arm == Arm::Default);
    let enough = |at: usize| samples[at].values.len() >= LEAST_RUNS;
    let median = |sorted: &[f64]| quantile(sorted, 0.5);
    (0..samples.len())
        .map(|at| {
            if !enough(at) {
                return None;
            }
            let (values, n) = (samples[at].drawn(&once), samples[at].values.len());
            let estimate = |of: &dyn Fn(&[f64]) -> f64| {
                Estimate::new(of(&values), draws.iter().map(|draw| of(&draw[at])).collect(), n)
            };
            // Of the medians of the default arm and of this arm.
            let compared = |of: fn(f64, f64) -> f64| {
                let base = base.filter(|&base| base != at && enough(base))?;
                let medians = [median(&samples[base].drawn(&once)), median(&values)];
                if medians.iter().any(|median| *median < least) {
                    return None;
                }
                let value = of(medians[0], medians[1]);
                let draws = draws.iter().map(|draw| of(median(&draw[base]), median(&draw[at])));
                Some(Estimate::new(value, draws.collect(), n.min(samples[base].values.len())))
            };
            let ratio = compared(|base, this| base / this).filter(is_number);
            Some(Summary {
                runs: n,
                median: estimate(&median),
                // Not a number for a program that uses no user time at all.
                spread: Some(estimate(&spread)).filter(is_number),
                saved: compared(|base, this| base - this).filter(|_| ratio.is_some()),
                ratio,
            })
        })
        .collect()
}

fn is_number(estimate: &Estimate) -> bool {
    [estimate.value, estimate.low, estimate.high].into_iter().all(f64::is_finite)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::moment::Moment;

    fn run(arm: Arm, round: usize, elapsed: f64, quiet: bool) -> ProgramRun {
        let cost = Cost { elapsed, user: 0.0, succeeded: round > 0, ..Cost::default() };
        ProgramRun { arm, round, start: 0.0, cost, quiet, moment: Moment::default() }
    }

    #[test]
    fn figures_are_those_of_their_arm_and_of_quiet_runs() {
        // Placed runs take 2 s and default ones 3; each third round is disturbed, and
        // takes ten times as long.
        let runs: Vec<ProgramRun> = (0..12)
            .flat_map(|round| {
                let slow = if round % 3 == 0 { 10.0 } else { 1.0 };
                [(Arm::Placed, 2.0), (Arm::Default, 3.0)]
                    .map(|(arm, seconds)| run(arm, round, slow * seconds, round % 3 != 0))
            })
            .collect();
        let arms = arms(&runs, 1);
        let names: Vec<Arm> = arms.iter().map(|arm| arm.arm).collect();
        assert_eq!(names, [Arm::Default, Arm::Placed]);
        let placed = &arms[1];
        assert_eq!((placed.runs, placed.failures), (12, 1));
        assert!((placed.quiet_share - 8.0 / 12.0).abs() < 1e-12);
        let quiet = placed.elapsed.quiet.as_ref().unwrap();
        assert_eq!((quiet.runs, quiet.median.value), (8, 2.0));
        assert_eq!(quiet.ratio, Some(Estimate { value: 1.5, low: 1.5, high: 1.5 }));
        assert_eq!(quiet.saved, Some(Estimate { value: 1.0, low: 1.0, high: 1.0 }));
        assert_eq!(quiet.spread.unwrap().value, 0.0);
        let all = placed.elapsed.all.as_ref().unwrap();
        assert_eq!((all.runs, all.median.value), (12, 2.0));
        assert!(all.spread.unwrap().value > 8.0, "{all:?}");
        assert!(arms[0].elapsed.quiet.as_ref().unwrap().ratio.is_none());
        // No user time: neither spread nor ratio is a number, and JSON has none.
        let user = placed.user.all.as_ref().unwrap();
        assert_eq!((user.median.value, user.spread), (0.0, None));
        assert_eq!((user.ratio, user.saved), (None, None));
    }

    #[test]
    fn user_time_of_a_tick_or_two_is_not_compared() {
        let ratio = |user: f64| {
            let run = |arm, round| {
                let mut run = run(arm, round, 1.0, true);
                run.cost.user = user;
                run
            };
            let runs: Vec<ProgramRun> =
                (0..8).flat_map(|round| Arm::ALL.map(|arm| run(arm, round))).collect();
            arms(&runs, 1).last().unwrap().user.quiet.as_ref().unwrap().ratio
        };
        assert_eq!(ratio(0.0199), None);
        assert!(ratio(0.02).is_some());
    }

    #[test]
    fn five_runs_are_too_few_to_say_anything_of() {
        let runs = |count: usize| -> Vec<ProgramRun> {
            (0..count).flat_map(|round| Arm::ALL.map(|arm| run(arm, round, 1.0, true))).collect()
        };
        assert!(arms(&runs(5), 1).iter().all(|arm| arm.elapsed.quiet.is_none()));
        assert!(arms(&runs(6), 1).iter().all(|arm| arm.elapsed.quiet.is_some()));
    }
}
