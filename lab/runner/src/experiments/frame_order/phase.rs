// SPDX-License-Identifier: MIT OR Apache-2.0
//! The requests to the disks in one phase, and their cost for a controller.

use anyhow::Context;
use serde_json::{Map, Value};

use crate::{
    boot::Request,
    experiment::{self, map},
};

/// How files are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Through the page cache.
    Cached,
    /// Past it, into a buffer of ordinary pages.
    Direct,
    /// Past it, into a huge page.
    DirectHuge,
}

impl Phase {
    /// In the order in which the guest runs them.
    pub const ALL: [Phase; 3] = [Phase::Cached, Phase::Direct, Phase::DirectHuge];

    /// As the guest and the results name it.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Cached => "cached",
            Phase::Direct => "direct",
            Phase::DirectHuge => "direct-huge",
        }
    }
}

/// Time of a controller that serves one request after another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Costs {
    request_us: f64,
    segment_us: f64,
    link_mbs: f64,
}

impl Costs {
    pub fn of(settings: &Map<String, Value>) -> anyhow::Result<Self> {
        let number = |name: &str| {
            let value = settings.get(name).and_then(Value::as_f64);
            value.filter(|value| *value >= 0.0).with_context(|| format!("setting {name}"))
        };
        let costs = Costs {
            request_us: number("request_us")?,
            segment_us: number("segment_us")?,
            link_mbs: number("link_mbs")?,
        };
        anyhow::ensure!(costs.link_mbs > 0.0, "setting link_mbs=0: nothing would ever arrive");
        Ok(costs)
    }

    fn seconds(&self, counts: &Counts) -> f64 {
        let microseconds = counts.requests as f64 * self.request_us
            + counts.segments as f64 * self.segment_us
            + counts.bytes as f64 / self.link_mbs;
        microseconds / 1e6
    }
}

/// Counts of one phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counts {
    pub requests: u64,
    pub segments: u64,
    pub bytes: u64,
    /// Of the request with the most segments.
    pub most_segments: u32,
    /// Pages to a segment in the first and in the last quarter of the bytes.
    pub first: f64,
    pub last: f64,
}

/// Bytes of a page.
const PAGE: f64 = experiment::PAGE as f64;

impl Counts {
    /// Of the requests between the marks of a phase; the disk after the readers' has
    /// the marks: sector 2n begins phase n, sector 2n + 1 ends it.
    pub fn of(requests: &[Request], readers: u32, phase: Phase) -> anyhow::Result<Self> {
        let number = Phase::ALL.iter().position(|other| *other == phase).expect("of all") as u64;
        let mark = |sector: u64| {
            let is = |r: &Request| r.target == readers && r.bytes == 512 && r.sector == sector;
            // Probing the disk reads whole pages.
            requests.iter().position(is)
        };
        let what = || format!("the trace of requests has no phase {}", phase.name());
        let (begin, end) = mark(2 * number).zip(mark(2 * number + 1)).with_context(what)?;
        anyhow::ensure!(begin < end, what());
        let of_readers: Vec<Request> =
            requests[begin..end].iter().copied().filter(|r| r.target < readers).collect();
        Counts::sum(&of_readers).with_context(what)
    }

    fn sum(requests: &[Request]) -> Option<Self> {
        let bytes: u64 = requests.iter().map(|request| request.bytes).sum();
        let mut counts = Counts { bytes, requests: requests.len() as u64, ..Counts::default() };
        let (mut first, mut last) = ((0, 0), (0, 0));
        let mut before = 0;
        for request in requests {
            counts.segments += u64::from(request.segments);
            counts.most_segments = counts.most_segments.max(request.segments);
            for (quarter, is) in
                [(&mut first, 4 * before < bytes), (&mut last, 4 * before >= 3 * bytes)]
            {
                if is {
                    *quarter = (quarter.0 + request.bytes, quarter.1 + request.segments);
                }
            }
            before += request.bytes;
        }
        let pages = |(bytes, segments): (u64, u32)| bytes as f64 / PAGE / f64::from(segments);
        (counts.first, counts.last) = (pages(first), pages(last));
        (bytes > 0 && counts.segments > 0).then_some(counts)
    }

    pub fn metrics(&self, costs: &Costs) -> Map<String, Value> {
        let (requests, segments) = (self.requests as f64, self.segments as f64);
        let bytes = self.bytes as f64;
        let seconds = costs.seconds(self);
        map([
            ("requests", self.requests.into()),
            ("segments", self.segments.into()),
            ("bytes", self.bytes.into()),
            ("most_segments", self.most_segments.into()),
            ("requests_per_gib", (requests * (1u64 << 30) as f64 / bytes).into()),
            ("bytes_per_request", (bytes / requests).into()),
            ("segments_per_request", (segments / requests).into()),
            ("pages_per_segment", (bytes / PAGE / segments).into()),
            ("pages_per_segment_first", self.first.into()),
            ("pages_per_segment_last", self.last.into()),
            ("modelled_seconds", seconds.into()),
            ("modelled_mbs", (bytes / 1e6 / seconds).into()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(target: u32, sector: u64, bytes: u64, segments: u32) -> Request {
        Request { target, sector, bytes, segments }
    }

    #[test]
    fn a_phase_is_what_lies_between_its_marks_on_the_disks_of_readers() {
        let requests = [
            read(1, 0, 4096, 1),
            read(0, 0, 4096, 1),
            read(1, 0, 512, 1),
            read(0, 8, 131_072, 2),
            read(0, 264, 57_344, 14),
            read(1, 1, 512, 1),
            read(0, 400, 4096, 1),
            read(1, 2, 512, 1),
            read(1, 3, 512, 1),
        ];
        let counts = Counts::of(&requests, 1, Phase::Cached).unwrap();
        assert_eq!((counts.requests, counts.segments, counts.bytes), (2, 16, 188_416));
        assert_eq!(counts.most_segments, 14);
        assert_eq!(counts.first, 16.0);
        let missing = |phase| Counts::of(&requests, 1, phase).unwrap_err().to_string();
        assert!(missing(Phase::Direct).contains("no phase direct"), "nothing was read in it");
        assert!(missing(Phase::DirectHuge).contains("no phase direct-huge"));
    }

    #[test]
    fn quarters_and_times_are_those_of_the_counts() {
        let requests: Vec<Request> =
            (0..8).map(|n| read(0, n, 65_536, if n < 4 { 1 } else { 16 })).collect();
        let counts = Counts::sum(&requests).unwrap();
        assert_eq!((counts.first, counts.last), (16.0, 1.0));
        let costs = Costs { request_us: 100.0, segment_us: 1.0, link_mbs: 400.0 };
        let metrics = counts.metrics(&costs);
        // 8 requests, 4 + 64 segments, 524,288 bytes at 400 bytes to a microsecond.
        let seconds = (800.0 + 68.0 + 1310.72) / 1e6;
        assert!((metrics["modelled_seconds"].as_f64().unwrap() - seconds).abs() < 1e-12);
        assert_eq!(metrics["requests_per_gib"], 16_384.0);
        assert_eq!(metrics["bytes_per_request"], 65_536.0);
        assert_eq!(metrics["segments_per_request"], 8.5);
    }
}
