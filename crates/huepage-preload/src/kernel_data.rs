// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages that the kernel writes to when a thread ends.
//!
//! It clears the thread's number, for which other threads wait in `pthread_join`, and
//! walks the list of robust mutexes that the thread holds. A thread that is ending does
//! not wait for a page that has been taken out: the kernel lets the write fail
//! (`handle_userfault` in fs/userfaultfd.c), and the waiting threads would wait
//! forever. So the pages that hold these data are not exchanged.

use std::{fs::File, os::unix::fs::FileExt};

use huepage::proc::numeric_entries;

/// Reads pages of the program through the kernel, so that an unmapped page is only an
/// error.
pub struct KernelData {
    memory: File,
    robust_heads: Vec<usize>,
}

const PAGE: usize = 4096;

impl KernelData {
    /// # Errors
    /// What `open` reports.
    pub fn open() -> std::io::Result<Self> {
        Ok(KernelData { memory: File::open("/proc/thread-self/mem")?, robust_heads: Vec::new() })
    }

    /// Reads the list heads of all present threads.
    pub fn refresh(&mut self) {
        self.robust_heads.clear();
        for id in numeric_entries(c"/proc/self/task").unwrap_or_default() {
            let mut head = 0usize;
            let mut len = 0usize;
            // SAFETY: the call writes an address and a length.
            let done = unsafe {
                libc::syscall(libc::SYS_get_robust_list, id, &raw mut head, &raw mut len)
            };
            if done == 0 && head != 0 {
                self.robust_heads.push(head);
            }
        }
    }

    /// Whether the page holds such data, as far as that can be recognized.
    pub fn is_in(&self, page: usize) -> bool {
        // The thread's number is some bytes before the head.
        let near = |head: &usize| (page..page + PAGE + 64).contains(head);
        if self.robust_heads.iter().any(near) {
            return true;
        }
        let mut bytes = [0u8; PAGE];
        if self.memory.read_exact_at(&mut bytes, page as u64).is_err() {
            return true;
        }
        // The data that the kernel writes to is within 1 KiB after the beginning.
        const REACH: usize = 1024;
        let mut before = [0u8; REACH];
        let start = page.wrapping_sub(REACH);
        let read = self.memory.read_exact_at(&mut before, start as u64).is_ok();
        holds_thread(&bytes, page) || read && holds_thread(&before, start)
    }
}

/// Whether bytes hold the beginning of glibc's description of a thread: its first and
/// third word hold its own address (`tcbhead_t`), which is a multiple of 64.
fn holds_thread(bytes: &[u8], start: usize) -> bool {
    let word = |at: usize| {
        let bytes = bytes[at..at + 8].try_into().expect("a slice of eight bytes");
        usize::from_ne_bytes(bytes)
    };
    let positions = (0..bytes.len() - 16).step_by(64);
    positions.into_iter().any(|at| word(at) == start + at && word(at + 16) == start + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_threads_description_is_found_and_other_memory_is_not() {
        let mut data = KernelData::open().unwrap();
        let here = |data: &KernelData| {
            // SAFETY: glibc's pthread_t is the address of the description.
            let own = unsafe { libc::pthread_self() } as usize;
            data.is_in(own & !(PAGE - 1))
        };
        assert!(here(&data), "by its contents");
        data.refresh();
        assert!(here(&data));
        let other = vec![7u8; 2 * PAGE];
        assert!(!data.is_in(other.as_ptr().addr().next_multiple_of(PAGE)));
        assert!(data.is_in(0), "what cannot be read is left alone");
    }

    #[test]
    fn a_head_just_behind_a_page_protects_it() {
        let mut data = KernelData::open().unwrap();
        let other = vec![7u8; 2 * PAGE];
        let page = other.as_ptr().addr().next_multiple_of(PAGE);
        for (head, protected) in [(page + PAGE + 16, true), (page + 8, true), (page - 8, false)] {
            data.robust_heads = vec![head];
            assert_eq!(data.is_in(page), protected, "{head:x}");
        }
    }
}
