// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shared frames whose size no process can change: System V segments.
//!
//! Any process that may write a file in a tmpfs can truncate it, and a program that
//! has it mapped dies by SIGBUS when it reads on, also one that this library was merely
//! loaded into. Seals forbid that, but only for files without a
//! name (memfd_create(2)), which live no longer than the processes that hold them.
//! A System V segment is memory of the same kind, cannot change its size at all
//! (shmctl(2)), outlives its maker, and once removed stays with the processes that are
//! attached.

use std::{io, ptr, ptr::NonNull};

use rustix::mm::Advice;

use super::mark::{self, Mark};
use crate::mapping::{PageAddr, page_size};

/// The kernel's name of a segment (`shmid`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub(super) struct SegmentId(i32);

/// Who owns a segment and how large it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Status {
    /// Owner, if creator and owner are one and the same.
    pub owner: Option<u32>,
    /// Permissions.
    pub mode: u32,
    /// Bytes.
    pub size: usize,
    /// Processes attached.
    pub attached: libc::shmatt_t,
    /// Whether other processes can find it by a key; our segments have none.
    pub has_key: bool,
}

/// A segment in the address space of this process; detached on drop.
#[derive(Debug)]
pub(super) struct Segment {
    id: SegmentId,
    start: NonNull<u8>,
    pages: usize,
}

// SAFETY: a segment is an address range with no thread affinity; its bytes are
// only reached through raw pointers.
unsafe impl Send for Segment {}

/// As `shmctl(2)` has them.
const SHM_DEST: u32 = 0o1000;
/// Modes that a segment of ours can have, whole or half made.
const MODES: [u32; 3] = [0o600, 0o400, 0o444];
const SHM_STAT: libc::c_int = 13;

impl SegmentId {
    /// What the kernel says of it.
    ///
    /// # Errors
    /// `EINVAL` or `EIDRM` where there is none, `EACCES` where it is for others.
    pub fn status(self) -> io::Result<Status> {
        stat(self.0, libc::IPC_STAT).map(|(_, status)| status)
    }

    /// For a palette that has none.
    pub const NONE: SegmentId = SegmentId(-1);

    /// The mark that [`Segment::create`] gave it, if it did for this user.
    pub fn mark(self, status: &Status) -> Option<Mark> {
        let owner = rustix::process::geteuid().as_raw();
        let pages = status.size / page_size().0 as usize;
        // Segments of other programs are left alone as far as they can be recognized.
        let may_be = status.owner == Some(owner)
            && !status.has_key
            && MODES.contains(&status.mode)
            && pages >= 2;
        let segment =
            may_be.then(|| Segment::attach(self, pages - 1, owner, status.mode).ok())??;
        let page = segment.page(segment.pages).as_ptr();
        // SAFETY: the last page of a segment just attached; nobody writes it after
        // its maker did, and what a maker has not yet written is zeros.
        let bytes = unsafe { std::slice::from_raw_parts(page, mark::LONGEST) };
        Mark::from_bytes(bytes)
    }

    /// Removes it: no further process can attach it.
    ///
    /// # Errors
    /// `EPERM` if it is another user's.
    pub fn remove(self) -> io::Result<()> {
        // SAFETY: IPC_RMID takes no argument.
        done(unsafe { libc::shmctl(self.0, libc::IPC_RMID, ptr::null_mut()) }).map(drop)
    }

    /// All segments that this process may see.
    pub fn all() -> Vec<(SegmentId, Status)> {
        // The highest index in use. Indexes without a segment answer EINVAL.
        let mut any = empty();
        const SHM_INFO: libc::c_int = 14;
        // SAFETY: SHM_INFO writes a `shm_info`, which is smaller than `shmid_ds`.
        let last = unsafe { libc::shmctl(0, SHM_INFO, &raw mut any) };
        (0..=last).filter_map(|index| stat(index, SHM_STAT).ok()).collect()
    }
}

/// What a call of the C library answers; the error that it has left where it is negative.
fn done(answer: libc::c_int) -> io::Result<libc::c_int> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

/// To be written by the kernel.
fn empty() -> libc::shmid_ds {
    // SAFETY: `shmid_ds` is plain data, for which all bits zero is a value.
    unsafe { std::mem::zeroed() }
}

