// SPDX-License-Identifier: MIT OR Apache-2.0
//! What other processes can do to a palette: to its record and to its pages.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, chown, symlink},
    path::{Path, PathBuf},
    ptr,
};

use huepage::mapping::{Mapping, PageKind};
use serde_json::Value;

const PAGE: usize = 4096;

/// The file that says what a palette's pages are.
pub struct RecordFile(PathBuf);

/// A change of the record itself.
pub type Rewritten = fn(&mut Value);

impl RecordFile {
    /// The only record of a user's palettes below a directory.
    pub fn of(own: &Path) -> Self {
        Self::of_shared(&own.join("huepage"))
    }

    /// The only record in a directory.
    pub fn of_shared(place: &Path) -> Self {
        let entries = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path());
        let is_record =
            |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("palette-");
        let mut records: Vec<PathBuf> = entries.filter(is_record).collect();
        assert_eq!(records.len(), 1, "{records:?}");
        RecordFile(records.pop().unwrap())
    }

    /// Changes its bytes, as the owner may.
    pub fn edit(&self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = fs::read(&self.0).unwrap();
        change(&mut bytes);
        self.set_mode(0o600);
        fs::write(&self.0, bytes).unwrap();
        self.set_mode(0o400);
    }

    /// Changes its contents, with a checksum that fits.
    pub fn rewrite(&self, change: Rewritten) {
        let mut record = self.record();
        self.edit(|bytes| {
            change(&mut record);
            let json = serde_json::to_vec(&record).unwrap();
            let sum = json.iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, &byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3)
            });
            *bytes = format!("huepage-palette/1 {sum:016x}\n").into_bytes();
            bytes.extend(json);
        });
    }

    pub fn set_mode(&self, mode: u32) {
        fs::set_permissions(&self.0, fs::Permissions::from_mode(mode)).unwrap();
    }

    pub fn set_owner(&self, user: u32) {
        chown(&self.0, Some(user), None).unwrap();
    }

    pub fn replace_by_symlink(&self) {
        let elsewhere = self.0.with_file_name("elsewhere");
        fs::rename(&self.0, &elsewhere).unwrap();
        symlink(elsewhere, &self.0).unwrap();
    }

    pub fn replace_by_pipe(&self) {
        fs::remove_file(&self.0).unwrap();
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, &self.0, mode).unwrap();
    }

    fn record(&self) -> Value {
        let bytes = fs::read(&self.0).unwrap();
        let end = bytes.iter().position(|&b| b == b'\n').unwrap();
        serde_json::from_slice(&bytes[end + 1..]).unwrap()
    }

    /// The pages of all colors, by their index in the segment.
    pub fn pages(&self) -> Vec<usize> {
        let record = self.record();
        let sets = record["pages"].as_array().unwrap();
        let all = sets.iter().flat_map(|set| set.as_array().unwrap());
        all.map(|index| index.as_u64().unwrap() as usize).collect()
    }

    pub fn segment(&self) -> i32 {
        self.record()["segment"].as_i64().unwrap() as i32
    }

    /// As ipcrm(1) does.
    pub fn remove_segment(&self) {
        // SAFETY: takes no argument.
        assert_eq!(unsafe { libc::shmctl(self.segment(), libc::IPC_RMID, ptr::null_mut()) }, 0);
    }

    /// Moves every `step`-th page to another frame, with its content; returns how many.
    pub fn move_pages(&self, step: usize) -> usize {
        // Kept, since the kernel would give the same frame again.
        let mut held = Vec::new();
        self.change(step, |page| {
            let mut content = vec![0_u8; PAGE];
            // SAFETY: `change` gives writable pages of the segment.
            unsafe {
                ptr::copy_nonoverlapping(page, content.as_mut_ptr(), PAGE);
                assert_eq!(libc::madvise(page.cast(), PAGE, libc::MADV_REMOVE), 0);
                held.push(Mapping::populated(4, PageKind::Base).unwrap());
                ptr::copy_nonoverlapping(content.as_ptr(), page, PAGE);
            }
        })
    }

    /// Punches a hole for every `step`-th page; returns how many.
    pub fn punch(&self, step: usize) -> usize {
        self.change(step, |page| {
            // SAFETY: `change` gives writable pages of the segment.
            assert_eq!(unsafe { libc::madvise(page.cast(), PAGE, libc::MADV_REMOVE) }, 0);
        })
    }

    fn change(&self, step: usize, mut change: impl FnMut(*mut u8)) -> usize {
        // SAFETY: attaches at an address of the kernel's choice.
        let start = unsafe { libc::shmat(self.segment(), ptr::null(), 0) };
        assert_ne!(start.addr(), usize::MAX, "{}", std::io::Error::last_os_error());
        let pages: Vec<usize> = self.pages().into_iter().step_by(step).collect();
        for &index in &pages {
            change(start.cast::<u8>().wrapping_add(index * PAGE));
        }
        // SAFETY: attached above.
        assert_eq!(unsafe { libc::shmdt(start) }, 0);
        pages.len()
    }
}

/// Whether there is a segment of this number.
pub fn exists(segment: i32) -> bool {
    // SAFETY: all bits zero is a value of this plain data, which is written to.
    unsafe {
        let mut found: libc::shmid_ds = std::mem::zeroed();
        libc::shmctl(segment, libc::IPC_STAT, &raw mut found) == 0
    }
}

/// A line of `/proc/sysvipc/shm`.
pub struct SegmentLine {
    pub creator: u32,
    pub attached: u32,
}

pub fn segments() -> Vec<SegmentLine> {
    let text = fs::read_to_string("/proc/sysvipc/shm").unwrap();
    let lines = text.lines().skip(1).map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| fields[at].parse().unwrap();
        // key shmid perms size cpid lpid nattch …
        SegmentLine { creator: number(4), attached: number(6) }
    });
    lines.collect()
}
