// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measurement for users of the library: two independent runs, believed only if they
//! agree.

use std::time::{Duration, Instant};

use raw_cpuid::CpuId;

use super::{
    canary::Canary,
    fresh::{Drawn, Fresh},
    hardware::Hardware,
    limits,
    prober::PageId,
    run_pair::RunPair,
    shape::Shape,
    ways::measured_ways,
};
#[cfg(feature = "serde")]
use crate::color::measurement::DiscoveryFacts;
use crate::{
    available_memory,
    color::{
        Color, ColorCount, ColorError, ColorOracle, Evidence, MeasureOptions, Method, Pressure,
        Survey,
    },
    mapping::{PageAddr, page_size},
    topology::{CacheGeometry, Pinned},
    units::Bytes,
};

/// Pause after the first attempt that fails.
const PAUSE: Duration = Duration::from_millis(30);
/// Associativity assumed where none is declared: that of most L2 caches now.
const ASSUMED_WAYS: u32 = 16;

/// Tells colors by timing which pages evict each other.
///
/// Holds the pages that it discovered with (about 26 MiB for a cache of 2 MiB,
/// at most 100 MiB) as long as it lives.
#[derive(Debug)]
pub struct MeasuredOracle {
    cpu: u32,
    count: ColorCount,
    runs: RunPair<Hardware>,
    evidence: Evidence,
    /// Made when first asked for.
    canary: Option<Canary>,
    /// Keeps the pages of all sets mapped.
    arena: Drawn,
}

impl MeasuredOracle {
    /// Finds the colors of the cache of `options.cpu`.
    ///
    /// # Errors
    /// [`ColorError::NotTrusted`] with what was seen if no attempt convinces;
    /// [`ColorError::NoTimeStamp`], [`ColorError::Unsupported`] or
    /// [`ColorError::OneColor`] where there is nothing to measure with or for;
    /// [`ColorError::TooLarge`] or [`ColorError::NoMemory`], before any memory is
    /// taken, where it would take too much;
    /// [`ColorError::Pin`] if the thread may not run on the CPU.
    pub fn discover(options: &MeasureOptions) -> Result<Self, ColorError> {
        let shape = shape(options.geometry.as_ref())?;
        limits::check(shape, page_size(), available_memory())?;
        if !has_rdtscp() {
            return Err(ColorError::NoTimeStamp);
        }
        let _pinned = Pinned::to(options.cpu)?;
        let mut rng = fastrand::Rng::with_seed(options.seed);
        let begin = Instant::now();
        let mut evidence = Evidence::default();
        let mut fresh = Fresh::default();
        loop {
            // Other frames each time: the frames of an attempt may be why it failed.
            let mut arena = fresh
                .draw(shape.arena(), &mut rng)
                .map_err(|source| ColorError::System { action: "allocate pages", source })?;
            // SAFETY: the pages belong to `arena`, which lives as long as the
            // prober: both become fields of one value, or the prober is dropped
            // here first.
            let prober = unsafe { Hardware::new(arena.pages().to_vec()) };
            let pages: Vec<PageId> = (0..arena.pages().len() as u32).map(PageId).collect();
            let mut runs = RunPair::new(prober, pages.clone(), shape, &mut rng);
            let attempt = runs.judge(&pages, &mut rng);
            let trusted = attempt.distrust.is_none();
            evidence.attempts.push(attempt);
            if let Some(count) = ColorCount::new(runs.first.colors() as u32).filter(|_| trusted) {
                arena.settle();
                let (cpu, canary) = (options.cpu, None);
                return Ok(MeasuredOracle { cpu, count, runs, evidence, canary, arena });
            }
            if evidence.attempts.len() >= options.attempts as usize
                || begin.elapsed() > options.time_limit
                || evidence.is_unanimous()
            {
                return Err(ColorError::NotTrusted(evidence));
            }
            fresh.keep(arena);
            // The pause grows with each attempt, so that a busy neighbor may end.
            std::thread::sleep(PAUSE * evidence.attempts.len() as u32);
        }
    }

    /// What the attempts saw; the last is the one believed.
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// What another process needs to use pages of these colors.
    #[cfg(feature = "serde")]
    pub(in crate::color) fn known(&self) -> DiscoveryFacts {
        let (masks, lines) = self.runs.lines_read();
        DiscoveryFacts { ways: self.runs.first.shape.ways, masks, lines }
    }

    /// Time for finding the colors, in the attempt believed, without the second
    /// run and the comparison.
    pub fn discover_time(&self) -> Duration {
        self.runs.discover
    }

    /// Time for the second run and for comparing both.
    pub fn verify_time(&self) -> Duration {
        self.runs.verify
    }

    /// How many pages of one color it takes to evict another one of it: the
    /// associativity, to about one way in ten.
    ///
    /// # Errors
    /// [`ColorError::Pin`] if the thread may not run on the oracle's CPU.
    pub fn measured_ways(&mut self) -> Result<u32, ColorError> {
        let _pinned = Pinned::to(self.cpu)?;
        let first = &mut self.runs.first;
        Ok(measured_ways(&mut first.tester, &first.found.sets))
    }

