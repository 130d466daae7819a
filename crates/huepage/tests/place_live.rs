// SPDX-License-Identifier: MIT OR Apache-2.0
//! Placement on the real kernel, under a program that goes on using its
//! memory. One test at a time: they fork, and count mappings.

use std::{
    os::fd::AsRawFd,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use huepage::{
    Huepage,
    color::{Color, ColorCount, ColorError, ColorOracle, Method},
    colored::ColoredError,
    frames::Pagemap,
    mapping::{Mapping, PageAddr, PageKind, page_size},
    place::{self, Mechanism, PlaceError, Policy, Pool, Unsuitable},
    units::Bytes,
};

static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

const COLORS: u32 = 8;

fn count() -> ColorCount {
    ColorCount::new(COLORS).unwrap()
}

fn bytes(pages: usize) -> Bytes {
    Bytes(pages as u64 * page_size().0)
}

fn page_len() -> usize {
    page_size().0 as usize
}

/// Takes the frame number modulo 8 for the color, so that colors in a test follow the
/// frames.
struct ByFrame(Pagemap);

impl ByFrame {
    fn new() -> Option<Self> {
        let pagemap = Pagemap::open().unwrap();
        if !pagemap.frame_numbers_visible().unwrap() {
            eprintln!("skipped: frame numbers are hidden, needs CAP_SYS_ADMIN");
            return None;
        }
        Some(ByFrame(pagemap))
    }
}

impl ColorOracle for ByFrame {
    fn method(&self) -> Method {
        Method::FrameNumber
    }

    fn count(&self) -> ColorCount {
        count()
    }

    unsafe fn classify(&mut self, pages: &[PageAddr]) -> Result<Vec<Option<Color>>, ColorError> {
        let color = |page: &PageAddr| {
            let frame = self.0.read(*page, 1).unwrap()[0].pfn()?;
            Some(Color((frame.0 % u64::from(COLORS)) as u32))
        };
        Ok(pages.iter().map(color).collect())
    }
}

/// A pool for `pages` balanced pages, and the oracle; `None` with the reason
/// printed where recoloring cannot be served.
fn pool_for(pages: usize) -> Option<(Pool, ByFrame)> {
    let mut oracle = ByFrame::new()?;
    if let Err(reason) = Mechanism::userfaultfd() {
        eprintln!("skipped: {reason}");
        return None;
    }
    let pool = Pool::build(&mut oracle, bytes(pages), &Policy::Balanced).unwrap();
    let mut probe = Mapping::populated(1, PageKind::Base).unwrap();
    let mut small = said_to_be_balanced(1, None).unwrap();
    match recolor(&mut small, &mut probe, &Policy::Balanced, &mut oracle) {
        Err(PlaceError::NeedsPrivilege { reason, .. }) => {
            eprintln!("skipped: {reason}");
            None
        }
        other => {
            other.unwrap();
            Some((pool, oracle))
        }
    }
}

/// A pool of fresh pages whose labels are all colors in turn.
fn said_to_be_balanced(pages: usize, mechanism: Option<Mechanism>) -> Result<Pool, PlaceError> {
    let labels: Vec<_> = (0..pages as u32).map(|i| Some(Color(i % COLORS))).collect();
    let mapping = Mapping::populated(pages, PageKind::Base).unwrap();
    Pool::from_parts(mapping, &labels, count(), mechanism)
}

fn recolor(
    pool: &mut Pool,
    mapping: &mut Mapping,
    policy: &Policy,
    oracle: &mut ByFrame,
) -> Result<place::Recolored, PlaceError> {
    // SAFETY: the mapping is borrowed during the call.
    unsafe { pool.recolor(mapping.page(0), mapping.pages(), policy, oracle) }
}

/// The share of the pages that have the color `policy` gives them.
fn share(mapping: &Mapping, policy: &Policy, oracle: &mut ByFrame) -> f64 {
    let pages: Vec<PageAddr> = mapping.iter().collect();
    let wanted = policy.colors(pages[0].get() / page_len(), pages.len(), count());
    // SAFETY: the pages are mapped.
    let told = unsafe { oracle.classify(&pages) }.unwrap();
    let fits = told.iter().zip(wanted).filter(|(told, wanted)| **told == Some(*wanted)).count();
    fits as f64 / pages.len() as f64
}

/// Of the eight ways to assign all colors in turn, the one that the fewest pages fit by
/// chance: at most one page in eight, since each page fits one of them.
fn least_fitting(mapping: &Mapping, oracle: &mut ByFrame) -> Policy {
    let turned = |by| Policy::Colors((0..COLORS).map(|i| Color((i + by) % COLORS)).collect());
    let fitting = |policy: Policy| (share(mapping, &policy, oracle), policy);
    let all = (0..COLORS).map(turned).map(fitting);
    all.min_by(|(a, _), (b, _)| a.total_cmp(b)).unwrap().1
}

/// Fills every word with a value that names its place.
fn fill(mapping: &Mapping) {
    for (i, word) in words(mapping).iter().enumerate() {
        word.store(mix(i), Ordering::Relaxed);
    }
}

fn mix(i: usize) -> usize {
    (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn words(mapping: &Mapping) -> &[AtomicUsize] {
    // SAFETY: mapped memory, aligned, and accessed by atomics only.
    unsafe {
        std::slice::from_raw_parts(mapping.as_ptr().cast(), mapping.len() / size_of::<usize>())
    }
}

/// Runs `child` in a forked process; what it returns is the exit code.
fn forked(child: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child runs `child` only, and ends without unwinding.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child)).unwrap_or(99);
        // SAFETY: ends this process.
        unsafe { libc::_exit(code) };
    }
    assert!(pid > 0, "fork failed");
    wait(pid)
}

