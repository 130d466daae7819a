// SPDX-License-Identifier: MIT OR Apache-2.0
//! Measurement as users of the library see it: two independent runs, believed
//! only if they tell the same.

use std::{
    arch::x86_64::__cpuid,
    time::{Duration, Instant},
};

use super::{
    discover::Shape,
    hardware::Hardware,
    palette::{Lines, Palette},
    prober::PageId,
};
use crate::{
    color::{
        Attempt, Color, ColorCount, ColorError, ColorOracle, Distrust, Evidence, Method,
        agreement::agreement,
    },
    mapping::{Mapping, PageAddr, PageKind, page_size},
    topology::{CacheGeometry, Pinned},
    units::Bytes,
};

/// How to measure.
#[derive(Clone, Debug)]
pub struct MeasureOptions {
    /// The CPU whose cache to measure.
    pub cpu: u32,
    /// The cache's declared geometry; `None` counts colors without a
    /// preconceived number.
    pub geometry: Option<CacheGeometry>,
    /// Seed of every random choice; samples of real time differ all the same.
    pub seed: u64,
    /// Attempts before giving up.
    pub attempts: u32,
    /// Time after which no further attempt begins.
    pub time_limit: Duration,
}

impl MeasureOptions {
    /// The defaults for a CPU: a seed from the system, five attempts, ten seconds.
    pub fn new(cpu: u32, geometry: Option<CacheGeometry>) -> Self {
        MeasureOptions {
            cpu,
            geometry,
            seed: fastrand::u64(..),
            attempts: 5,
            time_limit: Duration::from_secs(10),
        }
    }
}

/// Pages to judge an attempt by.
const JUDGED: usize = 2048;
/// Contrast without which no answer means anything.
const LEAST_CONTRAST: f64 = 0.5;
/// Share of judged pages that may stay unassigned.
const MOST_UNASSIGNED: f64 = 0.02;
/// Agreement between two runs below which neither is believed.
const LEAST_AGREEMENT: f64 = 0.98;
/// Associativity assumed where none is declared: that of most L2 caches now.
const ASSUMED_WAYS: u32 = 16;

/// Tells colors by timing which pages evict each other.
///
/// Holds the pages that make up its sets (about 12 MiB for 16 colors, 24 MiB
/// for 32) as long as it lives.
#[derive(Debug)]
pub struct MeasuredOracle {
    cpu: u32,
    count: ColorCount,
    lines: Lines,
    first: Palette<Hardware>,
    second: Palette<Hardware>,
    evidence: Evidence,
    discover: Duration,
    verify: Duration,
    /// Keeps the pages of all sets mapped.
    arena: Mapping,
}

/// What [`MeasuredOracle::survey`] found out about some pages.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// The color of each page.
    pub colors: Vec<Option<Color>>,
    /// Share of all pages to which two independent runs gave the same color, at
    /// line offsets that neither used for discovery.
    pub agreement: f64,
    /// Time for telling the colors.
    pub assign: Duration,
    /// Time for telling them twice more and comparing.
    pub verify: Duration,
}

impl MeasuredOracle {
    /// Finds the colors of the cache of `options.cpu`.
    ///
    /// # Errors
    /// [`ColorError::NotTrusted`] with what was seen if no attempt convinces;
    /// [`ColorError::NoTimeStamp`], [`ColorError::Unsupported`] or
    /// [`ColorError::OneColor`] where there is nothing to measure with or for;
    /// [`ColorError::Pin`] if the thread may not run on the CPU.
    pub fn discover(options: &MeasureOptions) -> Result<Self, ColorError> {
        let shape = shape(options.geometry.as_ref())?;
        if !has_rdtscp() {
            return Err(ColorError::NoTimeStamp);
        }
        let _pinned = Pinned::to(options.cpu)?;
        let mut rng = fastrand::Rng::with_seed(options.seed);
        let begin = Instant::now();
        let mut evidence = Evidence::default();
        loop {
            // Other frames each time: what spoiled one attempt may be theirs.
            let arena = Mapping::populated(shape.pages() + 1024, PageKind::Base)
                .map_err(|source| ColorError::System { action: "allocate pages", source })?;
            let mut oracle = Self::attempt(options.cpu, arena, shape, &mut rng);
            let judgement = oracle.judge(shape, &mut rng);
            let trusted = judgement.distrust.is_none();
            evidence.attempts.push(judgement);
            if trusted {
                oracle.evidence = evidence;
                return Ok(oracle);
            }
            if evidence.attempts.len() >= options.attempts as usize
                || begin.elapsed() > options.time_limit
            {
                return Err(ColorError::NotTrusted(evidence));
            }
        }
    }

    fn attempt(cpu: u32, arena: Mapping, shape: Shape, rng: &mut fastrand::Rng) -> Self {
        let begin = Instant::now();
        // SAFETY: the pages belong to `arena`, which lives as long as the
        // prober: both become fields of the same value, and a value moved does
        // not move its mapping.
        let mut prober = unsafe { Hardware::new(arena.iter().collect()) };
        let mut pages: Vec<PageId> = (0..arena.pages() as u32).map(PageId).collect();
        rng.shuffle(&mut pages);
        let lines = Lines::find(&mut prober, &pages, shape, rng);
        let mut run = |prober: Hardware, bases: &[u8]| {
            Palette::discover(prober, &pages, shape, &lines.masks, bases, rng.fork())
        };
        let first = run(prober.clone(), &lines.first);
        let discover = begin.elapsed();
        let second = run(prober, &lines.second);
        let count = ColorCount::new(first.colors() as u32);
        MeasuredOracle {
            cpu,
            count: count.unwrap_or(ColorCount::new(1).expect("one is not zero")),
            lines,
            first,
            second,
            evidence: Evidence::default(),
            discover,
            verify: begin.elapsed() - discover,
            arena,
        }
    }

