// SPDX-License-Identifier: MIT OR Apache-2.0
//! Computes figures from slices. Text, picture, findings and verdict all use these.

use huepage::units::Bytes;

use super::{
    Placement,
    bootstrap::{DRAWS, Estimate, weights},
    report::{Dot, Moments, Quiet, Row, Spread, Whole},
    samples::{Allocation, Group, Samples},
    stats::{quantile_of, spread, weighted_quantile},
    workload::Unit,
};

/// The speed of an allocation in quiet moments is the cost that a tenth of its quiet
/// slices stay below, or the least if there are ten or fewer: a slice disturbed by a
/// neighbor that the looks before and after missed is among the slow ones.
const LOW: f64 = 0.1;
/// An allocation with fewer quiet slices than this, which is two visits, is left out of
/// figures of quiet moments.
pub const LEAST_SLICES: usize = 4;
/// With fewer allocations than this no figures of quiet moments are given: the range of
/// fewer than six does not contain the true median in 95 of 100 cases, and no bootstrap
/// draw leaves that range.
pub const LEAST_ALLOCATIONS: usize = 6;

/// One row for each group of slices, in their order.
pub fn rows(samples: &Samples, seed: u64) -> Vec<Row> {
    let quick = samples.quick_arithmetic();
    let mut rows = Vec::new();
    let mut sizes: Vec<(&str, Bytes)> = Vec::new();
    for group in &samples.groups {
        if !sizes.contains(&(group.bench, group.bytes)) {
            sizes.push((group.bench, group.bytes));
        }
    }
    for size in sizes {
        let groups: Vec<&Group> =
            samples.groups.iter().filter(|group| (group.bench, group.bytes) == size).collect();
        rows.extend(rows_of_size(&groups, quick, samples.blocks, seed));
    }
    rows
}

/// The shares of slices by the kind of disturbance, whatever their figures are.
pub fn moments(samples: &Samples) -> Moments {
    Moments::of(samples.slices().map(|slice| &slice.moment), samples.quick_arithmetic())
}

/// The costs of one allocation's slices with their blocks, ascending.
struct Costs(Vec<(f64, usize)>);

impl Costs {
    fn new(slices: impl Iterator<Item = (f64, usize)>) -> Self {
        let mut costs: Vec<_> = slices.collect();
        costs.sort_by(|a, b| a.0.total_cmp(&b.0));
        Costs(costs)
    }

    /// A quantile with blocks drawn as often as `blocks` says; of all slices if none of
    /// their blocks was drawn.
    fn quantile(&self, q: f64, blocks: &[u32]) -> f64 {
        let drawn = self.0.iter().map(|&(cost, block)| (cost, blocks[block]));
        weighted_quantile(drawn, q).unwrap_or_else(|| self.plain(q))
    }

    fn plain(&self, q: f64) -> f64 {
        weighted_quantile(self.0.iter().map(|&(cost, _)| (cost, 1)), q).unwrap_or(f64::NAN)
    }

    fn spread(&self, blocks: &[u32]) -> f64 {
        self.quantile(0.95, blocks) / self.quantile(0.05, blocks) - 1.0
    }
}

/// One placement's allocations at one size, ready to draw from.
struct Drawn<'a> {
    group: &'a Group,
    /// The allocations whose pages did not move, by all their slices.
    all: Vec<Costs>,
    /// Of these the ones with enough quiet slices, with their numbers; each has as many
    /// slices as the allocations that it is compared with.
    quiet: Vec<(usize, Costs)>,
    /// Quiet slices used of each of these.
    slices: usize,
    /// Share of all slices that are quiet.
    quiet_share: f64,
}

/// Medians and spreads of one placement in one draw.
#[derive(Clone, Copy)]
struct Draw {
    quiet: f64,
    between: f64,
    over_time: f64,
}

