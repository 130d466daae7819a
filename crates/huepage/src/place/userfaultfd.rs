// SPDX-License-Identifier: MIT OR Apache-2.0
//! userfaultfd: the system calls, one method each.
//!
//! Structures and request numbers are those of `include/uapi/linux/userfaultfd.h`;
//! their meaning is in `userfaultfd(2)`, `ioctl_userfaultfd(2)` and the kernel's
//! `Documentation/admin-guide/mm/userfaultfd.rst`.

use std::{
    fs::OpenOptions,
    os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd},
};

use rustix::{
    io::Errno,
    ioctl::{self, Ioctl, IoctlOutput, Opcode, Updater, opcode},
    mm::UserfaultfdFlags,
};

use crate::{frames::Pagemap, mapping::PageAddr};

/// Which faults a handler of the descriptor serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Faults {
    /// Only faults of user code; a system call that meets a hole fails with
    /// `EFAULT`. Needs no privilege (`UFFD_USER_MODE_ONLY`, Linux 5.11).
    UserMode,
    /// Faults of user code and of system calls that read or write the range.
    All,
}

/// Optional abilities, as bits of `uffdio_api.features`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Features(u64);

impl Features {
    /// `UFFDIO_MOVE` (Linux 6.8).
    pub const MOVE: Features = Features(1 << 16);
    /// Report a fork and hold it until the report is read; needs `CAP_SYS_PTRACE`.
    pub const EVENT_FORK: Features = Features(1 << 1);
    /// Report `mremap` of registered pages likewise, which then stay registered.
    pub const EVENT_REMAP: Features = Features(1 << 2);
    /// Report `madvise` calls that discard pages, and hold them likewise.
    pub const EVENT_REMOVE: Features = Features(1 << 3);
    /// Report that registered pages were unmapped, likewise.
    pub const EVENT_UNMAP: Features = Features(1 << 6);

    pub const fn and(self, other: Features) -> Features {
        Features(self.0 | other.0)
    }
}

/// Why a descriptor could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UserfaultfdError {
    /// The kernel was built without it, or a sandbox hides it.
    #[error("this kernel has no userfaultfd (CONFIG_USERFAULTFD off, or filtered by a sandbox)")]
    Missing,
    /// A seccomp filter forbids it, though the process could otherwise open one.
    #[error(
        "a filter of system calls (seccomp) forbids userfaultfd: allow it in the profile of the \
         container or in SystemCallFilter= of the unit"
    )]
    Filtered,
    /// The kernel lacks an ability that is needed here.
    #[error("this kernel's userfaultfd cannot {0}")]
    Lacks(&'static str),
    /// Faults inside system calls need a privilege.
    #[error(
        "serving page faults of system calls needs CAP_SYS_PTRACE, or \
         vm.unprivileged_userfaultfd=1, or access to /dev/userfaultfd"
    )]
    KernelFaultsDenied,
    /// Following forks needs a privilege.
    #[error("serving page faults of system calls and following forks needs CAP_SYS_PTRACE")]
    ForkEventsDenied,
    /// Anything else.
    #[error("userfaultfd: {0}")]
    System(std::io::Error),
}

/// One message of the descriptor.
#[derive(Debug)]
pub(super) enum Event {
    /// A thread waits for the page at this address.
    Fault(PageAddr),
    /// The process forked; the descriptor handles the child's copy of the ranges.
    Fork(Userfaultfd),
    /// A thread is discarding this range: `[start, end)`.
    Remove(PageAddr, PageAddr),
    /// A thread has unmapped pages.
    Unmap,
    /// A thread has moved so many pages from the first address to the second.
    Remap(PageAddr, PageAddr, usize),
}

/// How far a request for several pages came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Progress {
    /// Pages done, counted from the start of the range.
    pub pages: usize,
    /// Why it stopped before the end; `None` if it did not.
    pub stop: Option<Errno>,
}

/// A userfaultfd of this process.
#[derive(Debug)]
pub(super) struct Userfaultfd {
    fd: OwnedFd,
    /// `None` for the descriptor of a child, to which no page is moved.
    pagemap: Option<Pagemap>,
}

