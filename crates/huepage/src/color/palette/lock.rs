// SPDX-License-Identifier: MIT OR Apache-2.0
//! One process at a time makes a palette, and none holds the lock after it has ended.
//!
//! The lock is a record lock of fcntl(2): the kernel releases it however its holder
//! ends, and a child does not inherit it. A child would inherit a lock of flock(2), and
//! if a program forked while its palette was made and was killed, the child would keep
//! the lock. Threads of one process are kept apart by a word of memory with the process
//! ID of the holder; a lock that another thread of the parent holds is not the child's.

use std::{
    fs::File,
    io, process,
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    fs::{FlockOperation, fcntl_lock},
    io::Errno,
    process::{Flock, FlockType, fcntl_getlk},
};

/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(3);

/// The process of which a thread has the lock, or [`NOBODY`].
static HOLDER: AtomicU32 = AtomicU32::new(NOBODY);

const NOBODY: u32 = 0;

/// No other thread of this process has the lock.
#[derive(Debug)]
struct OfThisProcess(u32);

impl OfThisProcess {
    fn take() -> Option<Self> {
        let this = process::id();
        let before = HOLDER.load(Ordering::Relaxed);
        let free = before != this
            && HOLDER.compare_exchange(before, this, Ordering::Acquire, Ordering::Relaxed).is_ok();
        // Not `then_some`: dropping the value releases the lock, even if another thread
        // holds it.
        free.then(|| OfThisProcess(this))
    }
}

impl Drop for OfThisProcess {
    fn drop(&mut self) {
        // In a child that has a copy of this value, the lock of another thread is not
        // released.
        let _ = HOLDER.compare_exchange(self.0, NOBODY, Ordering::Release, Ordering::Relaxed);
    }
}

/// Held while a palette is made.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
    _threads: OfThisProcess,
}

/// Why there is no lock.
#[derive(Debug)]
pub(super) enum NoLock {
    /// Another process, or another thread of this process, has it.
    Held(Option<u32>),
    System(io::Error),
}

impl Lock {
    /// Takes the lock on the file that `open` opens, and waits for it until `deadline`.
    /// The file is opened only when no other thread of this process holds the lock: the
    /// kernel releases a record lock as soon as the process closes the file anywhere.
    pub(super) fn take(
        open: impl FnOnce() -> io::Result<File>,
        deadline: Instant,
    ) -> Result<Self, NoLock> {
        let threads = wait(deadline, OfThisProcess::take).ok_or(NoLock::Held(None))?;
        let file = open().map_err(NoLock::System)?;
        let tried =
            wait(deadline, || match fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => Some(Ok(())),
                Err(Errno::AGAIN | Errno::ACCESS | Errno::INTR) => None,
                Err(error) => Some(Err(error)),
            });
        match tried {
            Some(Ok(())) => Ok(Lock { file, _threads: threads }),
            Some(Err(error)) => Err(NoLock::System(error.into())),
            None => Err(NoLock::Held(holder(&file))),
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file would release it too, but other threads of this process may
        // open the file only after that.
        let _ = fcntl_lock(&self.file, FlockOperation::Unlock);
    }
}

fn wait<T>(deadline: Instant, mut tried: impl FnMut() -> Option<T>) -> Option<T> {
    loop {
        if let Some(done) = tried() {
            return Some(done);
        }
        if Instant::now() >= deadline {
            return None;
        }
        thread::sleep(PAUSE);
    }
}

fn holder(file: &File) -> Option<u32> {
    let held = fcntl_getlk(file, &Flock::from(FlockType::WriteLock)).ok()??;
    held.pid.map(|pid| pid.as_raw_pid() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(10)
    }

    /// If a program forks while it has the lock, and dies, its children do not have the
    /// lock.
    #[test]
    fn a_child_of_a_dead_holder_does_not_hold_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let open =
            || File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let (reader, writer) = std::io::pipe().unwrap();
        // SAFETY: the child only takes the lock, forks, and ends by _exit.
        let holder = unsafe { libc::fork() };
        if holder == 0 {
            let held = Lock::take(open, soon()).is_ok();
            // SAFETY: as above; the grandchild waits until it is killed.
            unsafe {
                let idle = libc::fork();
                if idle == 0 {
                    libc::pause();
                }
                let told = [u8::from(held)];
                let _ = rustix::io::write(&writer, &[&told[..], &idle.to_ne_bytes()].concat());
                libc::_exit(0);
            }
        }
        drop(writer);
        let mut told = [0; 5];
        rustix::io::read(&reader, &mut told).unwrap();
        // SAFETY: our own child.
        unsafe { libc::waitpid(holder, std::ptr::null_mut(), 0) };
        let lock = Lock::take(open, soon());
        let idle = i32::from_ne_bytes(told[1..].try_into().unwrap());
        // SAFETY: our own grandchild, which does not end by itself.
        let killed = unsafe { libc::kill(idle, libc::SIGKILL) };
        assert_eq!((told[0], killed), (1, 0));
        assert!(lock.is_ok(), "{lock:?}");
    }

    /// The thread that has the lock does not exist in the child, so it would never be
    /// released there.
    #[test]
    fn a_child_forked_while_another_thread_holds_it_takes_one_of_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let open = |name: &str| File::create(directory.path().join(name));
        let held = Lock::take(|| open("ours"), soon()).unwrap();
        // SAFETY: the child only takes a lock and ends by _exit.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let got = Lock::take(|| open("of the child"), soon()).is_ok();
            // SAFETY: as above.
            unsafe { libc::_exit(i32::from(!got)) };
        }
        let mut status = -1;
        // SAFETY: our own child.
        unsafe { libc::waitpid(child, &mut status, 0) };
        assert_eq!(status, 0);
        let never = || -> io::Result<File> { panic!("opened while it is held") };
        assert!(matches!(Lock::take(never, Instant::now()), Err(NoLock::Held(None))));
        drop(held);
        assert!(Lock::take(|| open("ours"), soon()).is_ok());
    }

    #[test]
    fn threads_take_turns_and_do_not_open_the_lock_of_another() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let open =
            || File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let lock = Lock::take(open, soon()).unwrap();
        thread::scope(|scope| {
            let other = scope.spawn(|| {
                let never = || -> io::Result<File> { panic!("opened while it is held") };
                matches!(Lock::take(never, Instant::now()), Err(NoLock::Held(None)))
            });
            assert!(other.join().unwrap());
        });
        drop(lock);
        thread::scope(|scope| {
            assert!(scope.spawn(|| Lock::take(open, soon()).is_ok()).join().unwrap());
        });
    }
}
