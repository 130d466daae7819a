// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which pages of memory are present, by mincore(2), and which of these are untouched;
//! without opening a file.

use std::{ffi::c_void, ops::Range, ptr};

/// Pages checked at a time: threads of the program have small stacks.
const ASKED: usize = 1024;

/// Calls with each part of a range, and for each page of it whether it is present.
/// Pages in swap are not; parts that mincore refuses are left out.
fn each(range: Range<usize>, mut call: impl FnMut(usize, &[u8]) -> bool) {
    let page = rustix::param::page_size();
    let mut there = [0u8; ASKED];
    for start in range.clone().step_by(ASKED * page) {
        let len = (range.end - start).min(ASKED * page);
        let at: *mut c_void = ptr::with_exposed_provenance_mut(start);
        // SAFETY: writes a byte for each page of the range, which is not accessed.
        let asked = unsafe { libc::mincore(at, len, there.as_mut_ptr()) };
        if asked == 0 && !call(start / page, &there[..len.div_ceil(page)]) {
            return;
        }
    }
}

/// How many pages of a range are present; counting stops at `enough`.
pub fn count(range: Range<usize>, enough: usize) -> usize {
    let mut count = 0;
    each(range, |_, there| {
        count += there.iter().filter(|&&byte| byte & 1 == 1).count();
        count < enough
    });
    count
}

/// The pages of a range, by number, that are present (`true`) or not.
pub fn pages(range: Range<usize>, wanted: bool) -> Vec<usize> {
    let mut pages = Vec::new();
    each(range, |first, there| {
        let matching = (first..).zip(there).filter(|(_, byte)| (**byte & 1 == 1) == wanted);
        pages.extend(matching.map(|(page, _)| page));
        true
    });
    pages
}

/// Whether a page holds nothing but zeros. Read by the kernel, since the program may
/// have made the page unreadable.
pub fn is_untouched(page: usize) -> bool {
    let size = rustix::param::page_size();
    let mut bytes = [1u8; 4096];
    let len = size.min(bytes.len());
    let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: len };
    let at = ptr::with_exposed_provenance_mut(page * size);
    let remote = libc::iovec { iov_base: at, iov_len: len };
    let own = rustix::process::getpid().as_raw_nonzero().get();
    // SAFETY: the kernel writes at most `len` bytes to `bytes`, and checks the other
    // side itself.
    let read = unsafe { libc::process_vm_readv(own, &local, 1, &remote, 1, 0) };
    read == len as isize && bytes[..len].iter().all(|&byte| byte == 0)
}

#[cfg(test)]
mod tests {
    use huepage::mapping::{Mapping, PageKind};

    use super::*;

    #[test]
    fn pages_that_were_written_are_there() {
        let mapping = Mapping::reserve(2 * ASKED, PageKind::Base).unwrap();
        let written = [0, 7, ASKED, 2 * ASKED - 1];
        for index in written {
            // SAFETY: this test's own memory.
            unsafe { mapping.page(index).as_ptr().write(1) };
        }
        let start = mapping.page(0).get();
        let range = start..start + mapping.len();
        let first = start / rustix::param::page_size();
        // SAFETY: as above.
        unsafe { mapping.page(7).as_ptr().write(0) };
        assert_eq!([first, first + 7].map(is_untouched), [false, true]);
        assert_eq!(pages(range.clone(), true), written.map(|index| first + index));
        assert_eq!(pages(range.clone(), false).len(), 2 * ASKED - 4);
        assert_eq!((count(range.clone(), 2), count(range, 9)), (2, 4));
    }
}
