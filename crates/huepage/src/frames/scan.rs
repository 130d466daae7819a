// SPDX-License-Identifier: MIT OR Apache-2.0
//! `PAGEMAP_SCAN`: the populated ranges of an address space, without a look at
//! the empty ones.
//!
//! Linux 6.7; described in the kernel's `Documentation/admin-guide/mm/pagemap.rst`.

use std::{ffi::c_void, io, ops::Range};

use rustix::{
    io::Errno,
    ioctl::{self, Ioctl, IoctlOutput, Opcode, opcode},
};

use super::Pagemap;

const PRESENT: u64 = 1 << 3;
const SWAPPED: u64 = 1 << 4;
const ZERO: u64 = 1 << 5;
const HUGE: u64 = 1 << 6;

/// A range of adjacent pages that are present or swapped and alike otherwise.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Populated {
    start: u64,
    end: u64,
    categories: u64,
}

impl Populated {
    /// First address and the one after the last.
    pub fn addresses(&self) -> Range<u64> {
        self.start..self.end
    }

    /// Whether these are the kernel's page of zeros, small or huge.
    pub fn zero(&self) -> bool {
        self.categories & ZERO != 0
    }

    /// Whether one entry maps a whole huge page.
    pub fn huge(&self) -> bool {
        self.categories & HUGE != 0
    }
}

/// `struct pm_scan_arg` of `linux/fs.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct ScanArg {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    vec: u64,
    vec_len: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

struct Scan<'a>(&'a mut ScanArg);

// SAFETY: the opcode is that of PAGEMAP_SCAN, whose argument is a
// `pm_scan_arg` that the kernel reads and writes; `as_ptr` points to one that is
// borrowed for as long as the call lasts.
unsafe impl Ioctl for Scan<'_> {
    type Output = usize;
    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        opcode::read_write::<ScanArg>(b'f', 16)
    }

    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::from_mut(self.0).cast()
    }

    unsafe fn output_from_ptr(out: IoctlOutput, _: *mut c_void) -> rustix::io::Result<usize> {
        Ok(out as usize)
    }
}

impl Pagemap {
    /// Fills `found` with populated ranges from the address range `within`,
    /// ascending. Returns how many there are and the address up to which was
    /// looked: the end of `within`, or less where `found` is full.
    ///
    /// # Errors
    /// `Unsupported` on kernels that have no such call, else what `ioctl`
    /// reports: `ESRCH` where the address space is gone.
    pub fn scan(&self, within: Range<u64>, found: &mut [Populated]) -> io::Result<(usize, u64)> {
        let mut arg = ScanArg {
            size: size_of::<ScanArg>() as u64,
            start: within.start,
            end: within.end,
            vec: found.as_mut_ptr().expose_provenance() as u64,
            vec_len: found.len() as u64,
            category_anyof_mask: PRESENT | SWAPPED,
            return_mask: ZERO | HUGE,
            ..ScanArg::default()
        };
        // SAFETY: `vec` and `vec_len` are those of `found`, exclusively
        // borrowed, whose elements have the layout of `struct page_region` and
        // take any bytes. Without flags the call changes no page.
        match unsafe { ioctl::ioctl(&self.file, Scan(&mut arg)) } {
            Ok(count) => Ok((count, arg.walk_end)),
            Err(Errno::INVAL | Errno::NOTTY | Errno::OPNOTSUPP) => {
                Err(io::ErrorKind::Unsupported.into())
            }
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{Mapping, PageKind, page_size};

    #[test]
    fn a_scan_finds_written_and_zero_pages_and_no_others() {
        let mapping = Mapping::reserve(1 << 20, PageKind::Base).unwrap();
        let page = page_size().0;
        for index in [3, 4, 900_000] {
            // SAFETY: the page lies in `mapping`, which nothing else uses.
            unsafe { mapping.page(index).as_ptr().write_volatile(1) };
        }
        // SAFETY: as above.
        assert_eq!(unsafe { mapping.page(5).as_ptr().read_volatile() }, 0);
        let start = mapping.page(0).get() as u64;
        let end = start + mapping.len() as u64;
        let mut found = [Populated::default(); 2];
        let (count, next) = match Pagemap::open().unwrap().scan(start..end, &mut found) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => return,
            scanned => scanned.unwrap(),
        };
        assert_eq!(count, 2);
        assert_eq!(found[0].addresses(), start + 3 * page..start + 5 * page);
        assert_eq!(found[1].addresses(), start + 5 * page..start + 6 * page);
        assert_eq!((found[0].zero(), found[1].zero()), (false, true));
        assert!(!found[0].huge() && next < end);
        let (count, next) = Pagemap::open().unwrap().scan(next..end, &mut found).unwrap();
        assert_eq!((count, next), (1, end));
        assert_eq!(found[0].addresses().start, start + 900_000 * page);
    }
}
