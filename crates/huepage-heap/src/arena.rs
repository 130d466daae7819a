// SPDX-License-Identifier: MIT OR Apache-2.0
//! The address space of malloc's memory. This code runs on threads of the program,
//! inside malloc: it allocates nothing and leaves the error number as it was.
//!
//! In mimalloc 3.3 memory comes into use in two ways: by the callback of the arena,
//! and, for the rest of a page of small objects that is used from its start on, by
//! plain mprotect. Both end in [`use_memory`].

use std::{
    ffi::{c_int, c_long, c_void},
    ops::Range,
    ptr,
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
};

use huepage::{
    mapping::PageAddr,
    place::FirstFrames,
    run::{Config, Unplaced},
};
use huepage_loaded::{pages, start};
// It contains the functions declared below.
use libmimalloc_sys as _;
use rustix::mm::{self, Advice, MapFlags, MprotectFlags, ProtFlags};

use crate::{desk, residency};

/// Commits the memory of an arena (true) or takes it back (false).
type Commit = unsafe extern "C" fn(bool, *mut c_void, usize, *mut bool, *mut c_void) -> bool;

unsafe extern "C" {
    fn mi_manage_memory(
        start: *mut c_void,
        size: usize,
        is_committed: bool,
        is_pinned: bool,
        is_zero: bool,
        numa_node: c_int,
        exclusive: bool,
        commit: Commit,
        argument: *mut c_void,
        arena: *mut *mut c_void,
    ) -> bool;
    fn mi_option_set(option: c_int, value: c_long);
    fn __real_mprotect(start: *mut c_void, size: usize, access: c_int) -> c_int;
}

/// `mi_option_page_commit_on_demand`: pages of small objects come into use 64 KiB at a
/// time. Otherwise 512 KiB or 4 MiB would come into use at once, and placed memory has
/// frames whether it is touched or not.
const COMMIT_ON_DEMAND: c_int = 40;

/// The largest power of two that mimalloc manages as one arena, with its records of it;
/// beyond it malloc's memory has frames that the kernel chooses.
const LARGEST: usize = 8 << 30;
/// The smallest arena that it manages.
const SMALLEST: usize = 32 << 20;
const ALIGNMENT: usize = 32 << 20;

static START: AtomicUsize = AtomicUsize::new(0);
static LEN: AtomicUsize = AtomicUsize::new(0);
/// Whether memory that comes into use is the program's, and not the arena's own data.
static READY: AtomicBool = AtomicBool::new(false);
/// The end of the memory that has been in use.
static HIGH: AtomicUsize = AtomicUsize::new(0);
/// Where counting of pages begins: those of a parent do not count.
static COUNTED_FROM: AtomicUsize = AtomicUsize::new(0);
/// Whether the program has enough memory to be worth placing.
static GROWN: AtomicBool = AtomicBool::new(false);
/// The number of pages from which it has.
static WORTH_IT: AtomicUsize = AtomicUsize::new(0);
/// The most pages that are placed at once.
static MOST: AtomicUsize = AtomicUsize::new(0);

/// Pages that were given unplaced.
static EARLY: AtomicU64 = AtomicU64::new(0);
static LARGE: AtomicU64 = AtomicU64::new(0);
static LATE: AtomicU64 = AtomicU64::new(0);

/// A piece larger than this many caches fits in no placement, and may be touched in
/// part only.
const CACHES: usize = 2;

/// Makes malloc use an arena of this library from now on, in a child that of its
/// parent. If that fails, malloc uses its own.
pub fn begin() {
    if LEN.load(Ordering::Relaxed) != 0 {
        return;
    }
    let Some(config) = Config::decode(start::text()) else { return };
    WORTH_IT.store(pages::worth_it(&config), Ordering::Relaxed);
    let most = if config.colors.is_none() { CACHES * pages::of_cache(&config) } else { usize::MAX };
    MOST.store(most, Ordering::Relaxed);
    let Some(range) = reserve() else { return };
    START.store(range.start, Ordering::Relaxed);
    LEN.store(range.len(), Ordering::Release);
    let mut arena = ptr::null_mut();
    // SAFETY: the range is new and ours, and no other code has its address; the
    // callback is a function of this library, which stays loaded.
    let managed = unsafe {
        let start = ptr::with_exposed_provenance_mut(range.start);
        let none = ptr::null_mut();
        mi_option_set(COMMIT_ON_DEMAND, 1);
        mi_manage_memory(
            start,
            range.len(),
            false,
            false,
            true,
            -1,
            false,
            commit,
            none,
            &mut arena,
        )
    };
    COUNTED_FROM.store(HIGH.load(Ordering::Relaxed), Ordering::Relaxed);
    READY.store(managed, Ordering::Release);
}

