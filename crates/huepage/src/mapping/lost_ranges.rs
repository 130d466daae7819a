// SPDX-License-Identifier: MIT OR Apache-2.0
//! Address ranges that this library had mapped and that another thread may have mapped
//! since.
//!
//! `mremap` to an address unmaps what is there before it can fail. Until the gap is
//! filled again, the kernel may give it to any thread that maps memory. From then on
//! this library must not move anything there, discard it or unmap it.

use std::{
    ops::Range,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
};

static LOST: Mutex<Vec<Range<usize>>> = Mutex::new(Vec::new());
/// Whether any range was ever lost. A thread for which others wait reads this, since it
/// must not wait for the lock.
static ANY: AtomicBool = AtomicBool::new(false);

fn lost() -> Option<MutexGuard<'static, Vec<Range<usize>>>> {
    ANY.load(Ordering::Acquire)
        .then(|| LOST.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
}

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

/// Notes that addresses are not ours any more.
pub(crate) fn lose(range: Range<usize>) {
    ANY.store(true, Ordering::Release);
    LOST.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(range);
}

/// Whether some of these addresses were lost.
pub(crate) fn is_lost(range: Range<usize>) -> bool {
    lost().is_some_and(|lost| lost.iter().any(|other| overlap(other, &range)))
}

/// Forgets what was lost within a range that the program owns.
pub(crate) fn forget(range: Range<usize>) {
    if let Some(mut lost) = lost() {
        lost.retain(|other| !overlap(other, &range));
    }
}

/// The parts of a range that were not lost. Forgets those that were.
pub(super) fn left_of(range: Range<usize>) -> Vec<Range<usize>> {
    let Some(mut lost) = lost() else { return vec![range] };
    let mut gone: Vec<_> = lost.extract_if(.., |other| overlap(other, &range)).collect();
    gone.sort_unstable_by_key(|gone| gone.start);
    let mut left = Vec::new();
    let mut at = range.start;
    for gone in gone {
        if at < gone.start {
            left.push(at..gone.start);
        }
        at = at.max(gone.end);
    }
    if at < range.end {
        left.push(at..range.end);
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_range_is_what_was_not_lost() {
        // Addresses at which nothing is mapped.
        lose(0x3000..0x5000);
        lose(0x4000..0x6000);
        lose(0x1000..0x2000);
        lose(0x9000..0xa000);
        assert!(is_lost(0x5000..0x7000) && !is_lost(0x2000..0x3000));
        assert_eq!(left_of(0x1000..0x8000), [0x2000..0x3000, 0x6000..0x8000]);
        assert_eq!(left_of(0x1000..0x8000), vec![0x1000_usize..0x8000; 1]);
        forget(0x9000..0x9001);
        assert!(!is_lost(0x9000..0xa000));
    }
}
