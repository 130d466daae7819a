// SPDX-License-Identifier: MIT OR Apache-2.0
//! Starts the thread from the loader; forks; the end.
//!
//! This code runs on threads of the program: it allocates nothing, and keeps its state
//! in statics that are usable at any time.

use std::{
    ffi::{CStr, c_char, c_void},
    mem::MaybeUninit,
    ops::Range,
    ptr,
    sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
};

use huepage::{proc::numeric_entries, run::CONFIG};
use rustix::{
    mm::{self, MapFlags, MprotectFlags, ProtFlags},
    process::Pid,
    thread::{Timespec, futex, gettid},
};

use crate::{
    heap, privileges,
    state::{self, ENDED, ENDING, Library, library},
    tally,
};

/// A copy of the configuration from the environment, which the program may change.
struct Text(std::cell::UnsafeCell<[u8; 8192]>);
// SAFETY: written by `init` before any other thread of this library exists.
unsafe impl Sync for Text {}
static TEXT: Text = Text(std::cell::UnsafeCell::new([0; 8192]));
static LENGTH: AtomicUsize = AtomicUsize::new(0);

/// Whether the end of the program waits for the last report.
pub static WANTED: AtomicBool = AtomicBool::new(false);
/// Whether children are placed too.
static FOLLOW: AtomicBool = AtomicBool::new(false);

/// The exit code of the program's first thread, if all threads of the program have
/// ended.
static EXIT_CODE: AtomicU32 = AtomicU32::new(0);

const STACK: usize = 1 << 20;
const GUARD: usize = 64 << 10;
/// The thread's number, once it runs.
static TASK: AtomicU32 = AtomicU32::new(0);
static STACK_AT: AtomicUsize = AtomicUsize::new(0);

/// The configuration as JSON.
pub fn text() -> &'static [u8] {
    // SAFETY: not written after `init`.
    let all: &'static [u8; 8192] = unsafe { &*TEXT.0.get() };
    &all[..LENGTH.load(Ordering::Acquire)]
}

/// An address of this library.
pub fn address() -> usize {
    load as *const () as usize
}

/// Where the thread's stack is.
pub fn stack() -> Range<usize> {
    let start = STACK_AT.load(Ordering::Relaxed);
    start..start + STACK
}

/// To be called when the loader initializes the library: starts the thread, if
/// the environment has a configuration.
pub fn load(library: &'static Library) {
    state::set_library(library);
    let mut name = [0u8; 32];
    name[..CONFIG.len()].copy_from_slice(CONFIG.as_bytes());
    // SAFETY: a name that ends with a zero; the value is copied before it is unset.
    let Some(value) = (unsafe { variable(name.as_ptr().cast()) }) else { return };
    let value = value.to_bytes();
    // SAFETY: not read before LENGTH is set.
    let text = unsafe { &mut *TEXT.0.get() };
    if value.len() > text.len() || is_emulated() {
        return;
    }
    text[..value.len()].copy_from_slice(value);
    LENGTH.store(value.len(), Ordering::Release);
    let follow = text.first() == Some(&huepage::run::FOLLOW);
    FOLLOW.store(follow, Ordering::Relaxed);
    if !follow {
        leave_environment(&name);
    }
    // SAFETY: the handler is a function of this library, which stays loaded.
    unsafe { libc::pthread_atfork(None, None, Some(forked)) };
    begin();
}

/// The value of an environment variable. No other thread changes the environment while
/// the loader runs.
///
/// # Safety
/// The name ends with a zero, and the value is not used after the variable was set.
unsafe fn variable(name: *const c_char) -> Option<&'static CStr> {
    // SAFETY: the caller's contract.
    let value = unsafe { libc::getenv(name) };
    // SAFETY: getenv returns a string.
    (!value.is_null()).then(|| unsafe { CStr::from_ptr(value) })
}

/// Whether Valgrind runs the program: then the program's memory is not the memory that
/// the kernel maps for it.
fn is_emulated() -> bool {
    let part = b"/vgpreload_";
    // SAFETY: a name that ends with a zero, of a variable that is not set meanwhile.
    let list = unsafe { variable(c"LD_PRELOAD".as_ptr()) };
    list.is_some_and(|list| list.to_bytes().windows(part.len()).any(|window| window == part))
}

/// Removes this library, which is the first one in the list, from the environment of
/// programs that this one executes.
fn leave_environment(config: &[u8; 32]) {
    let preload = c"LD_PRELOAD".as_ptr();
    // SAFETY: names that end with a zero; what the variable held is not used after it was
    // set.
    unsafe {
        libc::unsetenv(config.as_ptr().cast());
        let Some(list) = variable(preload) else { return };
        match list.to_bytes().iter().position(|byte| *byte == b':') {
            Some(at) => libc::setenv(preload, list.as_ptr().add(at + 1), 1),
            None => libc::unsetenv(preload),
        };
    }
}

/// Starts the thread. If that fails, the program runs without it.
fn begin() {
    if start_thread()
        && let Some(library) = library()
    {
        (library.begun)();
    }
}

fn start_thread() -> bool {
    if !heap::begin() {
        return false;
    }
    let Some(stack) = new_stack() else { return false };
    STACK_AT.store(stack.expose_provenance(), Ordering::Relaxed);
    let mut all = MaybeUninit::uninit();
    let mut before = MaybeUninit::uninit();
    let mut attributes = MaybeUninit::uninit();
    let mut thread = MaybeUninit::uninit();
    // SAFETY: each call initializes what the next one reads; the stack is memory that
    // no other code uses.
    let created = unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        libc::pthread_attr_init(attributes.as_mut_ptr());
        libc::pthread_attr_setstack(attributes.as_mut_ptr(), stack, STACK);
        libc::pthread_attr_setdetachstate(attributes.as_mut_ptr(), libc::PTHREAD_CREATE_DETACHED);
        let failed =
            libc::pthread_create(thread.as_mut_ptr(), attributes.as_ptr(), run, ptr::null_mut());
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut());
        failed == 0
    };
    if created {
        leave_count();
    }
    created
}

