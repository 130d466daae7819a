// SPDX-License-Identifier: MIT OR Apache-2.0
//! Takes the samples: placements side by side within every round.

use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use indicatif::{ProgressBar, ProgressStyle};

use super::{Buffer, Placement, Workbench, report::Row, suite::Job};

/// What to run, and how long at most.
pub struct Plan {
    /// The placements compared.
    pub placements: Vec<Placement>,
    /// Fresh allocations per placement.
    pub samples: u32,
    /// No round begins after this time. The first always runs.
    pub time_limit: Duration,
}

/// Runs every job over fresh memory of every placement, round by round, and
/// returns one row per workload and placement. Rows are shorter than the plan
/// says where time ran out.
///
/// Within a round all placements of a job run next to each other, so that a
/// noisy neighbor hits them alike; their order rotates from round to round, so
/// that none always runs first.
///
/// # Errors
/// If the workbench cannot place a buffer.
pub fn measure<W: Workbench>(
    workbench: &mut W,
    jobs: &[Job],
    plan: &Plan,
) -> anyhow::Result<Vec<Row>> {
    let offers = workbench.offers();
    if let Some(missing) = plan.placements.iter().find(|p| !offers.contains(p)) {
        let names: Vec<&str> = offers.iter().map(|placement| placement.name()).collect();
        bail!(
            "placement {missing} cannot be served here ({}): choose from --placements {}",
            workbench.describe(),
            names.join(",")
        );
    }
    let start = Instant::now();
    let mut rows = empty_rows(jobs, plan);
    let progress = progress_bar(plan, jobs);
    warm_up(workbench, jobs, plan)?;
    for round in 0..plan.samples as usize {
        if round > 0 && start.elapsed() >= plan.time_limit {
            break;
        }
        let mut job_rows = rows.as_mut_slice();
        for job in jobs {
            let (of_job, rest) = job_rows.split_at_mut(job.workloads.len() * plan.placements.len());
            job_rows = rest;
            for turn in 0..plan.placements.len() {
                let at = (round + turn) % plan.placements.len();
                let figures = sample(workbench, job, plan.placements[at])?;
                for (workload, figure) in figures.into_iter().enumerate() {
                    of_job[workload * plan.placements.len() + at].samples.push(figure);
                }
                progress.inc(1);
            }
        }
    }
    progress.finish_and_clear();
    Ok(rows)
}

fn empty_rows(jobs: &[Job], plan: &Plan) -> Vec<Row> {
    let mut rows = Vec::new();
    for job in jobs {
        for workload in &job.workloads {
            rows.extend(plan.placements.iter().map(|&placement| Row {
                bench: workload.name().to_owned(),
                bytes: job.bytes,
                placement,
                unit: workload.unit(),
                samples: Vec::new(),
            }));
        }
    }
    rows
}

/// All workloads of a job over one fresh allocation.
fn sample<W: Workbench>(
    workbench: &mut W,
    job: &Job,
    placement: Placement,
) -> anyhow::Result<Vec<f64>> {
    let context = || format!("placing {} as {placement}", job.bytes);
    let mut buffer = workbench.allocate(placement, job.bytes).with_context(context)?;
    let memory = buffer.bytes_mut();
    let figures = job.workloads.iter().map(|workload| workload.run(memory)).collect();
    workbench.give_back(buffer).with_context(context)?;
    Ok(figures)
}

/// Raises the clock of the CPU and pages the code in; nothing is recorded.
fn warm_up<W: Workbench>(workbench: &mut W, jobs: &[Job], plan: &Plan) -> anyhow::Result<()> {
    let until = Instant::now() + Duration::from_millis(200);
    for (job, &placement) in jobs.iter().zip(plan.placements.iter().cycle()) {
        sample(workbench, job, placement)?;
        if Instant::now() > until {
            break;
        }
    }
    Ok(())
}

/// Draws on stderr, and only where that is a terminal.
fn progress_bar(plan: &Plan, jobs: &[Job]) -> ProgressBar {
    let samples = plan.samples as u64 * (jobs.len() * plan.placements.len()) as u64;
    let template = "{wide_bar} {pos}/{len} samples, {eta} left";
    let style = ProgressStyle::with_template(template).expect("the template is a constant");
    ProgressBar::new(samples).with_style(style)
}

#[cfg(test)]
mod tests {
    use huepage::units::Bytes;

    use super::*;
    use crate::bench::workload::{Unit, Workload};

