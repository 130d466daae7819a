// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exchanging the frames of memory in use.

use std::{collections::BTreeMap, ops::Range, ptr, sync::atomic::AtomicU8};

use rustix::{io::Errno, mm::Advice};

use super::{
    Mechanism, PlaceError, Policy, Pool,
    arena::{keep_from_children, page_states},
    exchange::{Discards, Outcome, Swap, answer, exchange},
    kernel::{Registration, Remapped, UserfaultfdKernel},
    ranges,
    signals::Blocked,
};
use crate::{
    color::{Color, ColorOracle},
    mapping::{Mapping, PageAddr, PageKind, lost_ranges},
};

/// What recoloring did, in pages. The sum is the size of the range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recolored {
    /// Have the color they were to get, by another frame.
    pub placed: usize,
    /// Had it before.
    pub already: usize,
    /// Hold no page: never written, or discarded meanwhile.
    pub untouched: usize,
    /// Stayed: shared with a forked child, deduplicated, pinned by a device, or
    /// being discarded.
    pub busy: usize,
    /// Stayed: the pool has no page of the color.
    pub short: usize,
    /// Stayed: their present color cannot be found, so it is not known whether it fits.
    pub unknown: usize,
    /// Stayed, or were copied to a frame of the kernel's choice: the kernel
    /// refused to move them.
    pub refused: usize,
    /// Were not tried, since an error ended the call: see [`PlaceError::Interrupted`].
    pub left: usize,
}

/// Whether other threads use the memory meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Others {
    ReadAndWrite,
    Nobody,
}

/// A page, the color it has, the color it is to get.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub live: PageAddr,
    pub old: Option<Color>,
    pub wanted: Color,
}

/// Pages exchanged under one registration, within a few milliseconds: for that long the
/// calling thread blocks signals.
const CHUNK: usize = 1024;

impl Pool {
    /// Places `pages` pages of the program's own memory by `policy`, while
    /// other threads read and write it, system calls read into it, and
    /// children are forked. All of them see the right bytes;
    /// a thread that touches a page while it is exchanged waits a few microseconds.
    ///
    /// [`Policy::Sequence`] takes the pages in order of address: they have
    /// been touched. Pages that were never written stay untouched. Frames that
    /// are exchanged become the pool's. The range is excluded from transparent
    /// huge pages (`MADV_NOHUGEPAGE`) from now on.
    ///
    /// # Errors
    /// Before anything is moved: [`PlaceError::NeedsPrivilege`] without
    /// `CAP_SYS_PTRACE`, since only that lets the caller serve the page faults
    /// of system calls and follow forks; [`PlaceError::NeedsMove`];
    /// [`PlaceError::Unsuitable`]; [`PlaceError::Policy`];
    /// [`PlaceError::Color`]; [`PlaceError::OtherProcess`]. Pages that cannot
    /// be moved are counted, not an error. [`PlaceError::Interrupted`] reports what was
    /// done before an error.
    ///
    /// # Safety
    /// The range stays mapped during the call. Threads may discard pages of it
    /// meanwhile (`madvise`), but a discard that began during one call must
    /// have returned before the next.
    pub unsafe fn recolor(
        &mut self,
        start: PageAddr,
        pages: usize,
        policy: &Policy,
        oracle: &mut dyn ColorOracle,
    ) -> Result<Recolored, PlaceError> {
        // SAFETY: the caller's contract; other threads are kept from holes.
        unsafe { self.recolor_with(start, pages, policy, oracle, Others::ReadAndWrite) }
    }

    /// As [`Pool::recolor`], for memory that no other thread uses meanwhile: needs no
    /// privilege, and works without `UFFDIO_MOVE`.
    ///
    /// # Errors
    /// As [`Pool::recolor`] but for the privilege; [`PlaceError::MappingLimit`].
    ///
    /// # Safety
    /// The range stays mapped during the call, no other thread and no signal
    /// handler accesses it, and the process is not forked.
    pub unsafe fn recolor_exclusive(
        &mut self,
        start: PageAddr,
        pages: usize,
        policy: &Policy,
        oracle: &mut dyn ColorOracle,
    ) -> Result<Recolored, PlaceError> {
        // SAFETY: the caller's contract.
        unsafe { self.recolor_with(start, pages, policy, oracle, Others::Nobody) }
    }

