// SPDX-License-Identifier: MIT OR Apache-2.0
//! Takes the samples, in a crossed design: allocations of all placements live side by
//! side and are visited again and again, in an order that is shuffled for each block of
//! visits. Allocations that differ over all blocks differ by placement; blocks differ
//! by the moment.

use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use huepage::{color::Color, topology::CacheGeometry};

use super::{
    Placement, Workbench,
    imbalance::imbalance,
    memory,
    moment::{Clocks, Moment, arithmetic},
    progress::Progress,
    samples::{Allocation, Ceiling, Group, Samples, Slice},
    suite::Job,
};
use crate::signals::{Interrupted, Signals};

/// What to run, and how long at most.
pub struct Plan {
    /// The placements compared.
    pub placements: Vec<Placement>,
    /// Allocations of each placement.
    pub allocations: usize,
    /// Visits to each allocation; and as many in quiet moments, while time is left.
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

/// One size of one allocation of one placement.
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
    moved: Option<bool>,
}

/// Visits allocations of every placement, and returns the samples. There are fewer
/// blocks than planned if time ran out, and more if there were too few quiet moments.
///
/// Ctrl-C ends it as the time limit does.
///
/// # Errors
/// If memory is short or cannot be placed, or the thread loses its CPU; [`Interrupted`]
/// if Ctrl-C came before all allocations were visited.
pub fn measure<W: Workbench>(
    workbench: &mut W,
    jobs: &[Job],
    cache: CacheGeometry,
    plan: &Plan,
) -> anyhow::Result<Samples> {
    check_offers(workbench, plan)?;
    let mut live = allocate(workbench, jobs, plan)?;
    let mut samples = Samples { groups: groups(jobs, plan), ..Samples::default() };
    let mut visits: Vec<Visit> = visits(jobs, plan);
    let mut rng = fastrand::Rng::with_seed(plan.seed);
    let clocks = Clocks::of(plan.cpu);
    let progress = Progress::new(plan.time_limit, plan.visits);
    // Raises the clock rate of the CPU and pages the code in; nothing is recorded.
    for &visit in visits.iter().take(plan.placements.len()) {
        for workload in &jobs[visit.job].workloads {
            let memory = live[visit.placement][visit.allocation].buffer.as_mut();
            workload.visit(memory, 1, &mut |slice| {
                let _ = slice();
            });
        }
    }
    let signals = Signals::hold();
    let start = Instant::now();
    let mut enough = 0;
    'blocks: while samples.blocks == 0 || start.elapsed() < plan.time_limit && enough < plan.visits
    {
        rng.shuffle(&mut visits);
        let mut before = workbench.pressure()?;
        for visit in &visits {
            if signals.came() {
                samples.interrupted = true;
                break 'blocks;
            }
            let job = &jobs[visit.job];
            let placement = plan.placements[visit.placement];
            let memory = live[visit.placement][visit.allocation].buffer.as_mut();
            let steal = clocks.steal();
            let mut slices = Vec::with_capacity(SLICES * job.workloads.len());
            for workload in &job.workloads {
                workload.visit(memory, SLICES, &mut |slice| {
                    let before = arithmetic();
                    let reading = clocks.read();
                    let begin = start.elapsed().as_secs_f64();
                    let figure = slice();
                    let moment = clocks.since(reading);
                    let moment = Moment { arithmetic: before.max(arithmetic()), ..moment };
                    slices.push((workload.name(), begin, figure, moment));
                });
            }
            let after = workbench.pressure()?;
            let steal = clocks.steal().zip(steal).map_or(0, |(now, then)| now.saturating_sub(then));
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
        progress.set(start.elapsed(), enough);
    }
    drop(progress);
    if samples.blocks == 0 {
        return Err(Interrupted.into());
    }
    samples.drop_unfinished();
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
    let names: Vec<String> = offers.iter().map(Placement::to_string).collect();
    bail!(
        "placement {missing} cannot be served here ({}): choose from --placements {}",
        workbench.describe(),
        names.join(",")
    )
}

fn allocate<W: Workbench>(
    workbench: &mut W,
    jobs: &[Job],
    plan: &Plan,
) -> anyhow::Result<Vec<Vec<Live<W::Buffer>>>> {
    let mut live = Vec::new();
    for &placement in &plan.placements {
        let bytes = memory::largest(jobs, placement);
        if bytes.0 == 0 {
            live.push(Vec::new());
            continue;
        }
        let buffers =
            workbench.allocate(placement, bytes, plan.allocations).with_context(|| {
                format!("placing {} times {bytes} as {placement}", plan.allocations)
            })?;
        let mut of_placement = Vec::new();
        for mut buffer in buffers {
            for job in jobs.iter().filter(|job| job.placements.contains(&placement)) {
                job.workloads.iter().for_each(|workload| workload.prepare(buffer.as_mut()));
            }
            of_placement.push(Live { buffer, colors: None, moved: None });
        }
        live.push(of_placement);
    }
    // After all were allocated, since the kernel moves pages when it makes room for
    // huge pages.
    for allocation in live.iter_mut().flatten() {
        allocation.colors = workbench.colors(&mut allocation.buffer)?;
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

/// The speed of arithmetic alone, the best of all blocks, since the clock rate changes.
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

/// Visits in quiet moments that 19 of 20 allocations have had: waiting for the last of
/// a thousand would take as long again.
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

/// Whether more pages of an allocation changed their color than wrong answers explain,
/// one in two hundred. Pages that differ are classified twice. `None` if colors cannot
/// be found, or no longer: then it is not known whether the allocation moved.
fn has_moved<W: Workbench>(
    workbench: &mut W,
    allocation: &mut Live<W::Buffer>,
) -> anyhow::Result<Option<bool>> {
    let Some(before) = &allocation.colors else { return Ok(None) };
    let known = before.iter().flatten().count();
    let mut differ = vec![true; before.len()];
    for _ in 0..2 {
        let Some(now) = workbench.colors(&mut allocation.buffer)? else { return Ok(None) };
        let both =
            before.iter().zip(&now).filter(|(before, now)| before.is_some() && now.is_some());
        if known == 0 || both.count() * 50 < known * 49 {
            return Ok(None);
        }
        for ((differ, before), now) in differ.iter_mut().zip(before).zip(&now) {
            *differ &= before.is_some() && now.is_some() && before != now;
        }
    }
    let moved = differ.iter().filter(|&&differs| differs).count();
    Ok(Some(moved > (before.len() / 200).max(1)))
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

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use huepage::{
        color::{ColorCount, Held, Pressure},
        units::Bytes,
    };

    use super::*;
    use crate::bench::workload::{Slice as Timed, Unit, Workload};

    /// Buffers with placement and number in their first bytes.
    #[derive(Default)]
    struct Fake {
        /// Whether the cache is quiet, look after look.
        looks: Vec<bool>,
        looked: usize,
        returned: usize,
        /// Colors of buffers from the second classification on.
        later: Option<Vec<Option<Color>>>,
        told: usize,
        /// Ctrl-C comes with this look.
        interrupted: Option<usize>,
    }

    const PAGES: usize = 400;

    fn even() -> Vec<Option<Color>> {
        (0..PAGES as u32).map(|page| Some(Color(page % 4))).collect()
    }

    impl Workbench for Fake {
        type Buffer = Vec<u8>;

        fn describe(&self) -> String {
            "a fake".to_owned()
        }

        fn offers(&self) -> Vec<Placement> {
            vec![Placement::Default, Placement::Random, Placement::Balanced]
        }

        fn allocate(
            &mut self,
            placement: Placement,
            _: Bytes,
            count: usize,
        ) -> anyhow::Result<Vec<Vec<u8>>> {
            Ok((0..count).map(|number| vec![placement as u8, number as u8]).collect())
        }

        fn give_back(&mut self, _: Vec<u8>) -> anyhow::Result<()> {
            self.returned += 1;
            Ok(())
        }

        fn colors(&mut self, _: &mut Vec<u8>) -> anyhow::Result<Option<Vec<Option<Color>>>> {
            self.told += 1;
            // Nine buffers, each classified once at the beginning.
            let first = self.told <= 9;
            Ok(Some(self.later.clone().filter(|_| !first).unwrap_or_else(even)))
        }

        fn pressure(&mut self) -> anyhow::Result<Option<Pressure>> {
            if self.interrupted == Some(self.looked) {
                // SAFETY: to this thread, which holds the signal back.
                unsafe { libc::pthread_kill(libc::pthread_self(), libc::SIGINT) };
            }
            let Some(&quiet) = self.looks.get(self.looked) else { return Ok(None) };
            self.looked += 1;
            let mut pressure = Pressure::none(ColorCount::new(1).unwrap());
            let evicted = if quiet { 0 } else { 5 };
            pressure.colors[0] = Held { lines: 10, evicted };
            pressure.looks = 1;
            pressure.quiet_looks = u32::from(quiet).into();
            Ok(Some(pressure))
        }
    }

    /// Figures that encode placement, allocation and workload; records its visits.
    struct Echo {
        offset: f64,
        visited: RefCell<Vec<(u8, u8)>>,
    }

    impl Workload for Echo {
        fn name(&self) -> &'static str {
            if self.offset < 0.5 { "a" } else { "b" }
        }

        fn unit(&self) -> Unit {
            Unit::Milliseconds
        }

        fn visit(&self, memory: &mut [u8], slices: usize, each: &mut dyn FnMut(Timed)) {
            self.visited.borrow_mut().push((memory[0], memory[1]));
            let figure = f64::from(memory[0]) * 100.0 + f64::from(memory[1]) + self.offset;
            (0..slices).for_each(|_| each(&mut || figure));
        }
    }

    const PLACEMENTS: [Placement; 3] = [Placement::Default, Placement::Random, Placement::Balanced];

    fn jobs() -> Vec<Job> {
        let echo = |offset| -> Box<dyn Workload> {
            Box::new(Echo { offset, visited: RefCell::default() })
        };
        let job = |kib, workloads, placements: &[Placement]| Job {
            bytes: Bytes::kib(kib),
            workloads,
            placements: placements.to_vec(),
        };
        vec![
            job(8, vec![echo(0.25), echo(0.75)], &PLACEMENTS),
            job(16, vec![echo(0.125)], &PLACEMENTS[1..]),
        ]
    }

    fn cache() -> CacheGeometry {
        CacheGeometry::from_size(2, Bytes::kib(64), 4, 64).unwrap()
    }

    fn plan(visits: usize, time_limit: u64) -> Plan {
        Plan {
            placements: PLACEMENTS.to_vec(),
            allocations: 3,
            visits,
            time_limit: Duration::from_secs(time_limit),
            cpu: 0,
            seed: 5,
        }
    }

    fn run(fake: &mut Fake, visits: usize, time_limit: u64) -> Samples {
        measure(fake, &jobs(), cache(), &plan(visits, time_limit)).unwrap()
    }

    #[test]
    fn every_slice_lands_in_the_allocation_that_it_was_taken_from() {
        let mut fake = Fake::default();
        let samples = run(&mut fake, 100, 0);
        assert_eq!(samples.blocks, 1, "the first round runs whatever the time");
        // Two workloads of three placements, and one of two.
        assert_eq!(samples.groups.len(), 8);
        for group in &samples.groups {
            assert_eq!(group.allocations.len(), 3);
            for (number, allocation) in group.allocations.iter().enumerate() {
                assert_eq!(allocation.slices.len(), SLICES);
                for slice in &allocation.slices {
                    let whole = f64::from(group.placement as u8) * 100.0 + number as f64;
                    assert_eq!(slice.figure.floor(), whole, "{group:?}");
                    let offset = match (group.bench, group.bytes.0 >> 10) {
                        ("a", 8) => 0.25,
                        ("b", 8) => 0.75,
                        _ => 0.125,
                    };
                    assert_eq!(slice.figure.fract(), offset);
                }
            }
        }
        assert_eq!(fake.returned, 9, "all memory is given back");
    }

    #[test]
    fn a_visit_is_quiet_if_the_looks_before_and_after_it_are() {
        // One look before the first visit and one after each of fifteen.
        let mut looks = vec![true; 16];
        looks[7] = false;
        let mut fake = Fake { looks, ..Fake::default() };
        let samples = run(&mut fake, 1, 0);
        assert_eq!(fake.looked, 16);
        let mut slices: Vec<&Slice> = samples.slices().collect();
        slices.sort_by(|a, b| a.start.total_cmp(&b.start));
        let unquiet = slices.iter().filter(|slice| slice.moment.cache_quiet == Some(false));
        let unquiet: Vec<f64> = unquiet.map(|slice| slice.start).collect();
        // Of the seventh and the eighth visit, with one or two workloads each.
        assert!((2 * SLICES..=4 * SLICES).contains(&unquiet.len()), "{}", unquiet.len());
        let between =
            slices.iter().filter(|s| s.start >= unquiet[0] && s.start <= *unquiet.last().unwrap());
        assert_eq!(between.count(), unquiet.len(), "they are next to each other");
        assert!(slices.iter().all(|slice| slice.moment.evicted.is_some()));
        assert_eq!(slices.iter().filter(|s| s.moment.evicted == Some(0.5)).count(), unquiet.len());
    }

    #[test]
    fn rounds_differ_in_their_order() {
        let samples = run(&mut Fake::default(), 3, 600);
        let mut slices: Vec<(usize, f64, f64)> =
            samples.slices().map(|s| (s.block, s.start, s.figure)).collect();
        slices.sort_by(|a, b| a.1.total_cmp(&b.1));
        let order = |block| -> Vec<f64> {
            slices.iter().filter(|slice| slice.0 == block).map(|slice| slice.2).collect()
        };
        let (first, second) = (order(0), order(1));
        assert_ne!(first, second);
        let sorted = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values
        };
        assert_eq!(sorted(first), sorted(second), "each round visits all");
        assert!(samples.blocks >= 3);
    }

    #[test]
    fn pages_that_have_other_colors_in_the_end_have_moved() {
        let moved = |later| {
            let samples = run(&mut Fake { later: Some(later), ..Fake::default() }, 1, 0);
            let moved: Vec<_> =
                samples.groups.iter().flat_map(|g| &g.allocations).map(|a| a.moved).collect();
            assert!(moved.iter().all(|m| *m == moved[0]));
            moved[0]
        };
        assert_eq!(moved(even()), Some(false));
        let changed = |pages: usize| {
            let mut colors = even();
            colors[..pages].iter_mut().for_each(|color| *color = Some(Color(9)));
            colors
        };
        assert_eq!(moved(changed(2)), Some(false), "one in two hundred is mistaken by chance");
        assert_eq!(moved(changed(3)), Some(true));
        let untold = |pages: usize| {
            let mut colors = even();
            colors[..pages].iter_mut().for_each(|color| *color = None);
            colors
        };
        assert_eq!(moved(untold(5)), Some(false));
        assert_eq!(moved(untold(200)), None, "what is no longer known is not said to be still");
    }

    #[test]
    fn an_interrupt_keeps_whole_blocks() {
        let measured = |look| {
            let fake =
                &mut Fake { looks: vec![true; 60], interrupted: Some(look), ..Fake::default() };
            (measure(fake, &jobs(), cache(), &plan(9, 600)), fake.returned)
        };
        // A block has a look before the first of its fifteen visits, and one after each.
        let (first, _) = measured(4);
        assert!(first.unwrap_err().is::<Interrupted>());
        let (third, returned) = measured(2 * 16 + 4);
        let samples = third.unwrap();
        assert_eq!((samples.blocks, samples.interrupted, returned), (2, true, 9));
        assert!(samples.slices().all(|slice| slice.block < 2));
        assert_eq!(samples.slices().count(), 2 * 24 * SLICES);
    }

    #[test]
    fn what_the_workbench_cannot_serve_is_refused_before_anything_runs() {
        let plan = Plan { placements: vec![Placement::Sequence], ..plan(2, 0) };
        let error = measure(&mut Fake::default(), &jobs(), cache(), &plan).unwrap_err();
        assert_eq!(
            error.to_string(),
            "placement sequence cannot be served here (a fake): \
             choose from --placements default,random,balanced"
        );
    }
}
