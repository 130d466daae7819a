// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory of this process that this library has mapped, so that a placer of the whole
//! program leaves it out.
//!
//! A table of fixed size without a lock: it is read and written also in code that must
//! not allocate, and stays usable in a forked child whatever other threads were doing.
//! If it is full, further mappings are not listed.

use std::{
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
};

struct Entry {
    /// 0 for a free entry, 1 for one being written.
    start: AtomicUsize,
    len: AtomicUsize,
}

const FREE: usize = 0;
const TAKEN: usize = 1;

static ENTRIES: [Entry; 512] =
    [const { Entry { start: AtomicUsize::new(FREE), len: AtomicUsize::new(0) } }; 512];

/// Lists a mapping.
pub(crate) fn add(start: usize, len: usize) {
    for entry in &ENTRIES {
        let taken = entry.start.compare_exchange(FREE, TAKEN, Ordering::AcqRel, Ordering::Relaxed);
        if taken.is_ok() {
            entry.len.store(len, Ordering::Relaxed);
            entry.start.store(start, Ordering::Release);
            return;
        }
    }
}

/// Takes a mapping off the list, before it is unmapped.
pub(crate) fn remove(start: usize) {
    let listed = ENTRIES.iter().find(|entry| entry.start.load(Ordering::Relaxed) == start);
    if let Some(entry) = listed {
        entry.start.store(FREE, Ordering::Release);
    }
}

/// The address ranges that this library has mapped: pools, regions, the pages
/// that colors are measured with. At most 512; further ones are not listed.
pub fn mapped_here() -> impl Iterator<Item = Range<usize>> {
    ENTRIES.iter().filter_map(|entry| {
        let start = entry.start.load(Ordering::Acquire);
        (start > TAKEN).then(|| start..start + entry.len.load(Ordering::Relaxed))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::{Mapping, PageKind};

    #[test]
    fn a_mapping_is_listed_as_long_as_it_lives() {
        let mapping = Mapping::reserve(3, PageKind::Base).unwrap();
        let range = mapping.page(0).get()..mapping.page(0).get() + mapping.len();
        assert!(mapped_here().any(|listed| listed == range));
        drop(mapping);
        assert!(mapped_here().all(|listed| listed != range));
    }
}