/// IPC_STAT of an identifier, or SHM_STAT of an index.
fn stat(which: i32, how: libc::c_int) -> io::Result<(SegmentId, Status)> {
    let mut found = empty();
    // SAFETY: both commands write one `shmid_ds`.
    let answer = done(unsafe { libc::shmctl(which, how, &raw mut found) })?;
    let perm = found.shm_perm;
    // SAFETY: in every C library it is the kernel's `ipc64_perm`, which begins with the
    // key; they have different names for it.
    let key = unsafe { (&raw const perm).cast::<libc::key_t>().read() };
    let status = Status {
        owner: (perm.uid == perm.cuid).then_some(perm.uid),
        mode: u32::from(perm.mode),
        size: found.shm_segsz,
        attached: found.shm_nattch,
        has_key: key != libc::IPC_PRIVATE,
    };
    let id = if how == SHM_STAT { answer } else { which };
    Ok((SegmentId(id), status))
}

impl Status {
    /// Whether it will be gone when no process is attached any more.
    pub fn is_removed(&self) -> bool {
        self.mode & SHM_DEST != 0
    }
}

impl Segment {
    /// A new segment of `pages` base pages, for its owner alone, writable. One more
    /// page holds a mark, by which the owner recognizes the segment if no record names
    /// it.
    ///
    /// # Errors
    /// `ENOSYS` on a kernel without; `ENOMEM`, `ENOSPC` at its limits.
    pub fn create(pages: usize, mark: &Mark) -> io::Result<Self> {
        let size = (pages + 1) * page_size().0 as usize;
        // SAFETY: makes a segment, touches no memory.
        let id = unsafe { libc::shmget(libc::IPC_PRIVATE, size, libc::IPC_CREAT | 0o600) };
        let id = SegmentId(done(id)?);
        let segment = Self::attached(id, 0, pages).inspect_err(|_| {
            let _ = id.remove();
        })?;
        let bytes = mark.to_bytes();
        let page = segment.page(pages).as_ptr();
        // SAFETY: the last page of a writable segment that nobody else has yet; a
        // mark is no longer than a page.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), page, bytes.len()) };
        Ok(segment)
    }

    /// Attaches a segment of `owner` read-only. It is exactly as large as said.
    ///
    /// # Errors
    /// Where it is not there, or not such a one.
    pub fn attach(id: SegmentId, pages: usize, owner: u32, mode: u32) -> io::Result<Self> {
        let segment = Self::attached(id, libc::SHM_RDONLY, pages)?;
        // Checked after attaching, since an identifier names the same segment only as
        // long as a process is attached.
        let status = id.status()?;
        let expected = Status { owner: Some(owner), mode, size: segment.len(), ..status };
        if status != expected {
            return Err(io::Error::other("the segment is not the one recorded"));
        }
        Ok(segment)
    }

    fn attached(id: SegmentId, flags: libc::c_int, pages: usize) -> io::Result<Self> {
        // SAFETY: the kernel chooses a free range of addresses.
        let start = unsafe { libc::shmat(id.0, ptr::null(), flags) };
        if start.addr() == usize::MAX {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast::<u8>()).expect("never attached at address zero");
        let segment = Segment { id, start, pages };
        // The kernel surely maps only as much as IPC_STAT says; `attach` compares.
        let mapped = id.status()?.size.min(segment.len());
        // SAFETY: the advice changes no contents. A kernel without huge pages refuses
        // it, and has none to give.
        let _ =
            unsafe { libc::madvise(segment.start.as_ptr().cast(), mapped, libc::MADV_NOHUGEPAGE) };
        Ok(segment)
    }

    pub fn id(&self) -> SegmentId {
        self.id
    }

    /// Bytes, with the page of the mark.
    fn len(&self) -> usize {
        (self.pages + 1) * page_size().0 as usize
    }

    /// The page at `index`; that of the mark comes after all others.
    ///
    /// # Panics
    /// If there is none.
    pub fn page(&self, index: usize) -> PageAddr {
        assert!(index <= self.pages, "page {index} of a segment of {}", self.pages);
        let at = self.start.as_ptr().wrapping_add(index * page_size().0 as usize);
        at.expose_provenance();
        PageAddr::containing(at)
    }