    /// Hands out small vectors that name their placement in the first byte.
    #[derive(Default)]
    struct Fake {
        handed_out: Vec<(Placement, Bytes)>,
        returned: usize,
        delay: Duration,
    }

    impl Buffer for Vec<u8> {
        fn bytes_mut(&mut self) -> &mut [u8] {
            self
        }
    }

    impl Workbench for Fake {
        type Buffer = Vec<u8>;

        fn describe(&self) -> String {
            "a fake".to_owned()
        }

        fn offers(&self) -> Vec<Placement> {
            vec![Placement::Random, Placement::Balanced, Placement::Thp]
        }

        fn allocate(&mut self, placement: Placement, bytes: Bytes) -> anyhow::Result<Vec<u8>> {
            self.handed_out.push((placement, bytes));
            std::thread::sleep(self.delay);
            Ok(vec![placement as u8])
        }

        fn give_back(&mut self, _: Vec<u8>) -> anyhow::Result<()> {
            self.returned += 1;
            Ok(())
        }
    }

    struct Echo(&'static str, f64);

    impl Workload for Echo {
        fn name(&self) -> &'static str {
            self.0
        }

        fn unit(&self) -> Unit {
            Unit::Milliseconds
        }

        fn run(&self, memory: &mut [u8]) -> f64 {
            f64::from(memory[0]) + self.1
        }
    }

    fn jobs() -> Vec<Job> {
        let job = |kib, workloads| Job { bytes: Bytes::kib(kib), workloads };
        vec![
            job(4, vec![Box::new(Echo("a", 0.5)), Box::new(Echo("b", 0.25))]),
            job(8, vec![Box::new(Echo("a", 0.125))]),
        ]
    }

    fn plan(samples: u32) -> Plan {
        let placements = vec![Placement::Random, Placement::Balanced, Placement::Thp];
        Plan { placements, samples, time_limit: Duration::from_secs(60) }
    }

    #[test]
    fn every_figure_lands_in_the_row_of_its_workload_size_and_placement() {
        let mut fake = Fake::default();
        let rows = measure(&mut fake, &jobs(), &plan(4)).unwrap();
        assert_eq!(rows.len(), 9);
        for row in rows {
            let offset = match (row.bench.as_str(), row.bytes.0) {
                ("a", 4096) => 0.5,
                ("b", 4096) => 0.25,
                ("a", 8192) => 0.125,
                other => panic!("{other:?}"),
            };
            let figure = f64::from(row.placement as u8) + offset;
            assert_eq!(row.samples, vec![figure; 4], "{row:?}");
        }
    }

    #[test]
    fn every_sample_is_a_fresh_allocation_that_is_given_back() {
        let mut fake = Fake::default();
        measure(&mut fake, &jobs(), &plan(5)).unwrap();
        let warm_up = 2;
        assert_eq!(fake.handed_out.len(), 5 * 3 * 2 + warm_up);
        assert_eq!(fake.returned, fake.handed_out.len());
    }

    #[test]
    fn placements_of_a_job_run_side_by_side_and_take_turns_to_be_first() {
        let mut fake = Fake::default();
        measure(&mut fake, &jobs()[..1], &plan(3)).unwrap();
        let order: Vec<Placement> = fake.handed_out[1..].iter().map(|(p, _)| *p).collect();
        use Placement::*;
        assert_eq!(order, [Random, Balanced, Thp, Balanced, Thp, Random, Thp, Random, Balanced]);
    }

    #[test]
    fn out_of_time_all_rows_end_at_the_same_round() {
        let mut fake = Fake { delay: Duration::from_millis(1), ..Fake::default() };
        let plan = Plan { time_limit: Duration::from_millis(20), ..plan(1000) };
        let rows = measure(&mut fake, &jobs(), &plan).unwrap();
        let taken = rows[0].samples.len();
        assert!((1..1000).contains(&taken), "{taken}");
        assert!(rows.iter().all(|row| row.samples.len() == taken));
    }

    #[test]
    fn what_the_workbench_cannot_serve_is_refused_before_anything_runs() {
        let mut fake = Fake::default();
        let plan = Plan { placements: vec![Placement::Sequence], ..plan(1) };
        let error = measure(&mut fake, &jobs(), &plan).unwrap_err();
        assert_eq!(
            error.to_string(),
            "placement sequence cannot be served here (a fake): \
             choose from --placements random,balanced,thp"
        );
        assert!(fake.handed_out.is_empty());
    }
}