#[repr(C)]
struct Api {
    api: u64,
    features: u64,
    ioctls: u64,
}

#[repr(C)]
struct Range {
    start: u64,
    len: u64,
}

#[repr(C)]
struct Register {
    range: Range,
    mode: u64,
    ioctls: u64,
}

/// `uffdio_copy` and `uffdio_move` have the same shape.
#[repr(C)]
struct Transfer {
    dst: u64,
    src: u64,
    len: u64,
    mode: u64,
    done: i64,
}

/// `uffdio_zeropage` and `uffdio_poison` have the same shape.
#[repr(C)]
struct Fill {
    range: Range,
    mode: u64,
    done: i64,
}

const API: u64 = 0xAA;
const TYPE: u8 = 0xAA;
const MODE_MISSING: u64 = 1;

const UFFDIO_API: Opcode = opcode::read_write::<Api>(TYPE, 0x3F);
const UFFDIO_REGISTER: Opcode = opcode::read_write::<Register>(TYPE, 0x00);
// The header declares it as reading, although the kernel only reads the argument.
const UFFDIO_UNREGISTER: Opcode = opcode::read::<Range>(TYPE, 0x01);
const UFFDIO_WAKE: Opcode = opcode::read::<Range>(TYPE, 0x02);
const UFFDIO_COPY: Opcode = opcode::read_write::<Transfer>(TYPE, 0x03);
const UFFDIO_ZEROPAGE: Opcode = opcode::read_write::<Fill>(TYPE, 0x04);
const UFFDIO_MOVE: Opcode = opcode::read_write::<Transfer>(TYPE, 0x05);
const UFFDIO_POISON: Opcode = opcode::read_write::<Fill>(TYPE, 0x08);

/// `UFFD_USER_MODE_ONLY`, which rustix does not name.
const USER_MODE_ONLY: UserfaultfdFlags = UserfaultfdFlags::from_bits_retain(1);

fn range(start: PageAddr, pages: usize) -> Range {
    Range { start: start.get() as u64, len: (pages * rustix::param::page_size()) as u64 }
}

impl Userfaultfd {
    /// A descriptor for faults of the given kind with the given features.
    ///
    /// # Errors
    /// [`UserfaultfdError`] names what the kernel or the process lacks.
    pub fn open(faults: Faults, features: Features) -> Result<Self, UserfaultfdError> {
        let follows = features.0 & Features::EVENT_FORK.0 != 0;
        let fd = Self::descriptor(faults).map_err(|error| match error {
            // Other privileges that allow these faults do not allow following forks.
            UserfaultfdError::KernelFaultsDenied if follows => UserfaultfdError::ForkEventsDenied,
            error => error,
        })?;
        let pagemap = Some(Pagemap::open().map_err(UserfaultfdError::System)?);
        let uffd = Userfaultfd { fd, pagemap };
        match uffd.handshake(features) {
            Ok(()) => Ok(uffd),
            Err(Errno::PERM) => Err(UserfaultfdError::ForkEventsDenied),
            // The kernel does not know a feature; the move is the newest of them.
            Err(Errno::INVAL) if features.0 & Features::MOVE.0 != 0 => {
                Err(UserfaultfdError::Lacks("move pages (UFFDIO_MOVE, Linux 6.8)"))
            }
            Err(Errno::INVAL) => Err(UserfaultfdError::Lacks("report forks and discarded pages")),
            Err(e) => Err(UserfaultfdError::System(e.into())),
        }
    }

    fn descriptor(faults: Faults) -> Result<OwnedFd, UserfaultfdError> {
        let flags = UserfaultfdFlags::CLOEXEC | UserfaultfdFlags::NONBLOCK;
        let extra = match faults {
            Faults::UserMode => USER_MODE_ONLY,
            Faults::All => UserfaultfdFlags::empty(),
        };
        // SAFETY: a descriptor without registered ranges affects no memory; the call
        // that registers them has its own contract.
        match unsafe { rustix::mm::userfaultfd(flags | extra) } {
            Ok(fd) => Ok(fd),
            Err(Errno::NOSYS) => Err(UserfaultfdError::Missing),
            Err(Errno::INVAL) if faults == Faults::UserMode => {
                Err(UserfaultfdError::Lacks("be limited to user mode (Linux 5.11)"))
            }
            Err(Errno::PERM) if faults == Faults::All => {
                // The kernel gives every process a descriptor for user mode.
                Self::from_device(flags).ok_or_else(|| match Self::descriptor(Faults::UserMode) {
                    Err(UserfaultfdError::Filtered) => UserfaultfdError::Filtered,
                    _ => UserfaultfdError::KernelFaultsDenied,
                })
            }
            Err(Errno::PERM) => Err(UserfaultfdError::Filtered),
            Err(e) => Err(UserfaultfdError::System(e.into())),
        }
    }