fn wait(pid: i32) -> i32 {
    let mut status = 0;
    // SAFETY: `pid` is a child of this process.
    assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
    if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 128 + libc::WTERMSIG(status) }
}

/// Tells the other threads to stop, also when the test fails: the scope waits
/// for them.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A child that shares the memory of its parent and waits.
struct WaitingChild {
    pid: i32,
    /// Until this is closed.
    pipe: std::io::PipeWriter,
}

impl WaitingChild {
    fn fork() -> Self {
        let (reader, pipe) = std::io::pipe().unwrap();
        // SAFETY: the child only waits, and ends.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            drop(pipe);
            let _ = rustix::io::read(&reader, &mut [0]);
            // SAFETY: as above.
            unsafe { libc::_exit(0) };
        }
        WaitingChild { pid, pipe }
    }

    fn end(self) {
        drop(self.pipe);
        assert_eq!(wait(self.pid), 0);
    }
}

/// Policies that give most pages another color each time.
fn round_policy(round: usize) -> Policy {
    let first = (round % COLORS as usize) as u32;
    if round.is_multiple_of(2) {
        Policy::Balanced
    } else {
        Policy::Colors((0..COLORS).map(|i| Color((first + 5 * i) % COLORS)).collect())
    }
}

#[test]
fn four_writing_threads_lose_no_byte() {
    let _alone = alone();
    const PAGES: usize = 256;
    let Some((mut pool, mut oracle)) = pool_for(PAGES) else { return };
    let memory = Mapping::populated(PAGES, PageKind::Base).unwrap();
    fill(&memory);
    let (start, words) = (memory.page(0), words(&memory));
    let stop = AtomicBool::new(false);
    let writes = AtomicUsize::new(0);
    let placed = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4usize)
            .map(|mine| {
                let (stop, writes) = (&stop, &writes);
                scope.spawn(move || {
                    // Word `mine` modulo 4 of every page is this thread's.
                    let mut mirror: Vec<usize> = (0..words.len()).map(mix).collect();
                    let mut rng = fastrand::Rng::with_seed(mine as u64);
                    while !stop.load(Ordering::Relaxed) {
                        let i = rng.usize(0..words.len() / 4) * 4 + mine;
                        let old = words[i].load(Ordering::Relaxed);
                        assert_eq!(old, mirror[i], "word {i}");
                        mirror[i] = rng.usize(..);
                        words[i].store(mirror[i], Ordering::Relaxed);
                        writes.fetch_add(1, Ordering::Relaxed);
                    }
                    mirror
                })
            })
            .collect();
        let stopping = Stop(&stop);
        let mut placed = 0;
        for round in 0..24 {
            // SAFETY: the mapping lives to the end of the test.
            let done = unsafe { pool.recolor(start, PAGES, &round_policy(round), &mut oracle) };
            placed += done.unwrap().placed;
        }
        drop(stopping);
        for (mine, thread) in threads.into_iter().enumerate() {
            let mirror = thread.join().expect("every word read is the word written");
            for i in (mine..mirror.len()).step_by(4) {
                assert_eq!(words[i].load(Ordering::Relaxed), mirror[i], "word {i}");
            }
        }
        placed
    });
    assert!(placed > 12 * PAGES, "{placed} pages placed");
    assert!(writes.load(Ordering::Relaxed) > 1000);
}

