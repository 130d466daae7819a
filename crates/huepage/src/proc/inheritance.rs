// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether children inherit a page. This runs while other threads wait for a page, so
//! nothing is allocated here, and no function of the C library is called.

use rustix::{
    fd::{AsFd, OwnedFd},
    fs::{Mode, OFlags},
    io::Errno,
};

use super::{VmFlags, mappings::addresses};
use crate::mapping::PageAddr;

/// Whether the mapping of the page is empty in children (`MADV_WIPEONFORK`); `false` if
/// that cannot be read.
pub(crate) fn wiped_in_children(page: PageAddr) -> bool {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let Ok(smaps) = rustix::fs::open(c"/proc/thread-self/smaps", flags, Mode::empty()) else {
        return false;
    };
    let mut lines = Lines { file: smaps, buffer: [0; 512], held: 0, taken: 0 };
    let mut inside = false;
    while let Some(line) = lines.next() {
        if let Some(area) = addresses(line) {
            inside = area.contains(&(page.get() as u64));
        } else if inside && let Some(flags) = line.strip_prefix(b"VmFlags:") {
            let flags =
                std::str::from_utf8(flags).map_or_else(|_| VmFlags::default(), VmFlags::parse);
            return flags.any(VmFlags::WIPED_IN_CHILDREN);
        }
    }
    false
}

/// The lines of a file; only the beginning of a line longer than the buffer.
struct Lines {
    file: OwnedFd,
    buffer: [u8; 512],
    /// Bytes of the buffer that were read.
    held: usize,
    /// Of these, how many belong to lines that were given out.
    taken: usize,
}

impl Lines {
    fn next(&mut self) -> Option<&[u8]> {
        self.buffer.copy_within(self.taken..self.held, 0);
        self.held -= self.taken;
        self.taken = 0;
        loop {
            if let Some(end) = self.buffer[..self.held].iter().position(|byte| *byte == b'\n') {
                self.taken = end + 1;
                return Some(&self.buffer[..end]);
            }
            if self.held == self.buffer.len() {
                return self.beginning();
            }
            match self.read() {
                Some(0) | None => return None,
                Some(read) => self.held += read,
            }
        }
    }

    /// Gives out the full buffer and skips the rest of its line.
    fn beginning(&mut self) -> Option<&[u8]> {
        let mut byte = [0; 1];
        loop {
            match rustix::io::read(self.file.as_fd(), &mut byte) {
                Ok(1) if byte[0] != b'\n' => {}
                Err(Errno::INTR) => {}
                _ => break,
            }
        }
        self.taken = self.held;
        Some(&self.buffer[..self.held])
    }

    fn read(&mut self) -> Option<usize> {
        loop {
            match rustix::io::read(self.file.as_fd(), &mut self.buffer[self.held..]) {
                Err(Errno::INTR) => {}
                read => return read.ok(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{Mapping, PageKind};

    #[test]
    fn what_is_wiped_is_told_from_what_is_inherited() {
        let mapping = Mapping::populated(3, PageKind::Base).unwrap();
        // SAFETY: a page of this test, of which no child is made.
        unsafe { mapping.page(1).advise(1, rustix::mm::Advice::LinuxWipeOnFork) }.unwrap();
        let told: Vec<bool> = mapping.iter().map(wiped_in_children).collect();
        assert_eq!(told, [false, true, false]);
    }

    #[test]
    fn a_line_longer_than_the_buffer_is_one_line() {
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, &[b'a'; 2000]).unwrap();
        std::io::Write::write_all(&mut file, b"\nb\n").unwrap();
        std::io::Seek::rewind(&mut file).unwrap();
        let mut lines = Lines { file: file.into(), buffer: [0; 512], held: 0, taken: 0 };
        assert_eq!(lines.next(), Some(&[b'a'; 512][..]));
        assert_eq!(lines.next(), Some(&b"b"[..]));
        assert_eq!(lines.next(), None);
    }
}