    unsafe fn recolor_with(
        &mut self,
        start: PageAddr,
        pages: usize,
        policy: &Policy,
        oracle: &mut dyn ColorOracle,
        others: Others,
    ) -> Result<Recolored, PlaceError> {
        self.owner.check()?;
        policy.check(self.count)?;
        ranges::check(start, pages)?;
        if others == Others::ReadAndWrite {
            // Fails early if a privilege or feature is missing.
            UserfaultfdKernel::shared(&*self.mover)?;
        }
        let wanted = policy.colors(start.number(), pages, self.count);
        // SAFETY: the caller's contract.
        let (tasks, report) = unsafe { self.plan(start, &wanted, oracle) }?;
        base_pages_only(start, pages)?;
        // SAFETY: the caller's contract.
        let exchanged = unsafe { self.exchange_all(&tasks, others) };
        lost_ranges::forget(start.span(pages));
        exchanged.report(report, tasks.len())
    }

    /// Which pages to exchange, and counts of those that stay, by the colors that the
    /// oracle finds.
    ///
    /// # Safety
    /// The range is mapped and stays so.
    unsafe fn plan(
        &self,
        start: PageAddr,
        wanted: &[Color],
        oracle: &mut dyn ColorOracle,
    ) -> Result<(Vec<Task>, Recolored), PlaceError> {
        let states = page_states(start, wanted.len())?;
        let mut report = Recolored::default();
        let mut candidates = Vec::new();
        let mut tasks = Vec::new();
        for (index, (state, &wanted)) in states.iter().zip(wanted).enumerate() {
            let live = start.nth(index);
            if state.swapped() {
                tasks.push(Task { live, old: None, wanted });
            } else if !state.present() {
                report.untouched += 1;
            } else if !state.exclusive() {
                // Shared with a child, or the kernel's page of zeros.
                report.busy += 1;
            } else {
                candidates.push((live, wanted));
            }
        }
        let pages: Vec<PageAddr> = candidates.iter().map(|(live, _)| *live).collect();
        // SAFETY: the pages are mapped and stay so by the caller's contract.
        let told = unsafe { oracle.classify(&pages) }?;
        for ((live, wanted), old) in candidates.into_iter().zip(told) {
            match old.filter(|old| old.0 < self.count.get()) {
                None => report.unknown += 1,
                Some(old) if old == wanted => report.already += 1,
                old => tasks.push(Task { live, old, wanted }),
            }
        }
        tasks.sort_unstable_by_key(|task| task.live);
        Ok((tasks, report))
    }

    /// Carries out tasks, which are ascending by address.
    ///
    /// # Safety
    /// The pages stay mapped; with [`Others::Nobody`] no other thread uses them.
    pub(super) unsafe fn exchange_all(&mut self, tasks: &[Task], others: Others) -> Exchanged {
        let mut outcomes = BTreeMap::new();
        let mut rest: Vec<Task> = tasks.to_vec();
        let mut discards = Discards::default();
        // Old frames become replacements for other pages, so this is repeated until no
        // page finds a replacement.
        while !rest.is_empty() {
            let before = rest.len();
            let mut short = Vec::new();
            for chunk in rest.chunks(CHUNK) {
                // SAFETY: the caller's contract.
                let done = match unsafe { self.exchange_chunk(chunk, others, &mut discards) } {
                    Ok(done) => done,
                    Err(error) => return Exchanged { outcomes, error: Some(error) },
                };
                for (task, outcome) in done {
                    match outcome {
                        Some(outcome) => {
                            outcomes.insert(task.live, Some(outcome));
                        }
                        None => short.push(task),
                    }
                }
            }
            rest = short;
            if rest.len() == before {
                break;
            }
        }
        outcomes.extend(rest.into_iter().map(|task| (task.live, None)));
        Exchanged { outcomes, error: None }
    }

