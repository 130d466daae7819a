// SPDX-License-Identifier: MIT OR Apache-2.0
//! The thread that fills memory with frames of the right colors, at the request of a
//! thread of the program.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use huepage::{
    color::{Color, ColorOracle, Method},
    mapping::{PageAddr, page_size},
    place::{Fate, FirstFrames, Mechanism, PlaceError, Wish},
    run::{Config, Way},
    units::Bytes,
    with_causes,
};
use huepage_loaded::{
    budget::{Budget, START},
    heap, oracle,
    pages::{address, number, of_each_color},
    session::{self, Stop},
    table::Table,
    tally::{Discovery, SAMPLE, SAMPLES, Tally},
    thread::cpu_time,
};

use crate::{arena, desk, residency};

/// Frames drawn and classified at a time: classifying takes some 17 ms, however few
/// pages it is about, and 2 µs for each.
const DRAWN: usize = 1024;
/// Frames in stock at most, in addition to two per cent of the program's pages: 12 MiB,
/// so that frames can be drawn when only one color has run out.
const STOCK: usize = 3072;
/// The same if only some colors are used: frames that are given back too early are
/// given by the kernel again.
const STOCK_OF_PART: usize = 3584;
/// If fewer are in stock after a request, more are drawn while the program goes on.
const LOW: usize = 512;
/// Draws for one request: if only some colors are used, more draws are needed.
const DRAWS: usize = 16;
/// Times that opening a palette is tried before it counts as gone: a busy neighbor can
/// spoil the looks at it.
const TRIES: usize = 3;
/// Memory of this many caches is filled at any cost of CPU time: a program that fits
/// into one cache gains most, and its memory cannot be placed later.
const FREE: usize = 2;
/// Placed pages that may be untouched, in caches, in addition to two per cent of all
/// placed pages: programs allocate before they write.
const AHEAD: usize = 2;
/// Pages for both at least: malloc takes memory for itself, in pieces of some hundred
/// pages, which is more than a small cache has.
const LEAST: usize = 1024;
/// Pages filled, or else the time, between two checks whether they are touched.
const LOOK: u64 = 256;
const LOOKS: Duration = Duration::from_secs(1);

/// Up to this many bytes of memory, pages are counted after each request; of more
/// memory, only when the report is due.
const SMALL: usize = 64 << 20;

/// Runs until the program ends.
pub fn run() {
    /// However this ends, no thread may wait for it any more.
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            desk::leave();
        }
    }
    let leave = Leave;
    desk::take_seat();
    let placing = |config: &Config, tally: &mut Tally| {
        let _leave = leave;
        place(config, tally)
    };
    session::run(Way::Heap, placing, note_unplaced);
}

fn note_unplaced(tally: &mut Tally) {
    arena::note_unplaced(&mut tally.report.unplaced);
}

struct Placer<'a> {
    config: &'a Config,
    tally: &'a mut Tally,
    oracle: Box<dyn ColorOracle>,
    ahead: FirstFrames,
    table: Table,
    /// Pages of the cache, of which a part may be used.
    cache: usize,
    budget: Budget,
    sampled: Option<Instant>,
    saving: Saving,
    rng: fastrand::Rng,
}

/// Whether too much placed memory is untouched, so that no more is placed.
struct Saving {
    on: bool,
    looked: Instant,
    /// Pages that had been filled at that time.
    filled: u64,
}

fn place(config: &Config, tally: &mut Tally) -> Result<(), Stop> {
    tally.write(true);
    let Some(first) = desk::next() else { return Ok(()) };
    let Discovery { oracle, colors, time } =
        tally.discover(config, |tally| open(config, tally, &first))?;
    let count = oracle.count();
    let mechanism = config.remap.then_some(Mechanism::Remap);
    let ahead = FirstFrames::new(count, mechanism).map_err(|e| with_causes(&e))?;
    let ways = config.geometry.ways();
    let mut placer = Placer {
        config,
        tally,
        oracle,
        ahead,
        table: Table::new(config.order, colors, ways),
        cache: (count.get() * ways) as usize,
        budget: Budget { share: config.budget, allowance: START + time },
        sampled: None,
        saving: Saving { on: false, looked: Instant::now(), filled: 0 },
        rng: fastrand::Rng::with_seed(huepage::seed()),
    };
    placer.serve(first)
}

