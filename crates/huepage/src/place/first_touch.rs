// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bin hopping: a thread that answers each first touch with the next color.

use std::{
    os::fd::OwnedFd,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, eventfd, poll},
    io::Errno,
};

use super::{
    PlaceError,
    arena::{Arena, Owner, Space, release},
    signals::Blocked,
    userfaultfd::{Event, Faults, Features, Userfaultfd},
};
use crate::{color::Color, mapping::PageAddr};

const NO_COLOR: u32 = u32::MAX;

/// A page that waits in its pool's arena to be touched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub slot: PageAddr,
    pub color: Color,
}

/// State that the region and its thread share. The thread allocates nothing: a program
/// thread that waits for it may hold the allocator's lock.
#[derive(Debug)]
struct Shared {
    uffd: Userfaultfd,
    stop: OwnedFd,
    stopping: AtomicBool,
    start: PageAddr,
    queue: Vec<Waiting>,
    next: AtomicUsize,
    /// Per page of the region; [`NO_COLOR`] while untouched.
    colors: Vec<AtomicU32>,
    /// Pages that the kernel had to fill.
    plain: AtomicUsize,
}

/// The thread and what it serves from. Stops on drop.
#[derive(Debug)]
pub(super) struct FirstTouch {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    owner: Owner,
    /// Keeps the waiting pages mapped if the pool is dropped first.
    _arenas: Vec<Arc<Arena>>,
}

impl FirstTouch {
    /// Opens the descriptor, before anything is set up.
    pub fn open() -> Result<Userfaultfd, PlaceError> {
        Userfaultfd::open(Faults::All, Features::MOVE)
            .map_err(PlaceError::lacking("placing pages in the order of first touch"))
    }

    pub fn start(
        uffd: Userfaultfd,
        space: &Space,
        queue: Vec<Waiting>,
        arenas: Vec<Arc<Arena>>,
    ) -> Result<Self, PlaceError> {
        let stop =
            eventfd(0, EventfdFlags::CLOEXEC).map_err(PlaceError::errno("create an eventfd"))?;
        let shared = Arc::new(Shared {
            uffd,
            stop,
            stopping: AtomicBool::new(false),
            start: space.page(0),
            queue,
            next: AtomicUsize::new(0),
            colors: (0..space.pages()).map(|_| AtomicU32::new(NO_COLOR)).collect(),
            plain: AtomicUsize::new(0),
        });
        // SAFETY: the thread below resolves what is touched from here on;
        // no other code has the region's address before this function returns.
        unsafe { shared.uffd.register(shared.start, space.pages()) }
            .map_err(PlaceError::errno("register memory with userfaultfd"))?;
        // The thread inherits the mask, so signal handlers of the program never run on
        // it.
        let blocked = Blocked::new();
        let served = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("huepage-touch".into())
            .spawn(move || serve(&served))
            .map_err(PlaceError::system("start the thread that follows first touch"));
        drop(blocked);
        let thread = Some(thread?);
        Ok(FirstTouch { shared, thread, owner: Owner::new(), _arenas: arenas })
    }

    pub fn color(&self, index: usize) -> Option<Color> {
        match self.shared.colors[index].load(Ordering::Acquire) {
            NO_COLOR => None,
            color => Some(Color(color)),
        }
    }

    pub fn plain(&self) -> usize {
        self.shared.plain.load(Ordering::Acquire)
    }

    /// Ends following first touch: the kernel fills untouched pages from then on.
    /// Returns the color of each page, slots that were emptied, pages that still wait.
    pub fn finish(mut self) -> (Vec<Option<Color>>, Vec<PageAddr>, Vec<Waiting>) {
        self.stop();
        let shared = &self.shared;
        let colors = (0..shared.colors.len()).map(|i| self.color(i)).collect();
        let (gone, waiting) = shared.queue.split_at(shared.next.load(Ordering::Acquire));
        let result = (colors, gone.iter().map(|w| w.slot).collect(), waiting.to_vec());
        // All waiting pages were returned: nothing is left to release.
        shared.next.store(shared.queue.len(), Ordering::Release);
        result
    }