    /// # Safety
    /// As [`Pool::exchange_all`].
    unsafe fn exchange_chunk(
        &mut self,
        tasks: &[Task],
        others: Others,
        discards: &mut Discards,
    ) -> Result<Vec<(Task, Option<Outcome>)>, PlaceError> {
        self.mover.allow(tasks.len())?;
        let landing = self.landing()?;
        let mut results = Vec::with_capacity(tasks.len());
        let mut chosen = Vec::with_capacity(tasks.len());
        let mut swaps = Vec::with_capacity(tasks.len());
        for &task in tasks {
            if let Some((fresh, _)) = self.slots.take(task.wanted) {
                chosen.push(task);
                swaps.push(Swap { live: task.live, fresh, outcome: Outcome::Pending });
            } else {
                results.push((task, None));
            }
        }
        // SAFETY: the caller's contract.
        let done = unsafe { self.run(&mut swaps, landing, others, discards) };
        let empty = self.note(&chosen, &swaps, landing);
        if self.mechanism() == Mechanism::Remap {
            // Pages moved by mremap bring the advice of the other side along.
            let _ = keep_from_children(empty, 1);
            for swap in &swaps {
                // If the program has mapped the address again, that memory is not
                // touched.
                if swap.outcome != Outcome::Discarded {
                    // SAFETY: the advice changes no contents.
                    let _ = unsafe { swap.live.advise(1, Advice::LinuxKeepOnFork) };
                }
                let _ = keep_from_children(swap.fresh, 1);
            }
        }
        done?;
        results.extend(chosen.into_iter().zip(swaps).map(|(t, s)| (t, Some(s.outcome))));
        Ok(results)
    }

    /// An empty slot, out of the books.
    fn landing(&mut self) -> Result<PageAddr, PlaceError> {
        if let Some(slot) = self.slots.take_one_empty() {
            return Ok(slot);
        }
        let mapping = Mapping::reserve(1, PageKind::Base)
            .map_err(PlaceError::system("reserve address space"))?;
        Ok(self.adopt(mapping)?.mapping().page(0))
    }

    /// # Safety
    /// As [`Pool::exchange_all`].
    unsafe fn run(
        &self,
        swaps: &mut [Swap],
        landing: PageAddr,
        others: Others,
        discards: &mut Discards,
    ) -> Result<(), PlaceError> {
        let (Some(first), Some(last)) = (swaps.first(), swaps.last()) else { return Ok(()) };
        let start = first.live;
        let pages = last.live.number() - start.number() + 1;
        if self.mechanism() == Mechanism::Remap && others == Others::Nobody {
            exchange(&mut Remapped(&*self.mover), swaps, landing, discards);
            return Ok(());
        }
        let mut kernel = match others {
            Others::ReadAndWrite => UserfaultfdKernel::shared(&*self.mover)?,
            Others::Nobody => UserfaultfdKernel::exclusive(&*self.mover)?,
        };
        ranges::check_apart(start, pages, self.needed_here(swaps, &kernel))?;
        // SAFETY: only empty slots are missing, and no thread touches those.
        let _open = unsafe { self.open_arenas() }?;
        // From here to the end of the registration nothing allocates, and no
        // signal handler runs on this thread.
        let _blocked = Blocked::new();
        // SAFETY: notices are answered until it ends.
        let registration = unsafe { Registration::new(&mut kernel, start, pages) }?;
        exchange(registration.kernel, swaps, landing, discards);
        answer(registration.kernel, discards);
        registration.finish(discards);
        Ok(())
    }