    /// `/dev/userfaultfd` (Linux 6.1): a process that may open it gets descriptors for
    /// all faults.
    fn from_device(flags: UserfaultfdFlags) -> Option<OwnedFd> {
        struct New(UserfaultfdFlags);

        // SAFETY: USERFAULTFD_IOC_NEW takes its flags as a number, writes no
        // memory and returns a new descriptor.
        unsafe impl Ioctl for New {
            type Output = OwnedFd;
            const IS_MUTATING: bool = false;

            fn opcode(&self) -> Opcode {
                opcode::none(TYPE, 0x00)
            }

            fn as_ptr(&mut self) -> *mut rustix::ffi::c_void {
                std::ptr::without_provenance_mut(self.0.bits() as usize)
            }

            unsafe fn output_from_ptr(
                out: IoctlOutput,
                _: *mut rustix::ffi::c_void,
            ) -> rustix::io::Result<OwnedFd> {
                // SAFETY: the call succeeded, so this is a new descriptor, which only
                // this code owns.
                Ok(unsafe { OwnedFd::from_raw_fd(out) })
            }
        }

        let device = OpenOptions::new().read(true).write(true).open("/dev/userfaultfd").ok()?;
        // SAFETY: the request is the one this device documents.
        unsafe { ioctl::ioctl(&device, New(flags)) }.ok()
    }

    fn handshake(&self, features: Features) -> rustix::io::Result<()> {
        let mut api = Api { api: API, features: features.0, ioctls: 0 };
        // SAFETY: UFFDIO_API takes and fills a `uffdio_api`.
        unsafe { ioctl::ioctl(&self.fd, Updater::<UFFDIO_API, Api>::new(&mut api)) }
    }

    /// From now on a touch of a missing page in the range waits until the page
    /// is put there (`UFFDIO_REGISTER`, mode missing).
    ///
    /// # Errors
    /// `EBUSY`: registered with another descriptor. `EINVAL`: not mapped, or
    /// not memory that can be registered.
    ///
    /// # Safety
    /// A thread that touches a missing page of the range stops until this process fills
    /// the page: the caller must ensure that.
    pub unsafe fn register(&self, start: PageAddr, pages: usize) -> rustix::io::Result<()> {
        let mut arg = Register { range: range(start, pages), mode: MODE_MISSING, ioctls: 0 };
        // SAFETY: UFFDIO_REGISTER takes and fills a `uffdio_register`.
        unsafe { ioctl::ioctl(&self.fd, Updater::<UFFDIO_REGISTER, Register>::new(&mut arg)) }
    }

    /// Ends [`Userfaultfd::register`] and wakes all threads that wait in the range.
    ///
    /// # Errors
    /// `EINVAL`: part of the range is no longer mapped memory of the right kind.
    pub fn unregister(&self, start: PageAddr, pages: usize) -> rustix::io::Result<()> {
        let mut arg = range(start, pages);
        // SAFETY: UFFDIO_UNREGISTER takes a `uffdio_range`.
        unsafe { ioctl::ioctl(&self.fd, Updater::<UFFDIO_UNREGISTER, Range>::new(&mut arg)) }
    }

    /// Wakes all threads that wait in the range, to fault again.
    ///
    /// # Errors
    /// `EINVAL`: no valid range.
    pub fn wake(&self, start: PageAddr, pages: usize) -> rustix::io::Result<()> {
        let mut arg = range(start, pages);
        // SAFETY: UFFDIO_WAKE takes a `uffdio_range`.
        unsafe { ioctl::ioctl(&self.fd, Updater::<UFFDIO_WAKE, Range>::new(&mut arg)) }
    }