#[test]
fn recolored_pages_have_the_colors_asked_for_and_no_mapping_is_added() {
    let _alone = alone();
    const PAGES: usize = 400;
    let Some((mut pool, mut oracle)) = pool_for(PAGES) else { return };
    let mut memory = Mapping::populated(PAGES, PageKind::Base).unwrap();
    fill(&memory);
    let held = pool.pages();
    let mappings = || std::fs::read_to_string("/proc/self/maps").unwrap().lines().count();
    let before = mappings();
    let policy = least_fitting(&memory, &mut oracle);
    let report = recolor(&mut pool, &mut memory, &policy, &mut oracle).unwrap();
    assert!(mappings() <= before + 2, "{before} mappings, then {}", mappings());
    assert_eq!(report.placed + report.already, PAGES, "{report:?}");
    assert!(report.placed >= PAGES - PAGES / 8, "{report:?}");
    assert!(share(&memory, &policy, &mut oracle) > 0.99);
    // One frame for another.
    assert_eq!(pool.pages(), held);
    let found = pool.reclassify(&mut oracle).unwrap();
    assert_eq!((found.changed, found.released), (0, 0), "{found:?}");
    for (i, word) in words(&memory).iter().enumerate() {
        assert_eq!(word.load(Ordering::Relaxed), mix(i));
    }
    let again = recolor(&mut pool, &mut memory, &policy, &mut oracle).unwrap();
    assert_eq!(again.already, PAGES);
}

/// Memory that the kernel may make huge pages of, in three mappings: advice for
/// its middle made them.
fn in_three_mappings(pages: usize) -> Mapping {
    let memory = Mapping::populated(pages, PageKind::Huge).unwrap();
    let (from, len) = (memory.page(pages / 3), pages / 3 * page_len());
    // SAFETY: the advice changes no contents.
    let advised = unsafe { libc::madvise(from.as_ptr().cast(), len, libc::MADV_DONTFORK) };
    assert_eq!(advised, 0);
    fill(&memory);
    memory
}

#[test]
fn a_range_of_several_mappings_is_placed_again_and_again() {
    let _alone = alone();
    const PAGES: usize = 96;
    // Pages outside of a round's part keep their frames, and the memory itself may
    // have none of a color: the pool has what both may lack.
    let Some((mut pool, mut oracle)) = pool_for(2 * PAGES) else { return };
    let memory = in_three_mappings(PAGES);
    for round in 0..4 {
        // Each time another part, so that advice for it splits mappings anew.
        let (first, pages) = (round * 5, PAGES - round * 9);
        // SAFETY: the mapping lives to the end of the test.
        let report =
            unsafe { pool.recolor(memory.page(first), pages, &round_policy(round), &mut oracle) };
        let report = report.unwrap_or_else(|error| panic!("round {round}: {error}"));
        assert_eq!(report.placed + report.already, pages, "round {round}: {report:?}");
        assert!(intact(memory.page(0), memory.len()), "round {round}");
    }
    for mechanism in [Mechanism::Userfaultfd, Mechanism::Remap] {
        let pool = Pool::build_with(&mut oracle, bytes(PAGES), &Policy::Balanced, Some(mechanism));
        let (mut pool, memory) = (pool.unwrap(), in_three_mappings(PAGES));
        for round in 0..4 {
            // SAFETY: the memory is this test's alone.
            let report = unsafe {
                pool.recolor_exclusive(memory.page(0), PAGES, &round_policy(round), &mut oracle)
            };
            let report = report.unwrap_or_else(|error| panic!("{mechanism:?} {round}: {error}"));
            assert_eq!(report.placed + report.already, PAGES, "{mechanism:?} {report:?}");
            assert!(intact(memory.page(0), memory.len()), "{mechanism:?} {round}");
        }
    }
}

