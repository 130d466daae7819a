// SPDX-License-Identifier: MIT OR Apache-2.0
//! The thread that places pages: what it does, and in which order.

mod exchange;
mod sample;

use std::{fs, ops::Range, time::Duration};

use huepage::{
    color::{Color, ColorOracle, Method},
    mapping::PageAddr,
    place::{Live, Wish},
    proc::numeric_entries,
    run::{Config, Way},
    units::Bytes,
    with_causes,
};
use huepage_loaded::{
    budget::{Budget, Idle, START},
    heap, oracle,
    pages::{address, worth_it},
    session::{self, Stop},
    table::Table,
    tally::{Discovery, SAMPLES, Tally},
    thread::{cpu_time, sleep},
};

use crate::{
    kernel_data::KernelData,
    pages::{LOOK, Pages},
};

/// Pages exchanged under one registration: some hundred microseconds, in which a thread
/// that touches new memory there waits for this thread.
const BATCH: usize = 64;
/// Old frames that are classified, so that the report can give their colors.
const TOLD: u64 = 1024;
/// Old frames that are classified at a time.
const TOLD_AT_ONCE: usize = 512;

/// Runs until the program ends, or nothing can be placed any more.
pub fn run() {
    session::run(Way::Live, place, |_| {});
}

struct Placer<'a> {
    config: &'a Config,
    tally: &'a mut Tally,
    oracle: Box<dyn ColorOracle>,
    live: Live,
    table: Table,
    pages: Pages,
    kernel_data: KernelData,
    budget: Budget,
    rng: fastrand::Rng,
    sampled: Duration,
}

fn place(config: &Config, tally: &mut Tally) -> Result<(), Stop> {
    if sleep(Duration::from_millis(config.delay.into())) {
        return Ok(());
    }
    let mut pages = Pages::open(config.heap_only, config.split_huge)?;
    tally.write(true);
    if !grown(config, &mut pages, tally)? {
        return Ok(());
    }
    // A program that gets a part of the cache must not use the rest meanwhile. For
    // other programs the thread waits until the budget covers the start, so that a
    // program that ends before has lost nothing.
    let at_once = config.colors.is_some() || config.restless;
    let mut budget = Budget { share: config.budget, allowance: Duration::ZERO };
    if at_once {
        budget.allowance = START;
    } else if sleep(budget.pause(START, tally.elapsed())) {
        return Ok(());
    }
    let kernel_data = KernelData::open().map_err(|e| format!("/proc/self/mem: {e}"))?;
    let Discovery { oracle, colors, time } =
        tally.discover(config, |_| oracle::open(config, true))?;
    // A palette is made once for all programs, so its time is not part of the budget.
    budget.allowance += time;
    let live = Live::new(oracle.count()).map_err(|e| with_causes(&e))?;
    let mut placer = Placer {
        config,
        tally,
        oracle,
        live,
        table: Table::new(config.order, colors, config.geometry.ways()),
        pages,
        kernel_data,
        budget,
        rng: fastrand::Rng::with_seed(huepage::seed()),
        sampled: Duration::ZERO,
    };
    placer.run()
}

/// Waits until the program is worth placing; `false` if it ends before.
fn grown(config: &Config, pages: &mut Pages, tally: &mut Tally) -> Result<bool, Stop> {
    let worth_it = worth_it(config);
    let mut idle = Idle::default();
    loop {
        heap::enough()?;
        let (count, huge) = pages.count()?;
        tally.report.pages_seen = count as u64;
        tally.report.left_alone.huge = huge as u64;
        if count >= worth_it {
            return Ok(true);
        }
        if sleep(idle.pause()) {
            return Ok(false);
        }
    }
}