    /// Memory that this thread touches while other threads wait for it.
    fn needed_here(&self, swaps: &[Swap], kernel: &UserfaultfdKernel<'_>) -> [Range<usize>; 7] {
        thread_local!(static LOCAL: u8 = const { 0 });
        static STATIC: AtomicU8 = AtomicU8::new(0);
        fn range<T: ?Sized>(value: &T) -> Range<usize> {
            let start = ptr::from_ref(value).addr();
            start..start + size_of_val(value).max(1)
        }
        let stack = ptr::from_ref(&swaps).addr();
        [
            // The frames of the exchange below this one, and of its callers.
            stack.saturating_sub(64 << 10)..stack + (16 << 10),
            LOCAL.with(range),
            range(&STATIC),
            range(swaps),
            range(self),
            range(&*self.mover),
            range(kernel),
        ]
    }

    /// Opens every arena to receive pages, until the guard is dropped.
    ///
    /// # Safety
    /// No thread touches empty slots.
    unsafe fn open_arenas(&self) -> Result<OpenArenas<'_>, PlaceError> {
        let mut open = OpenArenas { pool: self, arenas: 0 };
        for arena in &self.arenas {
            let mapping = arena.mapping();
            // SAFETY: the caller's contract.
            unsafe { self.mover.open(mapping.page(0), mapping.pages()) }?;
            open.arenas += 1;
        }
        Ok(open)
    }

    /// Notes the exchanges in the pool; returns the slot that is empty in the end.
    fn note(&mut self, tasks: &[Task], swaps: &[Swap], landing: PageAddr) -> PageAddr {
        let mut empty = landing;
        let mut lost = Vec::new();
        for (task, swap) in tasks.iter().zip(swaps) {
            if swap.outcome == Outcome::Placed {
                match task.old {
                    Some(color) => self.slots.put(empty, color, true),
                    None => lost.push(empty),
                }
                empty = swap.fresh;
            } else {
                self.slots.put(swap.fresh, task.wanted, true);
            }
        }
        self.put_released(empty);
        // Frames of unknown color. If the kernel refuses to take them, their slots stay
        // unused.
        let _ = self.release(lost);
        empty
    }
}

struct OpenArenas<'a> {
    pool: &'a Pool,
    arenas: usize,
}

impl Drop for OpenArenas<'_> {
    fn drop(&mut self) {
        for arena in &self.pool.arenas[..self.arenas] {
            let mapping = arena.mapping();
            self.pool.mover.close(mapping.page(0), mapping.pages());
        }
    }
}

/// The outcomes of tasks.
pub(super) struct Exchanged {
    /// By page; `None` where the pool was short.
    pub outcomes: BTreeMap<PageAddr, Option<Outcome>>,
    /// The error that ended the exchange early.
    error: Option<PlaceError>,
}

impl Exchanged {
    /// Adds the outcomes of `tasks` tasks to the counts in `report`.
    pub fn report(self, mut report: Recolored, tasks: usize) -> Result<Recolored, PlaceError> {
        for outcome in self.outcomes.values() {
            *match outcome {
                None => &mut report.short,
                Some(Outcome::Placed) => &mut report.placed,
                Some(Outcome::Busy) => &mut report.busy,
                Some(Outcome::Absent | Outcome::Discarded) => &mut report.untouched,
                Some(Outcome::Refused | Outcome::Copied | Outcome::Pending) => &mut report.refused,
            } += 1;
        }
        report.left = tasks - self.outcomes.len();
        match self.error {
            None => Ok(report),
            // Nothing was moved.
            Some(error) if self.outcomes.is_empty() => Err(error),
            Some(error) => Err(PlaceError::Interrupted { report, source: Box::new(error) }),
        }
    }
}

/// Keeps the kernel from collapsing placed pages into huge pages in other frames.
pub(super) fn base_pages_only(start: PageAddr, pages: usize) -> Result<(), PlaceError> {
    // SAFETY: the advice changes no contents.
    match unsafe { start.advise(pages, Advice::LinuxNoHugepage) } {
        // A kernel without transparent huge pages answers EINVAL.
        Ok(()) | Err(Errno::INVAL) => Ok(()),
        Err(e) => Err(PlaceError::errno("keep the range free of huge pages")(e)),
    }
}