#[test]
fn a_mapped_file_whose_name_is_no_text_is_in_nobodys_way() {
    use std::os::unix::ffi::OsStrExt;

    let _alone = alone();
    let Some(mut oracle) = ByFrame::new() else { return };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(std::ffi::OsStr::from_bytes(b"\xff\xfe"));
    std::fs::write(&path, [1; 4096]).unwrap();
    let file = std::fs::File::open(&path).unwrap();
    let len = page_len();
    // SAFETY: a new mapping; nobody truncates the file.
    let mapped = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            len,
            libc::PROT_READ,
            libc::MAP_PRIVATE,
            file.as_raw_fd(),
            0,
        )
    };
    assert_ne!(mapped, libc::MAP_FAILED);
    let mut pool = Pool::build(&mut oracle, bytes(16), &Policy::Balanced).unwrap();
    let memory = Mapping::populated(16, PageKind::Base).unwrap();
    // SAFETY: the memory is this test's alone.
    let report =
        unsafe { pool.recolor_exclusive(memory.page(0), 16, &Policy::Balanced, &mut oracle) };
    // SAFETY: mapped above.
    unsafe { libc::munmap(mapped, len) };
    let report = report.unwrap();
    assert_eq!(report.placed + report.already, 16, "{report:?}");
}

#[test]
fn system_calls_reading_into_the_range_succeed() {
    let _alone = alone();
    const PAGES: usize = 128;
    const LEN: usize = 3;
    let Some((mut pool, mut oracle)) = pool_for(PAGES) else { return };
    let memory = Mapping::populated(PAGES, PageKind::Base).unwrap();
    let pattern: Vec<u8> = (0..LEN * page_len()).map(|i| (i % 251) as u8 + 1).collect();
    let file = std::env::temp_dir().join(format!("huepage-read-{}", std::process::id()));
    std::fs::write(&file, &pattern).unwrap();
    let source = std::fs::File::open(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    let stop = AtomicBool::new(false);
    let start = memory.page(0);
    let reads = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut rng = fastrand::Rng::with_seed(1);
            let mut reads = 0usize;
            while !stop.load(Ordering::Relaxed) {
                let at = rng.usize(0..(PAGES - LEN) * page_len());
                let target = start.as_ptr().wrapping_add(at);
                // SAFETY: the target lies in `memory`, which only this thread
                // reads and writes.
                let (got, bytes) = unsafe {
                    target.write_bytes(0, pattern.len());
                    let fd = source.as_raw_fd();
                    let got = libc::pread(fd, target.cast(), pattern.len(), 0);
                    (got, std::slice::from_raw_parts(target, pattern.len()))
                };
                assert_eq!(got, pattern.len() as isize, "{}", std::io::Error::last_os_error());
                assert_eq!(bytes, pattern);
                reads += 1;
            }
            reads
        });
        let stopping = Stop(&stop);
        for round in 0..24 {
            // SAFETY: the mapping lives to the end of the test.
            unsafe { pool.recolor(start, PAGES, &round_policy(round), &mut oracle) }.unwrap();
        }
        drop(stopping);
        reader.join().expect("every read is complete and right")
    });
    assert!(reads > 10, "{reads} reads");
}

/// Whether every word has the value of its place; allocates nothing.
fn intact(start: PageAddr, len: usize) -> bool {
    let first = start.as_ptr().cast::<usize>();
    // SAFETY: the caller's memory, inherited by this process.
    (0..len / size_of::<usize>()).all(|i| unsafe { first.add(i).read_volatile() } == mix(i))
}

#[test]
fn children_forked_meanwhile_read_every_byte() {
    let _alone = alone();
    const PAGES: usize = 192;
    let Some((mut pool, mut oracle)) = pool_for(PAGES) else { return };
    let memory = Mapping::populated(PAGES, PageKind::Base).unwrap();
    fill(&memory);
    let (start, len) = (memory.page(0), memory.len());
    let stop = AtomicBool::new(false);
    let (rounds, forks) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let mut placed = 0;
    std::thread::scope(|scope| {
        let forker = scope.spawn(|| {
            let mut rng = fastrand::Rng::with_seed(4);
            while !stop.load(Ordering::Relaxed) {
                // A round with pages that no child shares, and part of the next.
                let until = rounds.load(Ordering::Relaxed) + rng.usize(1..3);
                while rounds.load(Ordering::Relaxed) < until && !stop.load(Ordering::Relaxed) {
                    std::thread::yield_now();
                }
                (0..rng.u32(0..20_000)).for_each(|_| std::hint::spin_loop());
                // SAFETY: parent and child only read the memory; the children
                // end without unwinding.
                let pid = unsafe { libc::fork() };
                if pid == 0 {
                    // SAFETY: as above. A grandchild too, forked at once.
                    unsafe {
                        let grandchild = libc::fork();
                        let good = intact(start, len);
                        if grandchild > 0 {
                            let mut status = 0;
                            libc::waitpid(grandchild, &mut status, 0);
                            libc::_exit(i32::from(!good) + 2 * i32::from(status != 0));
                        }
                        libc::_exit(i32::from(!good));
                    }
                }
                assert!(pid > 0);
                assert_eq!(wait(pid), 0, "1: child, 2: grandchild");
                // A write takes the page back from the child that shared it.
                let words = start.as_ptr().cast::<usize>();
                for page in 0..PAGES {
                    let i = page * page_len() / size_of::<usize>();
                    // SAFETY: the value that is there already.
                    unsafe { words.add(i).write_volatile(mix(i)) };
                }
                forks.fetch_add(1, Ordering::Relaxed);
            }
        });
        let stopping = Stop(&stop);
        while !forker.is_finished() && (forks.load(Ordering::Relaxed) < 40 || placed < 4 * PAGES) {
            let policy = round_policy(rounds.load(Ordering::Relaxed));
            // SAFETY: the mapping lives to the end of the test.
            let done = unsafe { pool.recolor(start, PAGES, &policy, &mut oracle) };
            placed += done.unwrap().placed;
            rounds.fetch_add(1, Ordering::Relaxed);
        }
        drop(stopping);
        forker.join().expect("no child misses a byte");
    });
    assert!(intact(start, len));
}

