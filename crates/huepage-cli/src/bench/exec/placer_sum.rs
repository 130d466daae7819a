// SPDX-License-Identifier: MIT OR Apache-2.0
//! Adds up the reports of `huepage run`, to check that the placed arm was placed.

use std::{fs, path::Path};

use huepage::{run::RunReport, units::Bytes};
use serde::Serialize;

/// All processes of a run together, each by its last report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PlacerSum {
    /// Processes that wrote a report.
    pub processes: usize,
    /// Pages that could be placed.
    pub pages_seen: u64,
    /// Of these, pages that are placed.
    pub pages_placed: u64,
    /// Pages in huge pages, which are left alone.
    pub pages_huge: u64,
    /// Seconds of CPU time that placing took.
    pub cpu_seconds: f64,
    /// Memory that it took.
    pub memory: Bytes,
}

impl PlacerSum {
    /// Adds up the report at `path` and those of descendants beside it; `None` if
    /// there is none.
    pub fn read(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let mut sum = PlacerSum::default();
        for entry in fs::read_dir(path.parent()?).ok()?.flatten() {
            let file = entry.file_name();
            // Descendants add their number: report.json.17.
            let numbered = |rest: &str| rest.is_empty() || rest[1..].parse::<u32>().is_ok();
            if !file.to_str().and_then(|file| file.strip_prefix(name)).is_some_and(numbered) {
                continue;
            }
            let text = fs::read(entry.path()).ok()?;
            let Ok(report) = serde_json::from_slice::<RunReport>(&text) else { continue };
            sum.processes += 1;
            sum.pages_seen += report.pages_seen;
            sum.pages_placed += report.pages_placed;
            sum.pages_huge += report.left_alone.huge;
            sum.cpu_seconds += report.cpu_seconds;
            sum.memory = Bytes(sum.memory.0 + report.memory.0);
        }
        (sum.processes > 0).then_some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(pages: u64) -> String {
        let mut report = RunReport {
            pages_seen: 2 * pages,
            pages_placed: pages,
            cpu_seconds: 0.25,
            memory: Bytes(4096),
            ..RunReport::default()
        };
        report.left_alone.huge = 512;
        serde_json::to_string(&report).unwrap()
    }

    #[test]
    fn the_reports_of_all_processes_are_added_up() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report.json");
        assert_eq!(PlacerSum::read(&path), None);
        for (name, pages) in [
            ("report.json", 10),
            ("report.json.17", 20),
            ("report.json.18.partial", 1000),
            ("other.json", 1000),
        ] {
            fs::write(directory.path().join(name), report(pages)).unwrap();
        }
        fs::write(directory.path().join("report.json.19"), "{").unwrap();
        let placing = PlacerSum::read(&path).unwrap();
        assert_eq!((placing.processes, placing.pages_placed, placing.pages_seen), (2, 30, 60));
        assert_eq!((placing.pages_huge, placing.cpu_seconds), (1024, 0.5));
        assert_eq!(placing.memory, Bytes::kib(8));
    }
}
