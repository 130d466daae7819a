// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages of known color, which the process keeps: a page given back to the kernel may
//! return with another frame.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use rustix::io::Errno;

use super::{
    Mechanism, PlaceError, Policy, Region,
    arena::{Arena, Owner, Space, keep_from_children, page_states, release},
    first_touch::{FirstTouch, Waiting},
    mechanism,
    mover::{MoveRun, Mover, Progress, carry, runs},
    policy::histogram,
    region::{Colors, Fixed},
    slots::Slots,
};
use crate::{
    color::{Color, ColorCount, ColorOracle},
    frames::PageState,
    mapping::{Mapping, PageAddr, page_size},
    units::Bytes,
};

/// Classified pages, ready to be placed.
///
/// A pool belongs to one process: in a forked child it is empty, and every operation
/// fails with [`PlaceError::OtherProcess`].
pub struct Pool {
    pub(super) id: u64,
    pub(super) count: ColorCount,
    pub(super) slots: Slots,
    pub(super) arenas: Vec<Arc<Arena>>,
    pub(super) mover: Arc<dyn Mover>,
    pub(super) owner: Owner,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool")
            .field("count", &self.count)
            .field("pages", &self.pages())
            .field("mechanism", &self.mechanism())
            .finish()
    }
}

/// A region that [`Pool::give_back`] did not take, and why.
#[derive(Debug)]
pub struct NotGivenBack {
    /// The region, as it was.
    pub region: Box<Region>,
    /// Why it was not taken.
    pub error: PlaceError,
}

impl std::fmt::Display for NotGivenBack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for NotGivenBack {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}

impl From<NotGivenBack> for PlaceError {
    /// Drops the region: its pages go to the kernel.
    fn from(not: NotGivenBack) -> Self {
        not.error
    }
}

/// What [`Pool::reclassify`] found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reclassified {
    /// Pages whose color is as noted.
    pub same: usize,
    /// Pages of another color, noted now.
    pub changed: usize,
    /// Pages whose color cannot be found, given back to the kernel.
    pub released: usize,
}

impl Pool {
    /// A pool of pages whose colors the caller knows, one label per page. Pages without
    /// a label are given back to the kernel, as are pages that were swapped out
    /// meanwhile, since they lost their frame and with it their color.
    ///
    /// `mechanism` forces how pages are moved; `None` takes the best there is.
    ///
    /// # Errors
    /// [`PlaceError::LabelCount`]; [`PlaceError::Policy`] for a label outside
    /// `count`; [`PlaceError::PageMissing`] for a label of a page that was never
    /// written; [`PlaceError::NeedsMove`] if the mechanism asked for is missing.
    pub fn from_parts(
        mapping: Mapping,
        labels: &[Option<Color>],
        count: ColorCount,
        mechanism: Option<Mechanism>,
    ) -> Result<Self, PlaceError> {
        if labels.len() != mapping.pages() {
            return Err(PlaceError::LabelCount { labels: labels.len(), pages: mapping.pages() });
        }
        let known: Vec<Color> = labels.iter().flatten().copied().collect();
        if !known.is_empty() {
            Policy::Colors(known).check(count)?;
        }
        let states = page_states(mapping.page(0), mapping.pages())?;
        // If a slot that is noted as full were empty, copying from it would wait for a
        // page that only this thread could put in.
        let mut labelled = labels.iter().zip(&states);
        let missing = |(label, state): (&Option<Color>, &PageState)| {
            label.is_some() && !state.present() && !state.swapped()
        };
        if let Some(page) = labelled.position(missing) {
            return Err(PlaceError::PageMissing { page });
        }
        let mut pool = Pool::new(count, mechanism)?;
        let arena = pool.adopt(mapping)?;
        let mut surplus = Vec::new();
        for ((page, label), state) in arena.mapping().iter().zip(labels).zip(states) {
            match label.filter(|_| state.present()) {
                Some(color) => pool.slots.put(page, color, true),
                None => surplus.push(page),
            }
        }
        pool.release(surplus)?;
        Ok(pool)
    }

