// SPDX-License-Identifier: MIT OR Apache-2.0
//! Access times of workers, from the model's records.

use anyhow::{Context, ensure};
use serde_json::{Map, Value, json};

use crate::{experiment::map, model::Record};

/// Loads of so many pages: one per line of 64 bytes.
pub(super) fn loads(pages: u64) -> u64 {
    64 * pages
}

/// The record of each worker: region by region in the order of nodes, each on the
/// CPU of the same number.
pub(super) fn of_workers(
    records: &[Record],
    region: u32,
    nodes: usize,
    pages: u64,
) -> anyhow::Result<Vec<&Record>> {
    let mut turns: Vec<u32> =
        records.iter().filter(|record| record.region == region).map(|r| r.sequence).collect();
    turns.dedup();
    ensure!(turns.len() == nodes, "{} of {nodes} workers marked region {region}", turns.len());
    let workers = turns.iter().enumerate().map(|(cpu, turn)| {
        let own = records
            .iter()
            .find(|record| record.sequence == *turn && record.cpu as usize == cpu)
            .with_context(|| format!("worker {cpu} did not run on its CPU"))?;
        ensure!(
            own.accesses >= loads(pages),
            "worker {cpu} made {} accesses, not the {} to its pages",
            own.accesses,
            loads(pages)
        );
        Ok(own)
    });
    workers.collect()
}

/// Mean and standard deviation of all of a population.
fn spread(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (mean, (squares / values.len() as f64).sqrt())
}

pub(super) fn metrics(workers: &[&Record]) -> Map<String, Value> {
    let page_times = |record: &Record| record.page_times.expect("the model was asked for them");
    let means: Vec<f64> = workers.iter().map(|record| page_times(record).access_mean).collect();
    let (mean, deviation) = spread(&means);
    // Of all pages of all workers: the spread within a worker and that between.
    let within: Vec<f64> =
        workers.iter().map(|record| page_times(record).access_deviation.powi(2)).collect();
    let over_pages = (spread(&within).0 + deviation.powi(2)).sqrt();
    let own = |(cpu, record): (usize, &&Record)| record.nodes[cpu];
    let all: u64 = workers.iter().map(|record| record.nodes.iter().sum::<u64>()).sum();
    let local: u64 = workers.iter().enumerate().map(own).sum();
    let accesses: u64 = workers.iter().map(|record| record.accesses).sum();
    map([
        ("access_time_sd_percent", (100.0 * deviation / mean).into()),
        ("page_time_sd_percent", (100.0 * over_pages / mean).into()),
        ("access_time_mean", mean.into()),
        ("access_time_by_worker", json!(means)),
        ("remote_share", ((all - local) as f64 / all as f64).into()),
        ("memory_share", (all as f64 / accesses as f64).into()),
        ("accesses", accesses.into()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::PageTimes;

    fn record(sequence: u32, cpu: u32, nodes: [u64; 2], mean: f64, deviation: f64) -> Record {
        Record {
            region: 1,
            sequence,
            cpu,
            accesses: nodes.iter().sum(),
            nodes: nodes.to_vec(),
            page_times: Some(PageTimes {
                pages: 2,
                mean,
                deviation,
                access_mean: mean,
                access_deviation: deviation,
            }),
            ..Record::default()
        }
    }

    /// One worker reads two local pages, the other one local and one at 160. Each
    /// turn has a few accesses of the other CPU too.
    fn records() -> Vec<Record> {
        vec![
            record(0, 0, [128, 0], 100.0, 0.0),
            record(0, 1, [3, 9], 130.0, 1.0),
            record(1, 0, [7, 0], 100.0, 0.0),
            record(1, 1, [64, 64], 130.0, 30.0),
        ]
    }

    #[test]
    fn spreads_and_shares_are_those_of_the_workers_own_turns() {
        let records = records();
        let workers = of_workers(&records, 1, 2, 2).unwrap();
        let metrics = metrics(&workers);
        let number = |name: &str| metrics[name].as_f64().unwrap();
        assert_eq!(number("accesses"), 256.0);
        assert_eq!(number("remote_share"), 0.25);
        assert_eq!(number("access_time_mean"), 115.0);
        assert_eq!(number("access_time_sd_percent"), 100.0 * 15.0 / 115.0);
        // Four pages: 100, 100, 100 and 160.
        let over_pages = (2700.0 / 4.0_f64).sqrt();
        assert!((number("page_time_sd_percent") - 100.0 * over_pages / 115.0).abs() < 1e-12);
    }

    #[test]
    fn a_worker_that_did_not_read_all_or_not_run_is_an_error() {
        let records = records();
        let error = |nodes, pages| of_workers(&records, 1, nodes, pages).unwrap_err().to_string();
        assert!(error(2, 3).contains("128 accesses, not the 192"), "{}", error(2, 3));
        assert!(error(3, 2).contains("2 of 3 workers"), "{}", error(3, 2));
        let error = of_workers(&records[..3], 1, 2, 2).unwrap_err().to_string();
        assert!(error.contains("worker 1 did not run on its CPU"), "{error}");
    }
}