#[test]
fn pages_touched_first_meanwhile_and_pages_discarded_meanwhile_are_right() {
    let _alone = alone();
    const PAGES: usize = 128;
    let Some((mut pool, mut oracle)) = pool_for(PAGES) else { return };
    let memory = Mapping::reserve(PAGES, PageKind::Base).unwrap();
    let start = memory.page(0);
    let stop = AtomicBool::new(false);
    let discarding = AtomicBool::new(false);
    let checks = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let user = scope.spawn(|| {
            let mut rng = fastrand::Rng::with_seed(9);
            let mut mirror = [0usize; PAGES];
            while !stop.load(Ordering::Relaxed) {
                let i = rng.usize(0..PAGES);
                let word = start.as_ptr().wrapping_add(i * page_len()).cast::<usize>();
                // SAFETY: the page lies in `memory`, which only this thread uses.
                unsafe {
                    assert_eq!(word.read_volatile(), mirror[i], "page {i}");
                    if rng.u8(..) < 64 {
                        mirror[i] = 0;
                        discarding.store(true, Ordering::SeqCst);
                        assert_eq!(libc::madvise(word.cast(), page_len(), libc::MADV_DONTNEED), 0);
                        discarding.store(false, Ordering::SeqCst);
                        assert_eq!(word.read_volatile(), 0, "page {i} was discarded");
                    }
                    mirror[i] = rng.usize(..);
                    word.write_volatile(mirror[i]);
                }
                checks.fetch_add(1, Ordering::Relaxed);
            }
        });
        let stopping = Stop(&stop);
        // However late the other thread begins.
        let mut round = 0;
        while (round < 60 || checks.load(Ordering::Relaxed) <= 100) && !user.is_finished() {
            while discarding.load(Ordering::SeqCst) {
                std::hint::spin_loop();
            }
            // SAFETY: the mapping lives to the end of the test.
            unsafe { pool.recolor(start, PAGES, &round_policy(round), &mut oracle) }.unwrap();
            round += 1;
        }
        drop(stopping);
        user.join().expect("every page reads as written");
    });
}

#[test]
fn untouched_pages_stay_untouched_and_pages_shared_with_a_child_stay() {
    let _alone = alone();
    let Some((mut pool, mut oracle)) = pool_for(64) else { return };
    let mut memory = Mapping::reserve(64, PageKind::Base).unwrap();
    for i in 0..48 {
        // SAFETY: the page lies in `memory`.
        unsafe { memory.page(i).as_ptr().write_volatile(i as u8 + 1) };
    }
    // A child that holds the pages until its pipe is closed.
    let child = WaitingChild::fork();
    // Written since: these are the parent's alone again.
    for i in 0..16 {
        // SAFETY: the page lies in `memory`.
        unsafe { memory.page(i).as_ptr().write_volatile(i as u8 + 1) };
    }
    let report = recolor(&mut pool, &mut memory, &Policy::Balanced, &mut oracle).unwrap();
    assert_eq!(report.untouched, 16, "{report:?}");
    assert_eq!(report.busy, 32, "{report:?}");
    assert_eq!(report.placed + report.already, 16, "{report:?}");
    for i in 0..48 {
        // SAFETY: the page lies in `memory`.
        assert_eq!(unsafe { memory.page(i).as_ptr().read_volatile() }, i as u8 + 1);
    }
    let states = Pagemap::open().unwrap().read(memory.page(48), 16).unwrap();
    assert!(states.iter().all(|state| !state.present()));
    child.end();
}