    /// Moves pages with their frames: `dst` must be missing and registered with this
    /// descriptor, `src` present (`UFFDIO_MOVE`). Wakes waiting threads.
    ///
    /// Stops with `EAGAIN` (page locked, or an event must be read first),
    /// `EBUSY` (shared with a child, deduplicated or pinned), `EEXIST`
    /// (destination present), `ENOENT` (source missing, or destination not
    /// registered), `EINVAL` (areas differ in protection or locking), `ENOMEM`.
    ///
    /// Linux 6.18 returns `EEXIST` for moves that it has made: if a page's entry
    /// changes during the move (accessed bit, end of sharing), it tries again, moves
    /// the page, still holds the first try's `EAGAIN`, and tries a third time
    /// (`move_pages` in mm/userfaultfd.c). So `EEXIST` means that the page was not
    /// moved only if the source is still there.
    ///
    /// # Safety
    /// No code may rely on the bytes at `src` staying there, nor on `dst` being
    /// untouched memory. If `dst` is present, only the caller may make a page of `src`
    /// missing.
    pub unsafe fn move_pages(&self, dst: PageAddr, src: PageAddr, pages: usize) -> Progress {
        // SAFETY: UFFDIO_MOVE takes and fills a `uffdio_move`; effects as above.
        let told = unsafe { self.transfer::<UFFDIO_MOVE>(dst, src, pages) };
        if told.stop != Some(Errno::EXIST) || !self.missing(src.nth(told.pages)) {
            return told;
        }
        // The kernel did not wake threads that wait for the page.
        let _ = self.wake(dst.nth(told.pages), 1);
        let moved = told.pages + 1;
        Progress { pages: moved, stop: (moved < pages).then_some(Errno::AGAIN) }
    }

    fn missing(&self, page: PageAddr) -> bool {
        let state = self.pagemap.as_ref().and_then(|pagemap| pagemap.state(page).ok());
        state.is_some_and(|state| !state.present() && !state.swapped())
    }

    /// Copies pages into new frames at `dst`, which must be missing and
    /// registered with this descriptor; for a child's descriptor `dst` is an address in
    /// the child (`UFFDIO_COPY`). Wakes waiting threads.
    ///
    /// Stops with `EAGAIN`, `EEXIST`, `ENOENT`, `ENOMEM` as the move does, and
    /// `ESRCH` if the process has ended.
    ///
    /// # Safety
    /// No code may rely on `dst` being untouched memory; `src` must be readable.
    pub unsafe fn copy_pages(&self, dst: PageAddr, src: PageAddr, pages: usize) -> Progress {
        // SAFETY: UFFDIO_COPY takes and fills a `uffdio_copy`; effects as above.
        unsafe { self.transfer::<UFFDIO_COPY>(dst, src, pages) }
    }

    /// # Safety
    /// As the request `OP` needs, which must take a [`Transfer`].
    unsafe fn transfer<const OP: Opcode>(
        &self,
        dst: PageAddr,
        src: PageAddr,
        pages: usize,
    ) -> Progress {
        let Range { start, len } = range(dst, pages);
        let mut arg = Transfer { dst: start, src: src.get() as u64, len, mode: 0, done: 0 };
        // SAFETY: the caller's contract.
        let result = unsafe { ioctl::ioctl(&self.fd, Updater::<OP, Transfer>::new(&mut arg)) };
        progress(result, arg.done, pages)
    }

    /// Maps zeros at missing pages of the registered range (`UFFDIO_ZEROPAGE`).
    pub fn zero_page(&self, dst: PageAddr) -> Progress {
        // SAFETY: UFFDIO_ZEROPAGE takes and fills a `uffdio_zeropage`. It only
        // puts there what an ordinary fault would have.
        unsafe { self.fill::<UFFDIO_ZEROPAGE>(dst) }
    }