/// Opens the palette. If it is gone or not usable any more, the request is answered
/// before a new one is made, since that takes too long to wait for.
fn open(
    config: &Config,
    tally: &mut Tally,
    first: &Range<usize>,
) -> Result<Box<dyn ColorOracle>, Stop> {
    if let Some(oracle) = (0..TRIES).find_map(|_| oracle::open(config, false).ok()) {
        return Ok(oracle);
    }
    if desk::take(first) {
        arena::note_late(first.len());
        desk::done();
    }
    // The program may end before the palette is made.
    note_unplaced(tally);
    tally.write(true);
    oracle::open(config, true)
}

impl Placer<'_> {
    /// Fills the requested ranges, until the program ends.
    fn serve(&mut self, first: Range<usize>) -> Result<(), Stop> {
        let mut next = Some(first);
        while let Some(range) = next {
            heap::enough()?;
            self.fill(range)?;
            if !self.over_budget() && self.ahead.held() < LOW {
                self.draw(&[])?;
            }
            self.note();
            self.tally.write(false);
            next = desk::next();
        }
        note_unplaced(self.tally);
        Ok(())
    }

    /// Whether both the memory that is filled at any cost and the CPU time of the
    /// budget are used up.
    fn over_budget(&self) -> bool {
        self.tally.report.moves as usize >= (FREE * self.cache).max(LEAST)
            && !self.budget.pause(cpu_time(), self.tally.elapsed()).is_zero()
    }

    /// Whether too many of the placed pages are still untouched, by a sample.
    fn saves(&mut self) -> bool {
        let (filled, placed) = (self.tally.report.moves, self.table.placed());
        let over = self.saving.on && self.saving.looked.elapsed() >= LOOKS;
        let allowed = (AHEAD * self.cache).max(LEAST) + placed / 50;
        if placed <= allowed {
            self.saving.on = false;
        } else if over || filled >= self.saving.filled + LOOK {
            let drawn: Vec<usize> =
                (0..SAMPLE).filter_map(|_| self.table.draw(&mut self.rng)).map(|at| at.0).collect();
            let untouched = drawn.iter().filter(|&&page| residency::is_untouched(page)).count();
            self.saving = Saving {
                on: untouched * placed > allowed * drawn.len(),
                looked: Instant::now(),
                filled,
            };
        }
        self.saving.on
    }

    fn fill(&mut self, range: Range<usize>) -> Result<(), Stop> {
        // Pages that were given back, or were never present.
        let missing = residency::pages(range.clone(), false);
        missing.iter().for_each(|&page| self.table.forget(page));
        let (over_budget, saves) = (self.over_budget(), self.saves());
        let unplaced = &mut self.tally.report.unplaced;
        let mut leave = None;
        if over_budget {
            leave = Some(&mut unplaced.over_budget);
        } else if saves {
            leave = Some(&mut unplaced.untouched);
        }
        if let Some(count) = leave {
            if desk::take(&range) {
                *count += missing.len() as u64;
                desk::done();
            }
            return Ok(());
        }
        let colors = self.table.wish(&missing, |_| None);
        let wishes: Vec<Wish> = missing
            .iter()
            .zip(colors)
            .map(|(&page, color)| Wish { page: address(page), color })
            .collect();
        let stocked = self.stock_up(&wishes);
        if stocked.is_err() || !desk::take(&range) {
            missing.iter().for_each(|&page| self.table.forget(page));
            return stocked;
        }
        // SAFETY: memory of the arena, readable and writable, that no thread accesses
        // until the waiting thread is woken.
        let filled = unsafe { self.ahead.fill(&wishes) };
        let result = self.note_filled(&wishes, filled);
        if result.is_ok() {
            self.sample(&wishes);
        }
        desk::done();
        result
    }

    fn note_filled(
        &mut self,
        wishes: &[Wish],
        filled: Result<Vec<Fate>, PlaceError>,
    ) -> Result<(), Stop> {
        let report = &mut self.tally.report;
        let fates = match filled {
            Ok(fates) => fates,
            Err(error @ PlaceError::OtherProcess) => return Err(with_causes(&error)),
            // Too many mappings, or no memory for page tables: other requests may
            // succeed.
            Err(_) => vec![Fate::Refused; wishes.len()],
        };
        for (wish, fate) in wishes.iter().zip(fates) {
            match fate {
                Fate::Placed => report.moves += 1,
                Fate::Short => report.unplaced.short += 1,
                _ => report.unplaced.refused += 1,
            }
            if fate != Fate::Placed {
                self.table.forget(number(wish.page));
            }
        }
        Ok(())
    }

    /// Classifies some of the pages again that the program is about to get.
    fn sample(&mut self, wishes: &[Wish]) {
        let due = self.sampled.is_none_or(|sampled| sampled.elapsed() >= SAMPLES);
        let placed = |wish: &&Wish| self.table.color(number(wish.page)) == Some(wish.color);
        let step = wishes.len().div_ceil(SAMPLE).max(1);
        let drawn: Vec<&Wish> = wishes.iter().step_by(step).filter(placed).collect();
        if !due || drawn.is_empty() || self.oracle.method() == Method::FrameNumber {
            return;
        }
        self.sampled = Some(Instant::now());
        let pages: Vec<PageAddr> = drawn.iter().map(|wish| wish.page).collect();
        // SAFETY: pages that were just filled; no other thread accesses them yet.
        let Ok(told) = (unsafe { self.oracle.classify(&pages) }) else { return };
        for (wish, told) in drawn.iter().zip(told) {
            if let Some(told) = told {
                self.tally.verify(told == wish.color);
            }
        }
    }

    /// Draws frames until each wish finds one, at most [`DRAWS`] times.
    fn stock_up(&mut self, wishes: &[Wish]) -> Result<(), Stop> {
        let needed = of_each_color(wishes, self.oracle.count());
        for _ in 0..DRAWS {
            let counts = (0..).zip(&needed);
            let mut short = counts.filter(|&(c, &n)| self.ahead.stock(Color(c)) < n);
            if short.next().is_none() {
                break;
            }
            self.draw(&needed)?;
        }
        Ok(())
    }

    /// Draws frames as far as there is room in stock. If there is none, surplus frames
    /// are released first; until now they were kept, so that the kernel did not give
    /// the same frames again.
    fn draw(&mut self, needed: &[usize]) -> Result<(), Stop> {
        let part = self.config.colors.is_some();
        let stock = if part { STOCK_OF_PART } else { STOCK };
        let limit = stock + self.table.placed() / 50 + needed.iter().sum::<usize>();
        if self.ahead.held() + DRAWN > limit {
            for color in self.oracle.count().iter() {
                let needed = needed.get(color.index()).copied().unwrap_or(0);
                let surplus = self.table.surplus(color, self.ahead.stock(color), needed);
                self.ahead.release(color, surplus);
            }
        }
        let room = limit.saturating_sub(self.ahead.held()).min(DRAWN);
        let drawn = self.ahead.draw(room, &mut *self.oracle).map_err(|e| with_causes(&e))?;
        self.tally.report.frames_drawn += drawn as u64;
        Ok(())
    }

    /// Records counts for the report. At the end of the program there is nothing left
    /// to count, since malloc gives all memory back by then.
    fn note(&mut self) {
        let page = rustix::param::page_size();
        let used = arena::used_part();
        if used.len() < SMALL || self.tally.due() {
            let there = residency::pages(used.clone(), true);
            let is_there = |page: usize| there.binary_search(&page).is_ok();
            self.table.keep(used.start / page, used.end / page, is_there);
            self.tally.report.pages_seen = there.len() as u64;
            self.tally.report.pages_placed = self.table.placed() as u64;
        }
        note_unplaced(self.tally);
        let pages = (self.ahead.held() + self.table.size() / page) as u64;
        self.tally.report.memory = Bytes(pages * page_size().0 + heap::used() as u64);
    }
}
