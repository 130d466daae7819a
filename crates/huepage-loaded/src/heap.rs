// SPDX-License-Identifier: MIT OR Apache-2.0
//! The heap of this library: one stretch of address space, reserved at the start and
//! used from one end.
//!
//! Children do not inherit it (`MADV_DONTFORK`); a child that is placed too begins a
//! heap of its own. Parts that are not used yet cannot be accessed, so `mlockall` does
//! not fill them.
//!
//! If the program is at a limit of its data, or the machine at the limit of committed
//! memory, no more of it can be made accessible. The program must not end because of
//! that, as it would if an allocation of Rust failed. So a reserve is accessible from
//! the start; once it is touched the placer has to stop ([`enough`]), and can still
//! report why. If even the reserve is used up, the thread rests forever.

use std::{
    alloc::{GlobalAlloc, Layout},
    cell::UnsafeCell,
    hint,
    ops::Range,
    ptr,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use dlmalloc::Dlmalloc;
use rustix::mm::{self, Advice, MapFlags, MprotectFlags, ProtFlags};

use crate::state;

/// Address space of a heap. Only the parts that are used take memory.
const SIZE: usize = 64 << 20;
/// Memory is made accessible in steps of this size.
const STEP: usize = 256 << 10;
/// The reserve, at the end: some hundred times the memory needed from one call of
/// [`enough`] to the next, and for the last report.
const RESERVE: usize = 2 * STEP;

static START: AtomicUsize = AtomicUsize::new(0);
static USED: AtomicUsize = AtomicUsize::new(0);
/// Bytes of the reserve that were handed out.
static RESERVE_USED: AtomicUsize = AtomicUsize::new(0);

static HEAP: Locked = Locked {
    locked: AtomicBool::new(false),
    heap: UnsafeCell::new(Dlmalloc::new_with_allocator(Stretch)),
};

/// The heap, to be the global allocator of a library. Not of its tests, which use
/// threads and the heap of the system.
#[derive(Debug)]
pub struct Heap;

struct Locked {
    locked: AtomicBool,
    heap: UnsafeCell<Dlmalloc<Stretch>>,
}

// SAFETY: the heap is used only by the thread that has set `locked`.
unsafe impl Sync for Locked {}

/// Reserves the address space; returns whether that succeeded. Memory allocated before
/// is lost to this library: to be called before any is allocated, and in a child, which
/// has not inherited the heap.
pub fn begin() -> bool {
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    // SAFETY: new memory at an address of the kernel's choice.
    let mapped = unsafe { mm::mmap_anonymous(ptr::null_mut(), SIZE, ProtFlags::empty(), flags) };
    let Ok(start) = mapped else { return false };
    let reserve = start.wrapping_byte_add(SIZE - RESERVE);
    // SAFETY: memory of this library, which holds nothing yet.
    let done = unsafe {
        mm::madvise(start, SIZE, Advice::LinuxDontFork)
            .and_then(|()| mm::mprotect(reserve, RESERVE, ACCESSIBLE))
    };
    if done.is_err() {
        // SAFETY: mapped above, and no other code has its address.
        let _ = unsafe { mm::munmap(start, SIZE) };
        return false;
    }
    START.store(start.expose_provenance(), Ordering::Relaxed);
    USED.store(0, Ordering::Relaxed);
    RESERVE_USED.store(0, Ordering::Relaxed);
    // SAFETY: the caller's promise: no other thread of this library runs, and
    // nothing that was allocated before is used again.
    unsafe { HEAP.heap.get().write(Dlmalloc::new_with_allocator(Stretch)) };
    HEAP.locked.store(false, Ordering::Release);
    true
}

/// The address space of the heap.
pub fn range() -> Range<usize> {
    let start = START.load(Ordering::Relaxed);
    start..start + SIZE
}

/// Memory that was made accessible, in bytes.
pub fn used() -> usize {
    USED.load(Ordering::Relaxed)
}

/// To be called before any operation that must be completed.
///
/// # Errors
/// That the heap could not grow, as a sentence.
pub fn enough() -> Result<(), String> {
    match RESERVE_USED.load(Ordering::Relaxed) {
        0 => Ok(()),
        _ => Err("there is no memory to keep accounts in, by a limit of the program or of the \
                  machine"
            .into()),
    }
}

const ACCESSIBLE: MprotectFlags = MprotectFlags::READ.union(MprotectFlags::WRITE);

impl Locked {
    fn with<T>(&self, call: impl FnOnce(&mut Dlmalloc<Stretch>) -> T) -> T {
        // Only one thread uses this heap; another one would not wait long.
        while self.locked.swap(true, Ordering::Acquire) {
            hint::spin_loop();
        }
        // SAFETY: `locked` was free, so no other code has a reference.
        let result = call(unsafe { &mut *self.heap.get() });
        self.locked.store(false, Ordering::Release);
        result
    }

    /// As [`Locked::with`]; does not return if there is no memory.
    fn allocate(&self, call: impl FnOnce(&mut Dlmalloc<Stretch>) -> *mut u8) -> *mut u8 {
        let result = self.with(call);
        if result.is_null() {
            state::rest();
        }
        result
    }
}

// SAFETY: dlmalloc keeps the contract; no call of it unwinds.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract.
        HEAP.allocate(|heap| unsafe { heap.malloc(layout.size(), layout.align()) })
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract.
        HEAP.with(|heap| unsafe { heap.free(ptr, layout.size(), layout.align()) });
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract.
        HEAP.allocate(|heap| unsafe { heap.calloc(layout.size(), layout.align()) })
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's contract.
        HEAP.allocate(|heap| unsafe { heap.realloc(ptr, layout.size(), layout.align(), size) })
    }
}

/// Gives out the stretch from its start on, and takes no part back.
struct Stretch;

// SAFETY: every part is handed out once, and stays accessible.
unsafe impl dlmalloc::Allocator for Stretch {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        const NONE: (*mut u8, usize, u32) = (ptr::null_mut(), 0, 0);
        let (start, used) = (START.load(Ordering::Relaxed), USED.load(Ordering::Relaxed));
        let Some(size) = size.checked_next_multiple_of(STEP) else { return NONE };
        if start == 0 {
            return NONE;
        }
        let part = ptr::with_exposed_provenance_mut::<u8>(start + used);
        let fits = size <= SIZE - RESERVE - used;
        // SAFETY: a part of the stretch that is not used yet.
        if fits && unsafe { mm::mprotect(part.cast(), size, ACCESSIBLE) }.is_ok() {
            USED.store(used + size, Ordering::Relaxed);
            return (part, size, 0);
        }
        let reserve_used = RESERVE_USED.load(Ordering::Relaxed);
        if size > RESERVE - reserve_used {
            return NONE;
        }
        RESERVE_USED.store(reserve_used + size, Ordering::Relaxed);
        let part = start + SIZE - RESERVE + reserve_used;
        (ptr::with_exposed_provenance_mut(part), size, 0)
    }

    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        ptr::null_mut()
    }

    fn free_part(&self, _: *mut u8, _: usize, _: usize) -> bool {
        false
    }

    fn free(&self, _: *mut u8, _: usize) -> bool {
        false
    }

    fn can_release_part(&self, _: u32) -> bool {
        false
    }

    fn allocates_zeros(&self) -> bool {
        true
    }

    fn page_size(&self) -> usize {
        rustix::param::page_size()
    }
}
