// SPDX-License-Identifier: MIT OR Apache-2.0
//! Takes the samples, in a crossed design: allocations of all placements live
//! side by side and are visited again and again, in an order that is shuffled
//! for each block of visits. What differs between allocations over all blocks is
//! placement; what differs between blocks is the moment.

use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use huepage::{available_memory, color::Color, topology::CacheGeometry, units::Bytes};
use indicatif::{ProgressBar, ProgressStyle};

use super::{
    Buffer, Placement, Workbench,
    imbalance::imbalance,
    moment::{Clocks, Moment, arithmetic},
    samples::{Allocation, Ceiling, Group, Samples, Slice},
    suite::Job,
};

/// What to run, and how long at most.
pub struct Plan {
    /// The placements compared.
    pub placements: Vec<Placement>,
    /// Allocations of each placement.
    pub allocations: usize,
    /// Visits to each allocation; and so many in quiet moments, while time is
    /// left.
    pub visits: usize,
    /// No block of visits begins after this time. The first always runs.
    pub time_limit: Duration,
    /// The CPU that all of it runs on.
    pub cpu: u32,
    /// Order of visits.
    pub seed: u64,
}

/// Slices of one visit to one allocation by one workload.
const SLICES: usize = 2;

/// One size of one placement's allocation number so and so.
#[derive(Clone, Copy)]
struct Visit {
    job: usize,
    placement: usize,
    allocation: usize,
}

/// An allocation while a run goes on.
struct Live<B> {
    buffer: B,
    colors: Option<Vec<Option<Color>>>,
    moved: bool,
}

/// Visits allocations of every placement, and returns what was seen. There are
/// fewer blocks than the plan says where time ran out, and more where the quiet
/// moments did not suffice.
///
/// # Errors
/// If memory cannot be had or placed, or the thread is taken from its CPU.
pub fn measure<W: Workbench>(
    workbench: &mut W,
    jobs: &[Job],
    cache: CacheGeometry,
    plan: &Plan,
) -> anyhow::Result<Samples> {
    check_offers(workbench, plan)?;
    check_memory(jobs, plan)?;
    let mut live = allocate(workbench, jobs, plan)?;
    let mut samples = Samples { groups: groups(jobs, plan), ..Samples::default() };
    let mut visits: Vec<Visit> = visits(jobs, plan);
    let mut rng = fastrand::Rng::with_seed(plan.seed);
    let clocks = Clocks::of(plan.cpu);
    let progress = progress_bar(plan);
    // Raises the clock of the CPU and pages the code in; nothing is recorded.
    for &visit in visits.iter().take(plan.placements.len()) {
        for workload in &jobs[visit.job].workloads {
            let memory = live[visit.placement][visit.allocation].buffer.bytes_mut();
            workload.warm(memory);
            workload.slice(memory);
        }
    }
    let start = Instant::now();
    let mut enough = 0;
    while samples.blocks == 0 || start.elapsed() < plan.time_limit && enough < plan.visits {
        rng.shuffle(&mut visits);
        let mut before = workbench.pressure()?;
        for visit in &visits {
            let job = &jobs[visit.job];
            let placement = plan.placements[visit.placement];
            let memory = live[visit.placement][visit.allocation].buffer.bytes_mut();
            let steal = clocks.steal();
            let mut slices = Vec::with_capacity(SLICES * job.workloads.len());
            for workload in &job.workloads {
                workload.warm(memory);
                for _ in 0..SLICES {
                    let before = arithmetic();
                    let reading = clocks.read();
                    let begin = start.elapsed().as_secs_f64();
                    let figure = workload.slice(memory);
                    let moment = clocks.since(reading);
                    let moment = Moment { arithmetic: before.max(arithmetic()), ..moment };
                    slices.push((workload.name(), begin, figure, moment));
                }
            }
            let after = workbench.pressure()?;
            let steal = clocks.steal() - steal;
            let looks = before.iter().chain(&after);
            let evicted = looks.clone().filter_map(|look| look.share()).reduce(f64::max);
            let cache_quiet = after.as_ref().map(|_| looks.clone().all(|look| look.is_quiet()));
            for (bench, start, figure, moment) in slices {
                let group = samples.groups.iter_mut().find(|group| {
                    (group.bench, group.bytes, group.placement) == (bench, job.bytes, placement)
                });
                let slices = &mut group.expect("a group for each visit").allocations
                    [visit.allocation]
                    .slices;
                let moment = Moment { steal, evicted, cache_quiet, ..moment };
                slices.push(Slice { block: samples.blocks, start, figure, moment });
            }
            before = after;
        }
        samples.blocks += 1;
        measure_ceilings(jobs, &mut samples.ceilings);
        enough = quiet_visits(&samples);
        progress.set_position(progress_of(start.elapsed(), enough, plan));
    }
    progress.finish_and_clear();
    for of_placement in &mut live {
        for allocation in of_placement {
            allocation.moved = has_moved(workbench, allocation)?;
        }
    }
    note_pages(&mut samples, &live, cache, plan);
    for buffer in live.into_iter().flatten().map(|allocation| allocation.buffer) {
        workbench.give_back(buffer).context("giving memory back")?;
    }
    Ok(samples)
}