    /// # Safety
    /// As the request `OP` needs, which must take a [`Fill`].
    unsafe fn fill<const OP: Opcode>(&self, dst: PageAddr) -> Progress {
        let mut arg = Fill { range: range(dst, 1), mode: 0, done: 0 };
        // SAFETY: the caller's contract.
        let result = unsafe { ioctl::ioctl(&self.fd, Updater::<OP, Fill>::new(&mut arg)) };
        progress(result, arg.done, 1)
    }

    /// Whether an event waits to be read, or is being sent: until then the kernel
    /// refuses all requests to fill pages. This request names no valid range, so it
    /// never fills anything.
    pub fn is_changing(&self) -> bool {
        matches!(self.zero_page(PageAddr::at(0)).stop, Some(Errno::AGAIN | Errno::INTR))
    }

    /// Makes the missing page raise `SIGBUS` when touched (`UFFDIO_POISON`, Linux 6.6):
    /// for bytes that are lost, instead of wrong zeros.
    pub fn poison(&self, dst: PageAddr) -> Progress {
        // SAFETY: UFFDIO_POISON takes and fills a `uffdio_poison`.
        unsafe { self.fill::<UFFDIO_POISON>(dst) }
    }

    /// The next message; `None` if there is none now.
    ///
    /// # Errors
    /// `EMFILE` where a fork's descriptor does not fit into the table.
    pub fn read_event(&self) -> rustix::io::Result<Option<Event>> {
        // uffd_msg: event in byte 0; from byte 8: fault {flags, address},
        // fork {descriptor: u32}, remove {start, end}, remap {from, to, length}.
        let mut message = [0u8; 32];
        loop {
            match rustix::io::read(&self.fd, &mut message) {
                Ok(_) => {}
                Err(Errno::AGAIN) => return Ok(None),
                Err(Errno::INTR) => continue,
                Err(e) => return Err(e),
            }
            let word = |at: usize| {
                let bytes = message[at..at + 8].try_into().expect("a slice of eight bytes");
                u64::from_ne_bytes(bytes) as usize
            };
            let page = |at| PageAddr::at(word(at));
            match message[0] {
                0x12 => return Ok(Some(Event::Fault(page(16)))),
                0x13 => {
                    let raw: [u8; 4] = message[8..12].try_into().expect("four bytes");
                    // SAFETY: the kernel made this descriptor for this reader.
                    let fd = unsafe { OwnedFd::from_raw_fd(i32::from_ne_bytes(raw)) };
                    return Ok(Some(Event::Fork(Userfaultfd { fd, pagemap: None })));
                }
                0x14 => {
                    let pages = word(24) / rustix::param::page_size();
                    return Ok(Some(Event::Remap(page(8), page(16), pages)));
                }
                0x15 => return Ok(Some(Event::Remove(page(8), page(16)))),
                0x16 => return Ok(Some(Event::Unmap)),
                // The kernel sends these only if the feature was requested.
                _ => {}
            }
        }
    }
}