/// Address space without access: it takes no memory, and does not count as committed.
fn reserve() -> Option<Range<usize>> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::As).current;
    // Most of the limit is left to the program.
    let most = limit.map_or(LARGEST, |limit| (limit as usize / 4).min(LARGEST));
    let mut len = most / ALIGNMENT * ALIGNMENT;
    while len >= SMALLEST {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        let all = len + ALIGNMENT;
        // SAFETY: new memory at an address of the kernel's choice.
        let mapped = unsafe { mm::mmap_anonymous(ptr::null_mut(), all, ProtFlags::empty(), flags) };
        if let Ok(mapped) = mapped {
            let start = mapped.expose_provenance().next_multiple_of(ALIGNMENT);
            return Some(start..start + len);
        }
        len = len / 4 / ALIGNMENT * ALIGNMENT;
    }
    None
}

/// The part of the arena that has been in use, if there is one.
pub fn used_part() -> Range<usize> {
    let start = START.load(Ordering::Relaxed);
    start..HIGH.load(Ordering::Relaxed).max(start)
}

/// Counts memory that malloc gave unplaced without the placer.
pub fn note_unplaced(unplaced: &mut Unplaced) {
    unplaced.early = EARLY.load(Ordering::Relaxed);
    unplaced.large = LARGE.load(Ordering::Relaxed);
    unplaced.late = LATE.load(Ordering::Relaxed);
}

/// Counts memory that was given while the placer was not ready, in bytes.
pub fn note_late(len: usize) {
    LATE.fetch_add((len / rustix::param::page_size()) as u64, Ordering::Relaxed);
}

/// In a child, which is worth placing only once it has grown by itself.
pub fn begin_anew() {
    COUNTED_FROM.store(HIGH.load(Ordering::Relaxed), Ordering::Relaxed);
    GROWN.store(false, Ordering::Relaxed);
    for count in [&EARLY, &LARGE, &LATE] {
        count.store(0, Ordering::Relaxed);
    }
}

/// mimalloc calls this before it uses memory of the arena, and to give memory back.
unsafe extern "C" fn commit(
    use_it: bool,
    start: *mut c_void,
    size: usize,
    _is_zero: *mut bool,
    _: *mut c_void,
) -> bool {
    // SAFETY: mimalloc names memory of the arena that it holds.
    keeping_errno(|| unsafe {
        if use_it {
            use_memory(start, size)
        } else {
            mm::madvise(start, size, Advice::LinuxDontNeed).is_ok()
        }
    })
}

/// mimalloc calls this instead of mprotect (see `build.rs`).
///
/// # Safety
/// As mprotect(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap_mprotect(start: *mut c_void, size: usize, access: c_int) -> c_int {
    let at = start.addr();
    let arena = START.load(Ordering::Relaxed);
    let inside = at >= arena && at - arena < LEN.load(Ordering::Acquire);
    if inside && access == libc::PROT_READ | libc::PROT_WRITE {
        // SAFETY: memory of the arena, which mimalloc begins to use.
        if keeping_errno(|| unsafe { use_memory(start, size) }) {
            return 0;
        }
    }
    // SAFETY: the caller's contract.
    unsafe { __real_mprotect(start, size, access) }
}

/// Makes memory accessible, and asks the placer to fill it if that is worth it.
///
/// # Safety
/// The memory is of the arena, and no thread accesses it before this returns.
unsafe fn use_memory(start: *mut c_void, size: usize) -> bool {
    let page = rustix::param::page_size();
    let range = start.addr()..start.addr() + size;
    if FirstFrames::lost(PageAddr::containing(start), size / page) {
        return false;
    }
    let access = MprotectFlags::READ | MprotectFlags::WRITE;
    // SAFETY: the caller's contract.
    if unsafe { mm::mprotect(start, size, access) }.is_err() {
        return false;
    }
    HIGH.fetch_max(range.end, Ordering::Relaxed);
    if !READY.load(Ordering::Acquire) || desk::is_placer() {
        return true;
    }
    let pages = size / page;
    if !grown(pages) {
        EARLY.fetch_add(pages as u64, Ordering::Relaxed);
    } else if pages > MOST.load(Ordering::Relaxed) {
        LARGE.fetch_add(pages as u64, Ordering::Relaxed);
    } else if !desk::ask(range) {
        note_late(size);
    }
    !FirstFrames::lost(PageAddr::containing(start), pages)
}

/// Whether the program's memory, these pages included, is worth placing.
fn grown(pages: usize) -> bool {
    if GROWN.load(Ordering::Relaxed) {
        return true;
    }
    let worth_it = WORTH_IT.load(Ordering::Relaxed);
    let from = COUNTED_FROM.load(Ordering::Relaxed);
    let counted = || residency::count(from..HIGH.load(Ordering::Relaxed), worth_it);
    let grown = pages >= worth_it || pages + counted() >= worth_it;
    GROWN.store(grown, Ordering::Relaxed);
    grown
}

fn keeping_errno<T>(call: impl FnOnce() -> T) -> T {
    // SAFETY: the C library's variable for the error number of this thread.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { errno.read() };
    let result = call();
    // SAFETY: as above.
    unsafe { errno.write(before) };
    result
}