#[test]
fn swapped_pages_are_placed_with_their_bytes() {
    let _alone = alone();
    let Some((mut pool, mut oracle)) = pool_for(32) else { return };
    let mut memory = Mapping::populated(32, PageKind::Base).unwrap();
    fill(&memory);
    // SAFETY: the advice keeps contents.
    unsafe { libc::madvise(memory.as_ptr().cast(), memory.len(), libc::MADV_PAGEOUT) };
    let states = Pagemap::open().unwrap().read(memory.page(0), 32).unwrap();
    if !states.iter().any(|state| state.swapped()) {
        eprintln!("skipped: nothing was swapped out, the machine has no swap to spare");
        return;
    }
    let report = recolor(&mut pool, &mut memory, &Policy::Balanced, &mut oracle).unwrap();
    assert_eq!(report.placed + report.already + report.busy, 32, "{report:?}");
    assert!(intact(memory.page(0), memory.len()));
}

#[test]
fn memory_that_cannot_be_placed_is_refused_by_name_before_anything_moves() {
    let _alone = alone();
    let Some((mut pool, mut oracle)) = pool_for(16) else { return };
    let mut refuse = |start: PageAddr, pages: usize, want: Unsuitable| {
        // SAFETY: the ranges below are mapped or refused.
        match unsafe { pool.recolor(start, pages, &Policy::Balanced, &mut oracle) } {
            Err(PlaceError::Unsuitable { reason, .. }) => assert_eq!(reason, want),
            other => panic!("{want:?}: {other:?}"),
        }
    };
    let memory = Mapping::populated(16, PageKind::Base).unwrap();
    let (start, len) = (memory.page(0), page_len());
    refuse(start, 0, Unsuitable::Empty);
    // SAFETY: changes of protection and locking of memory this test owns.
    unsafe {
        assert_eq!(libc::mlock(memory.page(3).as_ptr().cast(), len), 0);
        refuse(memory.page(3), 1, Unsuitable::Locked);
        refuse(start, 16, Unsuitable::Locked);
        libc::munlock(memory.page(3).as_ptr().cast(), len);
        assert_eq!(libc::mprotect(memory.page(5).as_ptr().cast(), len, libc::PROT_READ), 0);
        refuse(memory.page(5), 1, Unsuitable::NotReadWrite);
        let shared = libc::mmap(
            std::ptr::null_mut(),
            len,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        assert_ne!(shared, libc::MAP_FAILED);
        refuse(PageAddr::containing(shared), 1, Unsuitable::NotPrivateAnonymous);
        libc::munmap(shared, len);
        // Below every mapping (vm.mmap_min_addr): an address that was mapped may
        // be another thread's by now.
        let never = std::ptr::without_provenance::<u8>(page_len());
        refuse(PageAddr::containing(never), 1, Unsuitable::Unmapped);
    }
    let local = 0u8;
    let on_stack = PageAddr::containing(&raw const local);
    // SAFETY: the stack is mapped; the call is to be refused.
    let result = unsafe { pool.recolor(on_stack, 1, &Policy::Balanced, &mut oracle) };
    let fits_already = result.as_ref().is_ok_and(|report| report.already == 1);
    assert!(
        fits_already
            || matches!(result, Err(PlaceError::Unsuitable { reason: Unsuitable::InUseHere, .. })),
        "{result:?}"
    );
}

#[test]
fn memory_nobody_else_uses_is_placed_by_either_mechanism() {
    let _alone = alone();
    let Some(mut oracle) = ByFrame::new() else { return };
    for mechanism in [Mechanism::Userfaultfd, Mechanism::Remap] {
        let pool = Pool::build_with(&mut oracle, bytes(200), &Policy::Balanced, Some(mechanism));
        let mut pool = match pool {
            Err(PlaceError::NeedsMove { reason, .. }) => {
                eprintln!("skipped: {reason}");
                continue;
            }
            pool => pool.unwrap(),
        };
        let memory = Mapping::populated(200, PageKind::Base).unwrap();
        fill(&memory);
        // SAFETY: the memory is this test's alone.
        let report =
            unsafe { pool.recolor_exclusive(memory.page(0), 200, &Policy::Balanced, &mut oracle) };
        let report = report.unwrap();
        assert_eq!(report.placed + report.already, 200, "{mechanism:?} {report:?}");
        assert!(intact(memory.page(0), memory.len()), "{mechanism:?}");
        assert!(share(&memory, &Policy::Balanced, &mut oracle) > 0.99, "{mechanism:?}");
        // A child inherits what was placed.
        let (start, len) = (memory.page(0), memory.len());
        assert_eq!(forked(|| i32::from(!intact(start, len))), 0, "{mechanism:?}");
    }
}

#[test]
fn drift_is_found_and_repaired() {
    let _alone = alone();
    const PAGES: usize = 300;
    let Some(mut oracle) = ByFrame::new() else { return };
    // Twice the need: repairing takes pages that the region does not have.
    let mut pool = Pool::build(&mut oracle, bytes(2 * PAGES), &Policy::Balanced).unwrap();
    let mut region = pool.allocate(bytes(PAGES), &Policy::Balanced).unwrap();
    region.as_mut_slice().fill(0x5a);
    let drift = place::verify(&region, &mut oracle, 100, 1).unwrap();
    assert_eq!((drift.same, drift.changed), (100, 0));
    // Writing while a child shares the pages exchanges their frames.
    let child = WaitingChild::fork();
    region.as_mut_slice().fill(0xa5);
    child.end();
    let drift = place::verify(&region, &mut oracle, PAGES, 1).unwrap();
    assert!(drift.changed > drift.same, "{drift:?}");
    let report = pool.repair(&mut region, &mut oracle).unwrap();
    assert_eq!(report.placed, drift.changed, "{report:?}");
    let drift = place::verify(&region, &mut oracle, PAGES, 2).unwrap();
    assert_eq!((drift.same, drift.changed), (PAGES, 0));
    assert!(region.as_slice().iter().all(|&byte| byte == 0xa5));
}

/// `mlockall` fills memory as it is mapped and prevents that it is moved or given back.
#[test]
fn pools_work_where_all_memory_to_come_is_locked() {
    let _alone = alone();
    for mechanism in [Mechanism::Userfaultfd, Mechanism::Remap] {
        let code = forked(|| {
            // SAFETY: this process only tests this, and ends.
            if unsafe { libc::mlockall(libc::MCL_FUTURE) } != 0 {
                return 50;
            }
            let Ok(mut pool) = said_to_be_balanced(64, Some(mechanism)) else { return 51 };
            for round in 0..3u8 {
                let Ok(mut region) = pool.allocate(bytes(32), &Policy::Balanced) else { return 1 };
                if !region.as_slice().iter().all(|&byte| byte == 0) {
                    return 2;
                }
                region.as_mut_slice().fill(round + 1);
                // SAFETY: asks whether it is locked.
                let told = unsafe {
                    libc::msync(region.as_mut_ptr().cast(), region.len(), libc::MS_INVALIDATE)
                };
                if told != -1 {
                    return 3;
                }
                // Every page is another one now, as far as this oracle knows.
                let Ok(report) = pool.repair(&mut region, &mut Shifted) else { return 4 };
                if report.placed != 32 || region.as_slice().iter().any(|&b| b != round + 1) {
                    return 5;
                }
                if pool.give_back(region).is_err() || pool.pages() != 64 {
                    return 6;
                }
            }
            0
        });
        match code {
            50 => eprintln!("skipped: memory may not be locked here"),
            51 => eprintln!("skipped: no {mechanism:?}"),
            code => assert_eq!(code, 0, "{mechanism:?}"),
        }
    }
}

/// Claims that no page has the color of its address.
struct Shifted;

impl ColorOracle for Shifted {
    fn method(&self) -> Method {
        Method::FrameNumber
    }

    fn count(&self) -> ColorCount {
        count()
    }

    unsafe fn classify(&mut self, pages: &[PageAddr]) -> Result<Vec<Option<Color>>, ColorError> {
        let next = |page: &PageAddr| Color((page.get() / page_len() + 1) as u32 % COLORS);
        Ok(pages.iter().map(|page| Some(next(page))).collect())
    }
}

#[test]
fn a_forked_child_can_read_a_region_but_not_use_the_pool() {
    let _alone = alone();
    for mechanism in [Mechanism::Remap, Mechanism::Userfaultfd] {
        let Ok(mut pool) = said_to_be_balanced(16, Some(mechanism)) else {
            eprintln!("skipped: no UFFDIO_MOVE");
            continue;
        };
        let mut region = pool.allocate(bytes(8), &Policy::Balanced).unwrap();
        region.as_mut_slice().fill(7);
        let code = forked(|| {
            if !region.as_slice().iter().all(|&byte| byte == 7) {
                return 1;
            }
            match pool.allocate(bytes(1), &Policy::Balanced) {
                Err(PlaceError::OtherProcess) => {}
                _ => return 2,
            }
            drop(region);
            match pool.reclassify(&mut ByFrame(Pagemap::open().unwrap())) {
                Err(PlaceError::OtherProcess) => 0,
                _ => 3,
            }
        });
        assert_eq!(code, 0, "{mechanism:?}");
    }
}

#[test]
fn a_child_goes_on_with_placed_memory_and_gets_no_more() {
    let _alone = alone();
    let huepage = Huepage::builder().oracle(Shifted).open().unwrap();
    let mut bytes = huepage.vec::<u8>(3 * page_len()).unwrap();
    bytes.fill(9);
    let child = bytes.as_mut_ptr();
    let code = forked(|| {
        // SAFETY: the child's own copy of the memory, which nothing else uses there.
        let inherited = unsafe { std::slice::from_raw_parts_mut(child, 3 * page_len()) };
        if inherited.iter().any(|byte| *byte != 9) {
            return 1;
        }
        inherited.fill(1);
        match huepage.vec::<u8>(1) {
            Err(ColoredError::Place(PlaceError::OtherProcess)) => {}
            _ => return 2,
        }
        if huepage.pages() != 0 || huepage.colors_of(inherited).is_ok() {
            return 3;
        }
        // Dropping it in the child does not wait for a lock that another thread held at
        // the fork.
        drop(huepage.clone());
        0
    });
    assert_eq!(code, 0);
    assert!(bytes.iter().all(|byte| *byte == 9));
    // The pages that a child shared go to the kernel, the others to the pool.
    drop(bytes);
    assert_eq!(huepage.vec::<u8>(3 * page_len()).unwrap().len(), 3 * page_len());
}

#[test]
fn without_privileges_regions_work_and_the_rest_is_refused_by_name() {
    let _alone = alone();
    // SAFETY: asks who runs this.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("skipped: only root can give up its privileges");
        return;
    }
    let sysctl = std::fs::read_to_string("/proc/sys/vm/unprivileged_userfaultfd");
    if sysctl.is_ok_and(|text| text.trim() != "0") {
        eprintln!("skipped: vm.unprivileged_userfaultfd lets everyone serve system calls");
        return;
    }
    let code = forked(|| {
        // SAFETY: this process gives up what root may do; becoming another
        // user clears all capabilities (capabilities(7)).
        unsafe {
            if libc::setgroups(0, std::ptr::null()) != 0
                || libc::setresgid(65534, 65534, 65534) != 0
                || libc::setresuid(65534, 65534, 65534) != 0
                || libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0) != 0
            {
                return 1;
            }
        }
        let pagemap = Pagemap::open().unwrap();
        if pagemap.frame_numbers_visible().unwrap() {
            return 2;
        }
        let mut oracle = ByFrame(pagemap);
        let Ok(mut pool) = said_to_be_balanced(64, None) else { return 3 };
        let Ok(mut region) = pool.allocate(bytes(32), &Policy::Balanced) else { return 4 };
        region.as_mut_slice().fill(1);
        if pool.give_back(region).is_err() || pool.pages() != 64 {
            return 5;
        }
        if pool.mechanism() == Mechanism::Remap {
            return 0;
        }
        match pool.allocate(bytes(8), &Policy::Sequence) {
            Err(error @ PlaceError::NeedsPrivilege { .. }) => {
                let text = error.to_string();
                if !text.contains("CAP_SYS_PTRACE") || !text.contains("/dev/userfaultfd") {
                    return 6;
                }
            }
            _ => return 7,
        }
        if pool.pages() != 64 {
            return 8;
        }
        let mut memory = Mapping::populated(4, PageKind::Base).unwrap();
        match recolor(&mut pool, &mut memory, &Policy::Balanced, &mut oracle) {
            Err(error @ PlaceError::NeedsPrivilege { .. }) => {
                if !error.to_string().contains("CAP_SYS_PTRACE") {
                    return 9;
                }
            }
            _ => return 10,
        }
        0
    });
    assert_eq!(code, 0);
}