fn check_offers<W: Workbench>(workbench: &W, plan: &Plan) -> anyhow::Result<()> {
    let offers = workbench.offers();
    let Some(missing) = plan.placements.iter().find(|p| !offers.contains(p)) else {
        return Ok(());
    };
    let names: Vec<&str> = offers.iter().map(|placement| placement.name()).collect();
    bail!(
        "placement {missing} cannot be served here ({}): choose from --placements {}",
        workbench.describe(),
        names.join(",")
    )
}

/// The largest size at which a placement runs.
fn largest(jobs: &[Job], placement: Placement) -> Option<Bytes> {
    jobs.iter().filter(|job| job.placements.contains(&placement)).map(|job| job.bytes).max()
}

/// The kernel grants any mapping and kills a process when pages run out, maybe
/// another one: better to ask first.
fn check_memory(jobs: &[Job], plan: &Plan) -> anyhow::Result<()> {
    let sizes = plan.placements.iter().filter_map(|&placement| largest(jobs, placement));
    let wanted = Bytes(sizes.map(|bytes| bytes.0 * plan.allocations as u64).sum());
    match available_memory() {
        Some(available) if available < wanted => bail!(
            "{} allocations of each placement are {wanted}, and {available} of memory are \
             available: give fewer with --allocations or --placements",
            plan.allocations
        ),
        _ => Ok(()),
    }
}

fn allocate<W: Workbench>(
    workbench: &mut W,
    jobs: &[Job],
    plan: &Plan,
) -> anyhow::Result<Vec<Vec<Live<W::Buffer>>>> {
    let mut live = Vec::new();
    for &placement in &plan.placements {
        let Some(bytes) = largest(jobs, placement) else {
            live.push(Vec::new());
            continue;
        };
        let buffers =
            workbench.allocate(placement, bytes, plan.allocations).with_context(|| {
                format!("placing {} times {bytes} as {placement}", plan.allocations)
            })?;
        let mut of_placement = Vec::new();
        for mut buffer in buffers {
            for job in jobs.iter().filter(|job| job.placements.contains(&placement)) {
                job.workloads.iter().for_each(|workload| workload.prepare(buffer.bytes_mut()));
            }
            let colors = workbench.colors(&mut buffer)?;
            of_placement.push(Live { buffer, colors, moved: false });
        }
        live.push(of_placement);
    }
    Ok(live)
}

fn groups(jobs: &[Job], plan: &Plan) -> Vec<Group> {
    let mut groups = Vec::new();
    for job in jobs {
        for workload in &job.workloads {
            for &placement in &job.placements {
                groups.push(Group {
                    bench: workload.name(),
                    bytes: job.bytes,
                    placement,
                    unit: workload.unit(),
                    allocations: vec![Allocation::default(); plan.allocations],
                });
            }
        }
    }
    groups
}