    /// Sets which users may read it, and that no user may write it.
    ///
    /// # Errors
    /// What `shmctl(2)` reports.
    pub fn set_mode(&self, mode: u32) -> io::Result<()> {
        let mut wanted = empty();
        // SAFETY: IPC_STAT writes one `shmid_ds`.
        done(unsafe { libc::shmctl(self.id.0, libc::IPC_STAT, &raw mut wanted) })?;
        wanted.shm_perm.mode = mode as _;
        // SAFETY: IPC_SET reads one.
        done(unsafe { libc::shmctl(self.id.0, libc::IPC_SET, &raw mut wanted) }).map(drop)
    }

    /// Gives the frame of a page back; it must not be read again.
    ///
    /// # Errors
    /// What `madvise(2)` reports.
    pub fn give_back(&self, index: usize) -> io::Result<()> {
        // SAFETY: the page is one of this segment, which nobody else has yet.
        Ok(unsafe { self.page(index).advise(1, Advice::LinuxRemove) }?)
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: the range was attached by this value, and those who hold its
        // addresses hold a reference to it by contract.
        let _ = unsafe { libc::shmdt(self.start.as_ptr().cast()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark() -> Mark {
        Mark::of("/".as_ref(), &rustix::fs::stat("/").unwrap())
    }

    fn owner() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    #[test]
    fn what_one_attachment_writes_another_reads_and_nobody_can_write_later() {
        let made = Segment::create(3, &mark()).unwrap();
        // SAFETY: a writable page of this segment.
        unsafe { made.page(2).as_ptr().write(7) };
        made.set_mode(0o400).unwrap();
        let other = Segment::attach(made.id(), 3, owner(), 0o400).unwrap();
        // SAFETY: a readable page of this segment.
        assert_eq!(unsafe { other.page(2).as_ptr().read() }, 7);
        assert!(SegmentId::all().iter().any(|(id, status)| {
            *id == made.id() && status.attached == 2 && status.size == 4 << 12
        }));
        made.id().remove().unwrap();
        assert!(made.id().status().unwrap().is_removed());
        // SAFETY: as above: removed, but not for those attached.
        assert_eq!(unsafe { other.page(2).as_ptr().read() }, 7);
        let id = made.id();
        drop((made, other));
        assert!(id.status().is_err());
    }

    #[test]
    fn another_size_owner_or_mode_is_refused() {
        let made = Segment::create(2, &mark()).unwrap();
        made.set_mode(0o400).unwrap();
        let id = made.id();
        let attach = |pages, uid, mode| Segment::attach(id, pages, uid, mode).is_ok();
        assert!(attach(2, owner(), 0o400));
        assert!(!attach(1, owner(), 0o400) && !attach(3, owner(), 0o400));
        assert!(!attach(2, owner() + 1, 0o400) && !attach(2, owner(), 0o444));
        id.remove().unwrap();
        assert!(!attach(2, owner(), 0o400), "removed");
    }

    #[test]
    fn a_segment_is_known_by_its_mark() {
        let made = Segment::create(2, &mark()).unwrap();
        let status = made.id().status().unwrap();
        assert_eq!(made.id().mark(&status), Some(mark()));
        let changed = [
            Status { owner: Some(owner() + 1), ..status },
            Status { has_key: true, ..status },
            Status { mode: 0o666, ..status },
            Status { size: 1 << 12, ..status },
        ];
        assert!(changed.iter().all(|status| made.id().mark(status).is_none()));
        made.id().remove().unwrap();
    }

    #[test]
    fn a_page_given_back_reads_as_zero() {
        let made = Segment::create(2, &mark()).unwrap();
        made.id().remove().unwrap();
        for index in 0..2 {
            // SAFETY: a writable page of this segment.
            unsafe { made.page(index).as_ptr().write(9) };
        }
        made.give_back(1).unwrap();
        // SAFETY: as above; the second one is a new frame.
        let read = |index| unsafe { made.page(index).as_ptr().read() };
        assert_eq!([read(0), read(1)], [9, 0]);
    }
}