impl Drawn<'_> {
    fn draw(&self, blocks: &[u32], rng: &mut fastrand::Rng) -> Draw {
        let pick = |costs: Vec<f64>, rng: &mut fastrand::Rng| -> Vec<f64> {
            let mut drawn: Vec<f64> =
                costs.iter().map(|_| costs[rng.usize(..costs.len())]).collect();
            drawn.sort_by(f64::total_cmp);
            drawn
        };
        let quiet = self.quiet.iter().map(|(_, costs)| costs.quantile(LOW, blocks)).collect();
        let quiet = pick(quiet, rng);
        let over_time = pick(self.all.iter().map(|costs| costs.spread(blocks)).collect(), rng);
        let median = |values: &[f64]| match values {
            [] => f64::NAN,
            some => super::stats::quantile(some, 0.5),
        };
        Draw {
            quiet: median(&quiet),
            between: if quiet.is_empty() { f64::NAN } else { spread(&quiet) },
            over_time: median(&over_time),
        }
    }
}

fn rows_of_size(groups: &[&Group], quick: f64, blocks: usize, seed: u64) -> Vec<Row> {
    let is_quiet = |allocation: &Allocation| -> Vec<(f64, usize)> {
        let quiet = allocation.slices.iter().filter(|slice| slice.moment.is_quiet(quick));
        quiet.map(|slice| (slice.figure, slice.block)).collect()
    };
    // As many quiet slices for each allocation, since a low quantile of few slices is
    // higher. Allocations with less than half of the usual number are left out;
    // otherwise the others would be reduced to as few.
    let still =
        groups.iter().flat_map(|group| group.allocations.iter().filter(|a| a.moved != Some(true)));
    let mut counts: Vec<usize> = still.map(|allocation| is_quiet(allocation).len()).collect();
    counts.sort_unstable();
    let usual = counts.get(counts.len() / 2).copied().unwrap_or(0);
    let least = LEAST_SLICES.max(usual / 2);
    let taken = counts.into_iter().find(|&count| count >= least).unwrap_or(0);
    let drawn: Vec<Drawn> = groups
        .iter()
        .map(|group| {
            let cost = |(figure, block)| (group.unit.cost(figure), block);
            let still = group.allocations.iter().enumerate().filter(|(_, a)| a.moved != Some(true));
            let all = still.clone().map(|(_, a)| {
                Costs::new(a.slices.iter().map(|slice| cost((slice.figure, slice.block))))
            });
            let quiet = still.filter_map(|(number, allocation)| {
                let quiet = is_quiet(allocation);
                (taken > 0 && quiet.len() >= taken).then(|| {
                    // Spread evenly over the time of the run.
                    let evenly = (0..taken).map(|i| quiet[i * quiet.len() / taken]);
                    (number, Costs::new(evenly.map(cost)))
                })
            });
            let slices: usize = group.allocations.iter().map(|a| a.slices.len()).sum();
            let in_quiet: usize = group.allocations.iter().map(|a| is_quiet(a).len()).sum();
            Drawn {
                group,
                all: all.collect(),
                quiet: quiet.collect(),
                slices: taken,
                quiet_share: in_quiet as f64 / slices.max(1) as f64,
            }
        })
        .collect();
    let mut rng = fastrand::Rng::with_seed(seed);
    // Blocks are drawn for all placements together, so a disturbance that met all of
    // them cancels out of their ratios.
    let draws: Vec<Vec<Draw>> = (0..DRAWS)
        .map(|_| {
            let blocks = weights(blocks, &mut rng);
            drawn.iter().map(|drawn| drawn.draw(&blocks, &mut rng)).collect()
        })
        .collect();
    (0..drawn.len()).map(|at| row(at, &drawn, &draws, blocks)).collect()
}