    /// Finds the colors of `pages`, and how reliable they are: the share that the
    /// second run, which shares no sets and no lines with the first, colors the same.
    ///
    /// # Errors
    /// [`ColorError::Pin`] if the thread may not run on the oracle's CPU.
    ///
    /// # Safety
    /// As [`ColorOracle::classify`].
    pub unsafe fn survey(&mut self, pages: &[PageAddr]) -> Result<Survey, ColorError> {
        let _pinned = Pinned::to(self.cpu)?;
        let work = |oracle: &mut Self, ids: &[PageId]| {
            let begin = Instant::now();
            let colors = oracle.runs.first.assign(ids);
            let assign = begin.elapsed();
            let agreement = oracle.runs.check(ids, &colors);
            Survey { colors, agreement, assign, verify: begin.elapsed() - assign }
        };
        // SAFETY: the caller's contract is that of `with_pages`.
        Ok(unsafe { self.with_pages(pages, work) })
    }

    /// Holds lines of known colors in the cache for `wait`, and counts how many of them
    /// others evict. Takes `wait` and some tens of microseconds more; the first call,
    /// which measures what is evicted on a quiet machine, some milliseconds. Beside a
    /// neighbor that never pauses this cannot be measured: then hardly any look counts
    /// as quiet, and every two seconds a call tries again, which takes as long as the
    /// first one.
    /// again, which takes as long as the first one.
    ///
    /// # Errors
    /// [`ColorError::Pin`] if the thread may not run on the oracle's CPU.
    pub fn pressure(&mut self, wait: Duration) -> Result<Pressure, ColorError> {
        self.pressure_within(wait, 1.0)
    }

    /// As [`pressure`](Self::pressure), for long observation: trying again, and
    /// measuring anew the limit between hits and misses, which takes ten milliseconds
    /// and more beside a neighbor, together take at most `share` of the time, between 0
    /// and 1.
    ///
    /// # Errors
    /// [`ColorError::Pin`] if the thread may not run on the oracle's CPU.
    pub fn pressure_within(&mut self, wait: Duration, share: f64) -> Result<Pressure, ColorError> {
        let _pinned = Pinned::to(self.cpu)?;
        let first = &mut self.runs.first;
        let (tester, sets) = (&mut first.tester, &first.found.sets);
        let canary = self.canary.get_or_insert_with(|| Canary::new(tester, sets, first.shape));
        canary.renew(Instant::now(), share, tester, sets, first.shape);
        Ok(canary.look(tester, wait, share))
    }

    /// Does `work` with `pages` in the tables of both runs.
    ///
    /// # Safety
    /// As [`ColorOracle::classify`].
    unsafe fn with_pages<T>(
        &mut self,
        pages: &[PageAddr],
        work: impl FnOnce(&mut Self, &[PageId]) -> T,
    ) -> T {
        let own = self.arena.pages().len();
        let ids: Vec<PageId> = (own as u32..(own + pages.len()) as u32).map(PageId).collect();
        for run in [&mut self.runs.first, &mut self.runs.second] {
            // SAFETY: the pages are mapped and readable during this call (the
            // caller's contract) and are taken out again at its end.
            unsafe { run.tester.prober.extend(pages) };
        }
        let result = work(self, &ids);
        for run in [&mut self.runs.first, &mut self.runs.second] {
            run.tester.prober.truncate(own);
        }
        result
    }
}

impl ColorOracle for MeasuredOracle {
    fn method(&self) -> Method {
        Method::Measurement
    }

    fn count(&self) -> ColorCount {
        self.count
    }

    unsafe fn classify(&mut self, pages: &[PageAddr]) -> Result<Vec<Option<Color>>, ColorError> {
        let _pinned = Pinned::to(self.cpu)?;
        // SAFETY: the caller's contract is that of `with_pages`.
        Ok(unsafe { self.with_pages(pages, |oracle, ids| oracle.runs.first.assign(ids)) })
    }
}

pub(super) fn shape(geometry: Option<&CacheGeometry>) -> Result<Shape, ColorError> {
    let page = page_size();
    let line = geometry.map_or(64, CacheGeometry::line);
    if page != Bytes::kib(4) || line != 64 {
        return Err(ColorError::Unsupported { page, line });
    }
    let Some(geometry) = geometry else {
        return Ok(Shape { colors: None, ways: ASSUMED_WAYS });
    };
    let colors = geometry.colors(page).get();
    if colors == 1 {
        return Err(ColorError::OneColor { size: geometry.size(), ways: geometry.ways() });
    }
    Ok(Shape { colors: Some(colors), ways: geometry.ways() })
}

/// CPUID leaf 0x8000_0001, EDX bit 27 (AMD APM volume 3, Intel SDM volume 2A).
pub(super) fn has_rdtscp() -> bool {
    let features = CpuId::new().get_extended_processor_and_feature_identifiers();
    features.is_some_and(|features| features.has_rdtscp())
}