impl Placer<'_> {
    fn run(&mut self) -> Result<(), Stop> {
        let mut idle = Idle::default();
        loop {
            let moves = self.tally.report.moves;
            if self.config.restless {
                self.table.clear();
            }
            if !self.kept_away() && self.round()? {
                return Ok(());
            }
            self.tally.write(false);
            if self.tally.report.moves != moves {
                idle = Idle::default();
            }
            let pause = match self.config.restless {
                true => Duration::from_micros(50),
                false => idle.pause().max(self.due()),
            };
            if sleep(pause) {
                return Ok(());
            }
        }
    }

    /// How long the budget requires to pause.
    fn due(&self) -> Duration {
        self.budget.pause(cpu_time(), self.tally.elapsed())
    }

    /// While another process traces this one, or the program has a userfaultfd of its
    /// own, no page may be taken out.
    fn kept_away(&self) -> bool {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
        if tracer.is_some_and(|pid| pid.trim() != "0") {
            return true;
        }
        let descriptors = numeric_entries(c"/proc/self/fd").unwrap_or_default();
        let is_userfaultfd = |descriptor: &u32| {
            fs::read_link(format!("/proc/self/fd/{descriptor}"))
                .is_ok_and(|link| link.as_os_str() == "anon_inode:[userfaultfd]")
        };
        descriptors.iter().any(is_userfaultfd)
    }

    /// Looks at all memory once; returns whether the program ends.
    fn round(&mut self) -> Result<bool, Stop> {
        heap::enough()?;
        let areas = self.pages.areas()?;
        self.kernel_data.refresh();
        self.live.review(&self.pages.pagemap);
        let left = &mut self.tally.report.left_alone;
        *left = Default::default();
        let mut seen = 0;
        let mut end = 0;
        let page = rustix::param::page_size();
        for area in &areas {
            let pages = area.start / page..area.end / page;
            self.table.keep(end, pages.start, |_| false);
            end = pages.end;
            for first in pages.clone().step_by(LOOK) {
                let part = first..(first + LOOK).min(pages.end);
                seen += self.look(area, part)?;
                // A round may take long, and the program may end in it.
                self.note(seen.max(self.tally.report.pages_seen));
                self.tally.write(false);
                if sleep(self.due()) {
                    return Ok(true);
                }
            }
        }
        self.table.keep(end, usize::MAX / page, |_| false);
        self.tell(1)?;
        self.note(seen);
        let pages = (self.live.held() + self.table.size() / page) as u64;
        self.tally.report.memory = Bytes(pages * page as u64 + heap::used() as u64);
        if self.tally.elapsed() >= self.sampled + SAMPLES {
            self.sampled = self.tally.elapsed();
            self.sample(&areas)?;
        }
        Ok(false)
    }

    /// Records the results so far.
    fn note(&mut self, seen: u64) {
        let report = &mut self.tally.report;
        report.pages_seen = seen;
        report.pages_placed = self.table.placed() as u64;
    }

    /// Places the present pages of a part of a mapping that are not placed; returns how
    /// many pages can be placed there.
    fn look(&mut self, area: &Range<usize>, part: Range<usize>) -> Result<u64, Stop> {
        let there = self.pages.there(area, part.clone(), &mut self.tally.report.left_alone)?;
        let is_there = |page: usize| there.binary_search_by_key(&page, |at| at.0).is_ok();
        self.table.keep(part.start, part.end, is_there);
        for &(page, state) in &there {
            if self.table.color(page).is_some()
                && self.table.other_frame(page, state.pfn().map(|pfn| pfn.0))
            {
                self.table.forget(page);
                self.tally.report.drifted += 1;
            }
        }
        self.table.even_out(part.start, part.end);
        let new: Vec<usize> =
            there.iter().map(|at| at.0).filter(|&page| self.table.color(page).is_none()).collect();
        for (index, batch) in new.chunks(BATCH).enumerate() {
            heap::enough()?;
            self.place_batch(area, batch, new.len() - index * BATCH)?;
            self.tell(TOLD_AT_ONCE)?;
            if sleep(self.due()) {
                break;
            }
        }
        Ok(there.len() as u64)
    }

    /// Places some pages of a mapping; `ahead` such pages are left, these included.
    fn place_batch(
        &mut self,
        area: &Range<usize>,
        pages: &[usize],
        ahead: usize,
    ) -> Result<(), Stop> {
        let colors = self.present_colors(pages);
        let at = |page: usize| pages.iter().position(|p| *p == page).and_then(|i| colors[i]);
        let wished = self.table.wish(pages, at);
        let mut wishes: Vec<Wish> = Vec::with_capacity(pages.len());
        for ((&page, color), present) in pages.iter().zip(wished).zip(&colors) {
            if *present == Some(color) {
                continue;
            }
            if self.kernel_data.is_in(page * rustix::param::page_size()) {
                self.tally.report.left_alone.kernel_data += 1;
                self.table.forget(page);
                continue;
            }
            wishes.push(Wish { page: address(page), color });
        }
        self.stock_up(&wishes, ahead)?;
        let keep = self.tally.report.old_frames_told < TOLD && !self.config.restless;
        self.exchange(area, wishes, keep)
    }

    /// The present colors of pages, if they can be found without touching the pages.
    fn present_colors(&mut self, pages: &[usize]) -> Vec<Option<Color>> {
        if self.oracle.method() != Method::FrameNumber {
            return vec![None; pages.len()];
        }
        let pages: Vec<PageAddr> = pages.iter().map(|&page| address(page)).collect();
        // SAFETY: by frame number nothing is read but the pagemap.
        unsafe { self.oracle.classify(&pages) }.unwrap_or_else(|_| vec![None; pages.len()])
    }
}
