// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs of pages whose frames follow each other as the pages do.

use super::{RunBucket, Runs};
use crate::units::Pfn;

/// A run that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameRun {
    /// Its first page, counted from the area's start.
    pub at: u64,
    /// Its length.
    pub pages: u64,
}

/// Follows runs, page by page.
#[derive(Debug, Default)]
pub(super) struct RunTally {
    current: Option<(FrameRun, Pfn)>,
    runs: Runs,
}

impl RunTally {
    /// The next page, in ascending order, with its frame; `None` for a page
    /// that can be in no run. Returns the run that ended before it.
    pub fn add(&mut self, at: u64, frame: Option<Pfn>) -> Option<FrameRun> {
        let Some(frame) = frame else { return self.end() };
        if let Some((run, last)) = &mut self.current
            && run.at + run.pages == at
            && last.0 + 1 == frame.0
        {
            run.pages += 1;
            *last = frame;
            return None;
        }
        let ended = self.end();
        self.current = Some((FrameRun { at, pages: 1 }, frame));
        ended
    }

    /// Ends the run that is under way.
    pub fn end(&mut self) -> Option<FrameRun> {
        let (run, _) = self.current.take()?;
        self.runs.add(RunBucket { from: class(run.pages), runs: 1, pages: run.pages });
        self.runs.longest = self.runs.longest.max(run.pages);
        Some(run)
    }

    /// All runs that have ended.
    pub fn into_runs(mut self) -> Runs {
        self.runs.histogram.shrink_to_fit();
        self.runs
    }
}

impl Runs {
    /// Adds the runs of another area.
    pub(super) fn merge(&mut self, other: &Runs) {
        self.longest = self.longest.max(other.longest);
        other.histogram.iter().for_each(|bucket| self.add(*bucket));
    }

    fn add(&mut self, more: RunBucket) {
        self.count += more.runs;
        match self.histogram.binary_search_by_key(&more.from, |bucket| bucket.from) {
            Ok(found) => {
                self.histogram[found].runs += more.runs;
                self.histogram[found].pages += more.pages;
            }
            Err(place) => self.histogram.insert(place, more),
        }
    }
}

/// The power of two that a length counts under.
pub(super) fn class(pages: u64) -> u64 {
    1 << pages.max(1).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_needs_pages_and_frames_that_follow_each_other() {
        let mut tally = RunTally::default();
        let pages = [
            (0, Some(10)),
            (1, Some(11)),
            (2, Some(12)),
            (3, Some(14)), // a frame left out
            (5, Some(15)), // a page left out
            (6, None),
            (7, Some(16)),
            (8, Some(15)), // backwards
        ];
        let mut ended: Vec<FrameRun> =
            pages.iter().filter_map(|&(at, frame)| tally.add(at, frame.map(Pfn))).collect();
        ended.extend(tally.end());
        let ended: Vec<_> = ended.iter().map(|run| (run.at, run.pages)).collect();
        assert_eq!(ended, [(0, 3), (3, 1), (5, 1), (7, 1), (8, 1)]);
        let runs = tally.into_runs();
        assert_eq!((runs.count, runs.longest), (5, 3));
        assert_eq!(
            runs.histogram,
            [RunBucket { from: 1, runs: 4, pages: 4 }, RunBucket { from: 2, runs: 1, pages: 3 }]
        );
        let mut twice = runs.clone();
        twice.merge(&runs);
        assert_eq!((twice.count, twice.longest, twice.histogram[1].pages), (10, 3, 6));
    }
}