fn row(at: usize, drawn: &[Drawn], draws: &[Vec<Draw>], blocks: usize) -> Row {
    let this = &drawn[at];
    let group = this.group;
    let unit = group.unit;
    let once = vec![1; blocks];
    let n = this.quiet.len();
    let enough = |drawn: &Drawn| drawn.quiet.len() >= LEAST_ALLOCATIONS;
    let speeds = |drawn: &Drawn| -> Vec<f64> {
        let mut speeds: Vec<f64> =
            drawn.quiet.iter().map(|(_, costs)| costs.quantile(LOW, &once)).collect();
        speeds.sort_by(f64::total_cmp);
        speeds
    };
    let median = |drawn: &Drawn| super::stats::quantile(&speeds(drawn), 0.5);
    let of = |figure: fn(&Draw) -> f64| draws.iter().map(move |draw| figure(&draw[at]));

    let quiet = enough(this).then(|| {
        let cost = Estimate::new(median(this), of(|draw| draw.quiet).collect(), n);
        let [a, b] = [cost.low, cost.high].map(|cost| unit.cost(cost));
        Quiet { median: unit.cost(cost.value), low: a.min(b), high: a.max(b) }
    });
    let between = enough(this).then(|| {
        let found = Estimate::new(spread(&speeds(this)), of(|draw| draw.between).collect(), n);
        Spread { spread: found.value, low: found.low, high: found.high }
    });
    let over_time = (!this.all.is_empty()).then(|| {
        let value = quantile_of(this.all.iter().map(|costs| costs.spread(&once)), 0.5);
        let found = Estimate::new(value, of(|draw| draw.over_time).collect(), this.all.len());
        Spread { spread: found.value, low: found.low, high: found.high }
    });
    let ratio = |to: Placement| {
        let other = drawn.iter().position(|drawn| drawn.group.placement == to)?;
        let both = other != at && enough(this) && enough(&drawn[other]);
        both.then(|| {
            let value = median(&drawn[other]) / median(this);
            let draws = draws.iter().map(|draw| draw[other].quiet / draw[at].quiet);
            Estimate::new(value, draws.collect(), n.min(drawn[other].quiet.len()))
        })
    };
    let [to_default, to_stirred, to_thp, to_random] = Placement::COMPARED.map(ratio);
    let imbalances: Vec<f64> = group.allocations.iter().filter_map(|a| a.imbalance).collect();
    Row {
        bench: group.bench.to_owned(),
        bytes: group.bytes,
        placement: group.placement,
        unit,
        allocations: n,
        slices: this.slices,
        quiet_share: this.quiet_share,
        moved: group.allocations.iter().try_fold(0, |sum, a| Some(sum + usize::from(a.moved?))),
        imbalance: (!imbalances.is_empty()).then(|| quantile_of(imbalances, 0.5)),
        quiet,
        between,
        over_time,
        whole: whole(&this.all, unit),
        ratio: to_random,
        ratio_to_default: to_default,
        ratio_to_stirred: to_stirred,
        ratio_to_thp: to_thp,
        each: each(this, unit),
    }
}

/// The speed that a user got, in quiet moments or not.
fn whole(all: &[Costs], unit: Unit) -> Option<Whole> {
    let costs: Vec<f64> = all.iter().flat_map(|costs| &costs.0).map(|&(cost, _)| cost).collect();
    (!costs.is_empty()).then(|| Whole {
        median: unit.cost(quantile_of(costs.iter().copied(), 0.5)),
        p95: unit.cost(quantile_of(costs.iter().copied(), 0.95)),
    })
}

fn each(drawn: &Drawn, unit: Unit) -> Vec<Dot> {
    let still = drawn.group.allocations.iter().enumerate().filter(|(_, a)| a.moved != Some(true));
    still
        .zip(&drawn.all)
        .filter(|(_, all)| !all.0.is_empty())
        .map(|((number, _), all)| {
            let quiet = drawn.quiet.iter().find(|(n, _)| *n == number);
            Dot {
                quiet: quiet.map(|(_, costs)| unit.cost(costs.plain(LOW))),
                p5: unit.cost(all.plain(0.05)),
                p95: unit.cost(all.plain(0.95)),
            }
        })
        .collect()
}