    fn judge(&mut self, shape: Shape, rng: &mut fastrand::Rng) -> Attempt {
        let begin = Instant::now();
        let testers = [&self.first.tester, &self.second.tester];
        let contrast = testers.map(|t| t.contrast()).into_iter().fold(1.0, f64::min);
        let sum = |f: fn(&Palette<Hardware>) -> u64| (f(&self.first) + f(&self.second)) as f64;
        let disturbed = sum(|p| p.tester.disturbed) / sum(|p| p.tester.samples).max(1.0);
        let colors = (self.first.colors(), self.second.colors());
        let mut attempt = Attempt {
            contrast,
            line_masks: self.lines.masks.len(),
            expected_colors: shape.colors,
            colors,
            mixed: self.first.found.impure + self.second.found.impure,
            joined: self.first.found.joined + self.second.found.joined,
            disturbed,
            unassigned: 1.0,
            agreement: 0.0,
            distrust: None,
        };
        attempt.distrust = if contrast < LEAST_CONTRAST {
            Some(Distrust::NoContrast)
        } else if colors.0 < 2 || colors.1 < 2 {
            Some(Distrust::NoColors)
        } else if shape.colors.is_some_and(|expected| colors.0 != expected as usize) {
            Some(Distrust::ColorCount)
        } else if colors.0 != colors.1 {
            Some(Distrust::RunsDiffer)
        } else {
            let all = (0..self.arena.pages() as u32).map(PageId);
            let judged = rng.choose_multiple(all, JUDGED);
            let (a, b) = self.assign_held_out(&judged);
            attempt.agreement = agreement(&a, &b).among_all;
            attempt.unassigned =
                a.iter().filter(|c| c.is_none()).count() as f64 / a.len().max(1) as f64;
            if attempt.unassigned > MOST_UNASSIGNED {
                Some(Distrust::Unassigned)
            } else {
                (attempt.agreement < LEAST_AGREEMENT).then_some(Distrust::Disagreement)
            }
        };
        self.verify += begin.elapsed();
        attempt
    }

    /// Both runs' colors of the pages, at lines that neither discovered with.
    fn assign_held_out(&mut self, pages: &[PageId]) -> (Vec<Option<Color>>, Vec<Option<Color>>) {
        let lines = &self.lines;
        let run = |palette: &mut Palette<Hardware>, own: &[u8]| {
            palette.tester.use_lines(&lines.masks, &lines.held_out);
            let colors = palette.assign(pages);
            palette.tester.use_lines(&lines.masks, own);
            colors
        };
        (run(&mut self.first, &lines.first), run(&mut self.second, &lines.second))
    }

    /// What the attempts saw; the last is the one believed.
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// Time for finding the colors, in the attempt believed, without the second
    /// run and the comparison.
    pub fn discover_time(&self) -> Duration {
        self.discover
    }

    /// Time for the second run and for comparing both.
    pub fn verify_time(&self) -> Duration {
        self.verify
    }

    /// Tells the colors of `pages`, and by two independent runs at held-out
    /// lines how reliable that is.
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
            let colors = oracle.first.assign(ids);
            let assign = begin.elapsed();
            let (a, b) = oracle.assign_held_out(ids);
            let agreement = agreement(&a, &b).among_all;
            Survey { colors, agreement, assign, verify: begin.elapsed() - assign }
        };
        // SAFETY: the caller's contract is that of `with_pages`.
        Ok(unsafe { self.with_pages(pages, work) })
    }

    /// Runs `work` with `pages` in the tables of both runs.
    ///
    /// # Safety
    /// As [`ColorOracle::classify`].
    unsafe fn with_pages<T>(
        &mut self,
        pages: &[PageAddr],
        work: impl FnOnce(&mut Self, &[PageId]) -> T,
    ) -> T {
        let own = self.arena.pages();
        let ids: Vec<PageId> = (own as u32..(own + pages.len()) as u32).map(PageId).collect();
        for palette in [&mut self.first, &mut self.second] {
            // SAFETY: the pages are mapped and readable during this call (the
            // caller's contract) and are taken out again at its end.
            unsafe { palette.tester.prober.extend(pages) };
        }
        let result = work(self, &ids);
        for palette in [&mut self.first, &mut self.second] {
            palette.tester.prober.truncate(own);
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
        Ok(unsafe { self.with_pages(pages, |oracle, ids| oracle.first.assign(ids)) })
    }
}

fn shape(geometry: Option<&CacheGeometry>) -> Result<Shape, ColorError> {
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
fn has_rdtscp() -> bool {
    __cpuid(0x8000_0000).eax >= 0x8000_0001 && __cpuid(0x8000_0001).edx >> 27 & 1 == 1
}