/// Takes the thread of the library off the C library's count of threads: then the last
/// thread of the program to end finds that it is the last, and ends the process
/// (`exit`), although this one goes on. With a C library without that count,
/// [`is_alone`] is used.
fn leave_count() {
    // SAFETY: names that end with a zero.
    let count: *mut c_void = unsafe {
        libc::dlvsym(libc::RTLD_DEFAULT, c"__nptl_nthreads".as_ptr(), c"GLIBC_PRIVATE".as_ptr())
    };
    let count = count.cast::<u32>();
    if !count.is_null() && count.is_aligned() {
        // SAFETY: an unsigned int of the C library, which it changes by atomic
        // operations and never takes away.
        unsafe { AtomicU32::from_ptr(count) }.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Whether all threads of the program have ended without ending the process.
pub fn is_alone() -> bool {
    let Ok(tasks) = numeric_entries(c"/proc/self/task") else { return false };
    let first = std::process::id();
    let own = gettid().as_raw_nonzero().get() as u32;
    let others = || tasks.iter().filter(|&&task| task != own);
    if own == first || others().any(|&task| task != first) {
        return false;
    }
    // The first thread stays as a zombie as long as there is another thread.
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let Some((_, after_name)) = stat.rsplit_once(") ") else { return false };
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    // The exit code is the last field of proc(5), in the form of wait(2).
    let code = fields.get(49).and_then(|code| code.parse::<u32>().ok()).unwrap_or(0);
    EXIT_CODE.store(code >> 8, Ordering::Relaxed);
    fields.first() == Some(&"Z")
}

/// A stack that neither grows into other memory nor is part of a mapping with memory of
/// the program.
fn new_stack() -> Option<*mut c_void> {
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    let len = GUARD + STACK + GUARD;
    // SAFETY: new memory at an address of the kernel's choice.
    let start = unsafe { mm::mmap_anonymous(ptr::null_mut(), len, ProtFlags::empty(), flags) };
    let stack = start.ok()?.wrapping_byte_add(GUARD);
    // SAFETY: a part of the new memory.
    unsafe { mm::mprotect(stack, STACK, MprotectFlags::READ | MprotectFlags::WRITE) }.ok()?;
    Some(stack)
}

extern "C" fn run(_: *mut c_void) -> *mut c_void {
    TASK.store(gettid().as_raw_nonzero().get() as u32, Ordering::Release);
    // A panic ends only this thread, not the program.
    std::panic::set_hook(Box::new(|_| {}));
    if let Some(library) = library() {
        let _ = std::panic::catch_unwind(library.run);
    }
    ENDED.store(1, Ordering::Release);
    let _ = futex::wake(&ENDED, futex::Flags::PRIVATE, u32::MAX);
    // Not by the C library, which does not count this thread. If it is the last one,
    // the process ends with this code.
    let code = EXIT_CODE.load(Ordering::Relaxed);
    // SAFETY: nothing of this thread is used any more, and its stack stays mapped.
    unsafe { libc::syscall(libc::SYS_exit, code) };
    unreachable!("the thread has ended")
}

/// In a forked child, which has no copy of the thread.
extern "C" fn forked() {
    ENDING.store(0, Ordering::Relaxed);
    ENDED.store(0, Ordering::Relaxed);
    tally::begin_anew();
    privileges::begin_anew();
    if let Some(library) = library() {
        (library.forked)();
    }
    if FOLLOW.load(Ordering::Relaxed) {
        begin();
    } else {
        ENDED.store(1, Ordering::Relaxed);
    }
}

/// How long the end of the program waits for the last report: the thread may be
/// measuring colors.
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// To be called when the program ends.
pub fn unload() {
    if LENGTH.load(Ordering::Relaxed) == 0 {
        return;
    }
    tell_to_end();
    if !WANTED.load(Ordering::Relaxed) {
        return;
    }
    let _ = futex::wait(&ENDED, futex::Flags::PRIVATE, 0, Some(&PATIENCE));
    if ENDED.load(Ordering::Acquire) == 1 {
        tally::print_summary();
    }
}

fn tell_to_end() {
    ENDING.store(1, Ordering::Release);
    if let Some(library) = library() {
        (library.ending)();
    }
    let _ = futex::wake(&ENDING, futex::Flags::PRIVATE, u32::MAX);
}

/// Ends the thread while the program goes on; when this returns the thread is gone,
/// unless it measures colors for longer than the end of a program waits, or rests.
pub fn end_thread() {
    if LENGTH.load(Ordering::Relaxed) == 0 {
        return;
    }
    tell_to_end();
    let _ = futex::wait(&ENDED, futex::Flags::PRIVATE, 0, Some(&PATIENCE));
    let process = rustix::process::getpid();
    while ENDED.load(Ordering::Acquire) == 1 && is_there(process) {
        rustix::thread::sched_yield();
    }
}

/// Whether the thread still exists in the process.
fn is_there(process: Pid) -> bool {
    let thread = TASK.load(Ordering::Acquire);
    let process = process.as_raw_nonzero().get();
    // SAFETY: signal 0 only checks whether the thread exists.
    thread != 0 && unsafe { libc::syscall(libc::SYS_tgkill, process, thread, 0) } == 0
}
