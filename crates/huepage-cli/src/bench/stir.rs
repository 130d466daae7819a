// SPDX-License-Identifier: MIT OR Apache-2.0
//! Base pages as the kernel gives them after long use: before they are allocated, free
//! memory is given back to the kernel page by page in random order.

use anyhow::Context;
use huepage::{
    available_memory,
    mapping::{Mapping, PageKind, page_size},
    units::Bytes,
};

/// Memory touched for stirring, at most; and at most a quarter of what is
/// available, but twice what is wanted.
const MOST: Bytes = Bytes(1 << 30);

/// How much memory may be touched.
pub fn most() -> Bytes {
    Bytes(available_memory().unwrap_or(MOST).0 / 4).min(MOST)
}

/// How much memory is touched so that `wanted` can be allocated from it.
pub fn stirred(wanted: Bytes) -> Bytes {
    most().max(Bytes(wanted.0.saturating_mul(2)))
}

/// Memory of which random pages were given back to the kernel. As long as this value
/// lives, it keeps the others: if all were free, they would merge to large blocks
/// again.
pub struct Stirred {
    _kept: Mapping,
}

impl Stirred {
    /// Touches `bytes`, and gives `wanted` back and a quarter more, for other
    /// allocations meanwhile.
    ///
    /// # Errors
    /// If memory runs short.
    pub fn new(bytes: Bytes, wanted: Bytes, seed: u64) -> anyhow::Result<Self> {
        let pages = bytes.pages(page_size());
        let soup = Mapping::populated(pages, PageKind::Base).context("memory to stir")?;
        let mut order: Vec<usize> = (0..pages).collect();
        fastrand::Rng::with_seed(seed).shuffle(&mut order);
        let wanted = wanted.pages(page_size());
        for &page in &order[..(wanted + wanted / 4).min(pages)] {
            let at = soup.page(page).as_ptr().cast();
            // SAFETY: a page of `soup`, which this function owns; no other code refers
            // to it.
            let done = unsafe { libc::madvise(at, page_size().0 as usize, libc::MADV_DONTNEED) };
            if done != 0 {
                return Err(std::io::Error::last_os_error()).context("giving a page back");
            }
        }
        Ok(Stirred { _kept: soup })
    }
}

/// Mappings of `pages` pages each, from stirred memory.
///
/// # Errors
/// If memory runs short.
pub fn mappings(pages: usize, count: usize, seed: u64) -> anyhow::Result<Vec<Mapping>> {
    let wanted = Bytes((pages * count) as u64 * page_size().0);
    let _stirred = Stirred::new(stirred(wanted), wanted, seed)?;
    let mappings = (0..count).map(|_| Mapping::populated(pages, PageKind::Base));
    mappings.collect::<Result<_, _>>().context("mapping stirred memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages that were given back are not in memory any more, the rest is.
    #[test]
    fn what_is_wanted_and_a_quarter_more_is_given_back() {
        let stirred = Stirred::new(Bytes::kib(4 * 400), Bytes::kib(4 * 100), 3).unwrap();
        let kept = &stirred._kept;
        let mut there = vec![0u8; kept.pages()];
        // SAFETY: the mapping is alive, and the vector has a byte for each page.
        let done = unsafe { libc::mincore(kept.as_ptr().cast(), kept.len(), there.as_mut_ptr()) };
        assert_eq!(done, 0);
        let there = there.iter().filter(|page| **page & 1 == 1).count();
        assert_eq!(there, kept.pages() - 125);
    }

    #[test]
    fn as_much_as_was_asked_for_is_there_and_writable() {
        let mappings = mappings(16, 3, 1).unwrap();
        assert_eq!(mappings.len(), 3);
        for mapping in &mappings {
            assert_eq!(mapping.pages(), 16);
            // SAFETY: the mapping is populated, writable and ours alone.
            unsafe { mapping.as_ptr().write_bytes(7, mapping.len()) };
        }
    }
}