fn visits(jobs: &[Job], plan: &Plan) -> Vec<Visit> {
    let mut visits = Vec::new();
    for (job, of_job) in jobs.iter().enumerate() {
        for (placement, name) in plan.placements.iter().enumerate() {
            if of_job.placements.contains(name) {
                let all = 0..plan.allocations;
                visits.extend(all.map(|allocation| Visit { job, placement, allocation }));
            }
        }
    }
    visits
}

/// What arithmetic alone gives, the best of all blocks: the clock changes.
fn measure_ceilings(jobs: &[Job], ceilings: &mut Vec<Ceiling>) {
    for workload in jobs.iter().flat_map(|job| &job.workloads) {
        let Some(figure) = workload.ceiling() else { continue };
        let (bench, unit) = (workload.name(), workload.unit());
        match ceilings.iter_mut().find(|ceiling| ceiling.bench == bench) {
            Some(ceiling) if unit.cost(figure) < unit.cost(ceiling.figure) => {
                ceiling.figure = figure;
            }
            Some(_) => {}
            None => ceilings.push(Ceiling { bench, unit, figure }),
        }
    }
}

/// Visits in quiet moments that 19 of 20 allocations have had: waiting for the last
/// of a thousand would take as long again.
pub fn quiet_visits(samples: &Samples) -> usize {
    let quick = samples.quick_arithmetic();
    let allocations = samples.groups.iter().flat_map(|group| &group.allocations);
    let quiet = |allocation: &Allocation| {
        allocation.slices.iter().filter(|slice| slice.moment.is_quiet(quick)).count()
    };
    let mut counts: Vec<usize> = allocations.map(quiet).collect();
    counts.sort_unstable();
    counts.get(counts.len() / 20).map_or(0, |count| count / SLICES)
}

/// Whether more pages of an allocation have other colors than before than are
/// mistaken for others by chance: one in two hundred. Those that differ are
/// asked twice.
fn has_moved<W: Workbench>(
    workbench: &mut W,
    allocation: &mut Live<W::Buffer>,
) -> anyhow::Result<bool> {
    let Some(before) = &allocation.colors else { return Ok(false) };
    let mut differ = vec![true; before.len()];
    for _ in 0..2 {
        let Some(now) = workbench.colors(&mut allocation.buffer)? else { return Ok(false) };
        for ((differ, before), now) in differ.iter_mut().zip(before).zip(&now) {
            *differ &= before.is_some() && now.is_some() && before != now;
        }
        if !differ.contains(&true) {
            return Ok(false);
        }
    }
    let moved = differ.iter().filter(|&&differs| differs).count();
    Ok(moved > (before.len() / 200).max(1))
}

fn note_pages<B>(samples: &mut Samples, live: &[Vec<Live<B>>], cache: CacheGeometry, plan: &Plan) {
    for group in &mut samples.groups {
        let of_placement = plan.placements.iter().zip(live);
        let found = of_placement.filter(|(placement, _)| **placement == group.placement);
        for (allocation, live) in group.allocations.iter_mut().zip(found.flat_map(|(_, l)| l)) {
            allocation.moved = live.moved;
            let colors = live.colors.as_ref();
            allocation.imbalance = colors.map(|colors| imbalance(colors, group.bytes, cache));
        }
    }
}

/// Draws on stderr, and only where that is a terminal.
fn progress_bar(plan: &Plan) -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_bar} {percent} %, {elapsed} of at most {msg}")
        .expect("the template is a constant");
    ProgressBar::new(100).with_style(style).with_message(format!("{} s", plan.time_limit.as_secs()))
}

/// Percent done: the run ends with enough quiet visits or with its time.
fn progress_of(elapsed: Duration, enough: usize, plan: &Plan) -> u64 {
    let time = elapsed.as_secs_f64() / plan.time_limit.as_secs_f64().max(1e-9);
    let visits = enough as f64 / plan.visits.max(1) as f64;
    (100.0 * time.max(visits).min(1.0)) as u64
}