impl AsFd for Userfaultfd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// The count is of bytes, or a negated error number if nothing was done; a
/// call that did part of it fails with `EAGAIN`.
fn progress(result: rustix::io::Result<()>, done: i64, pages: usize) -> Progress {
    match result {
        Ok(()) => Progress { pages, stop: None },
        Err(errno) => {
            let bytes = usize::try_from(done).unwrap_or(0);
            Progress { pages: bytes / rustix::param::page_size(), stop: Some(errno) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_numbers_are_the_kernels() {
        // As printed from the kernel's header on x86_64 and arm64.
        assert_eq!(UFFDIO_API, 0xC018_AA3F);
        assert_eq!(UFFDIO_REGISTER, 0xC020_AA00);
        assert_eq!(UFFDIO_UNREGISTER, 0x8010_AA01);
        assert_eq!(UFFDIO_WAKE, 0x8010_AA02);
        assert_eq!(UFFDIO_COPY, 0xC028_AA03);
        assert_eq!(UFFDIO_ZEROPAGE, 0xC020_AA04);
        assert_eq!(UFFDIO_MOVE, 0xC028_AA05);
        assert_eq!(UFFDIO_POISON, 0xC020_AA08);
    }

    #[test]
    fn partial_progress_is_counted_in_pages() {
        let page = rustix::param::page_size() as i64;
        assert_eq!(progress(Ok(()), 3 * page, 3), Progress { pages: 3, stop: None });
        assert_eq!(
            progress(Err(Errno::AGAIN), 2 * page, 3),
            Progress { pages: 2, stop: Some(Errno::AGAIN) }
        );
        assert_eq!(
            progress(Err(Errno::BUSY), -16, 3),
            Progress { pages: 0, stop: Some(Errno::BUSY) }
        );
    }

    /// Forbids userfaultfd to the calling thread from now on, as seccomp filters of
    /// container engines do.
    fn filter() {
        const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
        const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
        const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
        let rule = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
        let mut rules = [
            // The first field of `seccomp_data` is the call's number.
            rule(LOAD, 0, 0, 0),
            rule(EQUAL, 0, 1, libc::SYS_userfaultfd as u32),
            rule(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
            rule(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
        ];
        let program = libc::sock_fprog { len: rules.len() as u16, filter: rules.as_mut_ptr() };
        // SAFETY: the kernel copies the program, and only this thread is filtered.
        unsafe {
            assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
            let mode = libc::SECCOMP_MODE_FILTER;
            assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program), 0);
        }
    }

    #[test]
    fn a_filter_that_forbids_the_call_is_named() {
        let filtered = || {
            filter();
            // If the device can be opened, a filter of userfaultfd(2) does not prevent
            // a descriptor.
            let device = OpenOptions::new().read(true).write(true).open("/dev/userfaultfd");
            for faults in [Faults::UserMode, Faults::All] {
                if faults == Faults::All && device.is_ok() {
                    continue;
                }
                let error = Userfaultfd::open(faults, Features(0)).unwrap_err();
                assert!(matches!(error, UserfaultfdError::Filtered), "{error}");
                assert!(error.to_string().contains("seccomp"), "{error}");
            }
        };
        std::thread::spawn(filtered).join().unwrap();
    }

    /// Pages whose accessed bits are cleared meanwhile, as reclaim does: the
    /// move sees their entries change and tries again.
    #[test]
    fn a_move_that_was_repeated_inside_the_kernel_counts_as_done() {
        use std::sync::atomic::{AtomicBool, Ordering};

        use rustix::mm::Advice;

        use crate::mapping::{Mapping, PageKind};

        const PAGES: usize = 8;
        let Ok(uffd) = Userfaultfd::open(Faults::UserMode, Features::MOVE) else {
            eprintln!("skipped: needs UFFDIO_MOVE");
            return;
        };
        let memory = Mapping::populated(2 * PAGES, PageKind::Base).unwrap();
        let (mut from, mut to) = (memory.page(0), memory.page(PAGES));
        // SAFETY: both halves are this test's, and no thread touches missing pages.
        unsafe {
            uffd.register(from, 2 * PAGES).unwrap();
            to.advise(PAGES, Advice::LinuxDontNeed).unwrap();
        }
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    // SAFETY: MADV_COLD changes no contents.
                    let _ = unsafe { memory.page(0).advise(2 * PAGES, Advice::LinuxCold) };
                }
            });
            let mut wrong = None;
            for round in 0..20_000 {
                let mut done = 0;
                while done < PAGES && wrong.is_none() {
                    // SAFETY: both halves are this test's.
                    let progress =
                        unsafe { uffd.move_pages(to.nth(done), from.nth(done), PAGES - done) };
                    done += progress.pages;
                    wrong = progress.stop.filter(|stop| *stop != Errno::AGAIN);
                }
                if let Some(errno) = wrong {
                    eprintln!("round {round}, page {done}: {errno}");
                    break;
                }
                for page in 0..PAGES {
                    let word = to.nth(page).as_ptr().cast::<usize>();
                    // SAFETY: moved there above.
                    unsafe { word.write_volatile(word.read_volatile() + 1) };
                }
                std::mem::swap(&mut from, &mut to);
            }
            stop.store(true, Ordering::Relaxed);
            assert_eq!(wrong, None);
        });
        for page in 0..PAGES {
            let word = from.nth(page).as_ptr().cast::<usize>();
            // SAFETY: moved there in the last round.
            assert_eq!(unsafe { word.read_volatile() }, 20_000);
        }
    }
}