    fn stop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        if !self.owner.is_here() {
            // A forked child has neither the thread nor the registration, and the
            // descriptor would act on the parent.
            std::mem::forget(thread);
            return;
        }
        self.shared.stopping.store(true, Ordering::Release);
        let _ = rustix::io::write(&self.shared.stop, &1u64.to_ne_bytes());
        // A panic was printed on stderr, and the thread's guard has unregistered the
        // range.
        let _ = thread.join();
    }
}

impl Drop for FirstTouch {
    fn drop(&mut self) {
        self.stop();
        if self.owner.is_here() {
            let next = self.shared.next.load(Ordering::Acquire);
            for waiting in &self.shared.queue[next..] {
                let _ = release(waiting.slot, 1);
            }
        }
    }
}

/// Unregisters the range however the thread ends, so that no thread waits for it.
struct Unregister<'a>(&'a Shared);

impl Drop for Unregister<'_> {
    fn drop(&mut self) {
        let _ = self.0.uffd.unregister(self.0.start, self.0.colors.len());
    }
}

fn serve(shared: &Shared) {
    let _unregister = Unregister(shared);
    while !shared.stopping.load(Ordering::Acquire) {
        let mut sources =
            [PollFd::new(&shared.uffd, PollFlags::IN), PollFd::new(&shared.stop, PollFlags::IN)];
        match poll(&mut sources, None) {
            Ok(_) | Err(Errno::INTR) => {}
            // Without polling no fault can be served: the kernel fills the pages.
            Err(_) => return,
        }
        loop {
            match shared.uffd.read_event() {
                Ok(Some(Event::Fault(page))) => resolve(shared, page),
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
}

/// Puts the next page where a thread waits for one.
fn resolve(shared: &Shared, page: PageAddr) {
    let index = page.number() - shared.start.number();
    let before = shared.colors[index].load(Ordering::Relaxed);
    while let Some(next) = shared.queue.get(shared.next.load(Ordering::Relaxed)) {
        // Before the move, so that a thread that sees the page present sees its color.
        // If it has a color already, another thread may have touched it, and the page
        // be there.
        if before == NO_COLOR {
            shared.colors[index].store(next.color.0, Ordering::Release);
        }
        // SAFETY: the slot is the region's own and the page is missing memory
        // of the region.
        match unsafe { shared.uffd.move_pages(page, next.slot, 1) }.stop {
            None => {
                shared.next.fetch_add(1, Ordering::Release);
                shared.colors[index].store(next.color.0, Ordering::Release);
                return;
            }
            // Two threads touched the page, and it was filled for the other one.
            Some(Errno::EXIST) => {
                shared.colors[index].store(before, Ordering::Release);
                let _ = shared.uffd.wake(page, 1);
                return;
            }
            Some(Errno::AGAIN | Errno::INTR) => std::thread::yield_now(),
            // The waiting page is pinned or deduplicated: it stays in its slot.
            Some(Errno::BUSY) => {
                shared.next.fetch_add(1, Ordering::Release);
            }
            Some(_) => break,
        }
    }
    // The zeros that an ordinary fault would map.
    shared.colors[index].store(NO_COLOR, Ordering::Release);
    loop {
        match shared.uffd.zero_page(page).stop {
            None => {
                shared.plain.fetch_add(1, Ordering::Release);
                return;
            }
            Some(Errno::AGAIN | Errno::INTR) => std::thread::yield_now(),
            Some(Errno::NOMEM) if !shared.stopping.load(Ordering::Acquire) => {
                std::thread::sleep(Duration::from_millis(1));
            }
            // The page is present, or the memory is unmapped: the thread faults again.
            Some(_) => {
                let _ = shared.uffd.wake(page, 1);
                return;
            }
        }
    }
}