    pub(super) fn new(count: ColorCount, mechanism: Option<Mechanism>) -> Result<Self, PlaceError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Ok(Pool {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            count,
            slots: Slots::new(count),
            arenas: Vec::new(),
            mover: mechanism::open(mechanism)?.into(),
            owner: Owner::new(),
        })
    }

    pub(super) fn adopt(&mut self, mapping: Mapping) -> Result<Arc<Arena>, PlaceError> {
        let arena = Arc::new(Arena::new(mapping)?);
        self.arenas.push(Arc::clone(&arena));
        Ok(arena)
    }

    /// How many colors the pool's pages are sorted into.
    pub fn count(&self) -> ColorCount {
        self.count
    }

    /// Number of pages in the pool.
    pub fn pages(&self) -> usize {
        self.slots.held()
    }

    /// Number of pages of one color in the pool; zero for a color that does
    /// not exist.
    pub fn pages_of(&self, color: Color) -> usize {
        if color.0 < self.count.get() { self.slots.held_of(color) } else { 0 }
    }

    /// Whether the region is one of this pool's.
    pub fn owns(&self, region: &Region) -> bool {
        region.pool == self.id
    }

    pub(super) fn check_owns(&self, region: &Region) -> Result<(), PlaceError> {
        if self.owns(region) { Ok(()) } else { Err(PlaceError::ForeignRegion) }
    }

    /// How pages are moved.
    pub fn mechanism(&self) -> Mechanism {
        self.mover.mechanism()
    }

    /// Zeroed memory of at least `size` bytes placed by `policy`. After
    /// `mlockall(MCL_FUTURE)` it is locked, but for [`Policy::Sequence`].
    ///
    /// # Errors
    /// Before anything is moved: [`PlaceError::NoBytes`],
    /// [`PlaceError::Policy`], [`PlaceError::PoolTooSmall`],
    /// [`PlaceError::PoolShort`], [`PlaceError::MappingLimit`]; for [`Policy::Sequence`]
    /// [`PlaceError::NeedsPrivilege`] or [`PlaceError::NeedsMove`].
    /// [`PlaceError::System`] if the kernel refuses on the way; the pages then
    /// are the pool's again.
    pub fn allocate(&mut self, size: Bytes, policy: &Policy) -> Result<Region, PlaceError> {
        self.owner.check()?;
        policy.check(self.count)?;
        if size.0 == 0 {
            return Err(PlaceError::NoBytes);
        }
        // First, since what follows takes memory for each page asked for.
        let (wanted, held) = (size.pages(page_size()), self.slots.held());
        if wanted > held {
            return Err(PlaceError::PoolTooSmall { wanted, held });
        }
        let len = usize::try_from(size.0)
            .map_err(|_| PlaceError::errno("reserve address space")(Errno::NOMEM))?;
        let space = Space::reserve(wanted, self.count)?;
        let colors = policy.colors(space.number(), space.pages(), self.count);
        self.check_stock(&colors)?;
        let colors = if *policy == Policy::Sequence {
            self.follow(&space, &colors)?
        } else {
            self.fill(&space, &colors)?;
            if let Err(error) = space.lock_if_asked_for() {
                let _ = space.unlock();
                self.absorb(space.iter().zip(colors));
                return Err(error);
            }
            Colors::Fixed(Fixed::new(colors.into_iter().map(Some).collect()))
        };
        Ok(Region { colors, space, len, pool: self.id, owner: self.owner })
    }

    fn check_stock(&self, colors: &[Color]) -> Result<(), PlaceError> {
        for (color, wanted) in self.count.iter().zip(histogram(colors, self.count)) {
            let held = self.slots.held_of(color);
            if wanted > held {
                return Err(PlaceError::PoolShort { color, wanted, held });
            }
        }
        Ok(())
    }

    /// Takes a page of a color out of the books, zeroed.
    pub(super) fn take_zeroed(&mut self, color: Color) -> Option<PageAddr> {
        let (slot, dirty) = self.slots.take(color)?;
        if dirty {
            // SAFETY: the slot is the pool's and holds a page; no other code refers to
            // it.
            unsafe { slot.as_ptr().write_bytes(0, rustix::param::page_size()) };
        }
        Some(slot)
    }

    /// Takes a page of each color, zeroed. The stock must suffice.
    fn pick(&mut self, colors: &[Color]) -> Vec<PageAddr> {
        let take = |&color| self.take_zeroed(color).expect("the stock was checked");
        colors.iter().map(take).collect()
    }

    fn follow(&mut self, space: &Space, colors: &[Color]) -> Result<Colors, PlaceError> {
        let uffd = FirstTouch::open()?;
        let picked = self.pick(colors);
        let queue: Vec<Waiting> =
            picked.iter().zip(colors).map(|(&slot, &color)| Waiting { slot, color }).collect();
        FirstTouch::start(uffd, space, queue.clone(), self.arenas.clone())
            .map(Colors::FirstTouch)
            .inspect_err(|_| {
                for waiting in queue {
                    self.slots.put(waiting.slot, waiting.color, false);
                }
            })
    }

    fn fill(&mut self, space: &Space, colors: &[Color]) -> Result<(), PlaceError> {
        let picked = self.pick(colors);
        let result = self.fill_from(space, colors, &picked);
        let moved = result.as_ref().map_or_else(|(done, _)| *done, |()| space.pages());
        for slot in &picked[..moved] {
            self.slots.put_empty(*slot);
        }
        for (slot, color) in picked.iter().zip(colors).skip(moved) {
            self.slots.put(*slot, *color, false);
        }
        result.map_err(|(done, error)| {
            self.absorb(space.iter().zip(colors.iter().copied()).take(done));
            error
        })
    }

    /// On error also how many pages have left the pool.
    fn fill_from(
        &mut self,
        space: &Space,
        colors: &[Color],
        picked: &[PageAddr],
    ) -> Result<(), (usize, PlaceError)> {
        let runs = runs(space.iter().zip(picked.iter().copied()));
        self.mover.allow(runs.len()).map_err(|e| (0, e))?;
        let (start, pages) = (space.page(0), space.pages());
        // SAFETY: no other code has the address of the space yet.
        unsafe { self.mover.open(start, pages) }.map_err(|e| (0, e))?;
        let mut done = 0;
        let mut failed = None;
        for run in runs {
            // SAFETY: slots of the pool, no longer counted in it, into untouched memory
            // whose address no other code has.
            let progress = unsafe { self.carry_or_replace(run, &colors[done..]) };
            done += progress.pages;
            if let Some(errno) = progress.stop {
                failed = Some((done, PlaceError::errno("move pages into the region")(errno)));
                break;
            }
        }
        self.mover.close(start, pages);
        if let Some(failed) = failed {
            return Err(failed);
        }
        if self.mechanism() == Mechanism::Remap {
            space.let_children_inherit().map_err(|e| (done, e))?;
        }
        Ok(())
    }

    /// Moves a run. A page that cannot be moved (pinned, deduplicated, or discarded) is
    /// replaced by another one of its color.
    ///
    /// # Safety
    /// As [`Mover::move_run`].
    pub(super) unsafe fn carry_or_replace(&mut self, run: MoveRun, colors: &[Color]) -> Progress {
        let mut done = 0;
        loop {
            // SAFETY: the caller's contract.
            let progress = unsafe { carry(&*self.mover, run.after(done)) };
            done += progress.pages;
            let mut stop = progress.stop;
            let stuck = run.src.nth(done.min(run.pages - 1));
            while let Some(Errno::BUSY | Errno::NOENT) = stop {
                let Some(slot) = self.take_zeroed(colors[done]) else { break };
                let single = MoveRun { dst: run.dst.nth(done), src: slot, pages: 1 };
                // SAFETY: the caller's contract, for another page of the pool.
                stop = unsafe { carry(&*self.mover, single) }.stop;
                if stop.is_none() {
                    self.slots.put_empty(slot);
                    // The slot is empty from now on; the caller notes that.
                    let _ = release(stuck, 1);
                    done += 1;
                } else {
                    self.slots.put(slot, colors[done], false);
                    break;
                }
            }
            if stop.is_some() || done == run.pages {
                return Progress { pages: done, stop };
            }
        }
    }

    /// Takes a region's pages back. Its contents are erased before the pages are placed
    /// again. Pages whose color is unknown, and pages shared with a child since a fork,
    /// go to the kernel.
    ///
    /// # Errors
    /// The region as it was, with [`PlaceError::ForeignRegion`],
    /// [`PlaceError::OtherProcess`] or [`PlaceError::MappingLimit`].
    pub fn give_back(&mut self, mut region: Region) -> Result<(), NotGivenBack> {
        match self.take_back(&mut region) {
            Ok(()) => Ok(()),
            Err(error) => Err(NotGivenBack { region: Box::new(region), error }),
        }
    }

    fn take_back(&mut self, region: &mut Region) -> Result<(), PlaceError> {
        self.settle(region)?;
        let color = |(index, page)| Some((page, region.color(index)?));
        let pages: Vec<_> = region.space.iter().enumerate().filter_map(color).collect();
        self.mover.allow(runs(pages.iter().map(|&(page, _)| (page, page))).len())?;
        region.space.unlock()?;
        self.absorb(pages.into_iter());
        Ok(())
    }

    /// Ends following first touch in a region of [`Policy::Sequence`]: pages touched
    /// later get a frame that the kernel chooses, and the pages that waited return to
    /// the pool. Does nothing to other regions.
    ///
    /// # Errors
    /// [`PlaceError::ForeignRegion`]; [`PlaceError::OtherProcess`].
    pub fn settle(&mut self, region: &mut Region) -> Result<(), PlaceError> {
        self.owner.check()?;
        self.check_owns(region)?;
        let (empty, waiting) = region.take_settled()?;
        for slot in empty {
            self.put_released(slot);
        }
        for Waiting { slot, color } in waiting {
            self.slots.put(slot, color, false);
        }
        Ok(())
    }

    /// Moves pages into empty slots and notes them.
    fn absorb(&mut self, pages: impl Iterator<Item = (PageAddr, Color)>) {
        let mut pages: Vec<_> = pages.collect();
        pages.truncate(self.slots.empty());
        let slots = self.slots.take_empty(pages.len()).unwrap_or_default();
        let pairs = slots.iter().copied().zip(pages.iter().map(|&(page, _)| page));
        let mut done = 0;
        for run in runs(pairs) {
            let mut end = 0;
            while end < run.pages {
                let part = run.after(end);
                // SAFETY: the owner has given up the region; the slots are the pool's
                // and empty.
                let moved = unsafe { self.carry_in(part) };
                for i in 0..moved {
                    self.slots.put(part.dst.nth(i), pages[done + end + i].1, true);
                }
                if moved < part.pages {
                    // This page stays behind; the rest is tried again.
                    self.put_released(part.dst.nth(moved));
                }
                end += moved + 1;
            }
            done += run.pages;
        }
    }

    /// # Safety
    /// As [`Mover::move_run`]; the destination is empty slots of this pool.
    unsafe fn carry_in(&self, run: MoveRun) -> usize {
        // SAFETY: no thread touches empty slots.
        if unsafe { self.mover.open(run.dst, run.pages) }.is_err() {
            return 0;
        }
        // SAFETY: the caller's contract.
        let moved = unsafe { carry(&*self.mover, run) }.pages;
        self.mover.close(run.dst, run.pages);
        if self.mechanism() == Mechanism::Remap && moved > 0 {
            // Pages moved by mremap bring the region's inheritance along. If this
            // fails, children inherit the pages, and these can then not be moved.
            let _ = keep_from_children(run.dst, moved);
        }
        moved
    }

    /// Notes an empty slot, after discarding any page in it.
    pub(super) fn put_released(&mut self, slot: PageAddr) {
        if release(slot, 1).is_ok() {
            self.slots.put_empty(slot);
        }
    }

    /// Gives pages in slots back to the kernel.
    pub(super) fn release(&mut self, pages: Vec<PageAddr>) -> Result<(), PlaceError> {
        for run in runs(pages.iter().map(|&page| (page, page))) {
            release(run.dst, run.pages)?;
        }
        for page in pages {
            self.slots.put_empty(page);
        }
        Ok(())
    }

    /// Classifies every page in the pool again.
    ///
    /// # Errors
    /// [`PlaceError::Color`] if the oracle gives no trusted answer; then nothing has
    /// changed. [`PlaceError::OtherProcess`].
    pub fn reclassify(&mut self, oracle: &mut dyn ColorOracle) -> Result<Reclassified, PlaceError> {
        self.owner.check()?;
        let noted = self.slots.pages();
        let pages: Vec<PageAddr> = noted.keys().copied().collect();
        // SAFETY: the pool's pages are mapped, and no other code uses them.
        let told = unsafe { oracle.classify(&pages) }?;
        let mut found = Reclassified { same: 0, changed: 0, released: 0 };
        let mut lost = Vec::new();
        for ((page, old), new) in noted.into_iter().zip(told) {
            match new.filter(|color| color.0 < self.count.get()) {
                Some(new) if new == old => found.same += 1,
                new => {
                    let dirty = self.slots.remove(page, old).unwrap_or(true);
                    match new {
                        Some(new) => {
                            self.slots.put(page, new, dirty);
                            found.changed += 1;
                        }
                        None => lost.push(page),
                    }
                }
            }
        }
        found.released = lost.len();
        self.release(lost)?;
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
