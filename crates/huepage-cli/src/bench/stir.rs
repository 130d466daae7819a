// SPDX-License-Identifier: MIT OR Apache-2.0
//! Base pages as the kernel deals them out after long use: free memory is given
//! back to it page by page, in random order, before it deals out again.

use anyhow::Context;
use huepage::{
    available_memory,
    mapping::{Mapping, PageKind, page_size},
    units::Bytes,
};

/// Memory touched for stirring, at most; and at most a quarter of what is
/// available, but twice what is wanted.
const MOST: Bytes = Bytes(1 << 30);

/// How much is touched to deal out `wanted` from it.
pub fn stirred(wanted: Bytes) -> Bytes {
    let room = available_memory().unwrap_or(MOST).0 / 4;
    Bytes(MOST.0.min(room).max(wanted.0.saturating_mul(2)))
}

/// Mappings of `pages` pages each, from stirred memory.
///
/// # Errors
/// If memory runs short.
pub fn mappings(pages: usize, count: usize, seed: u64) -> anyhow::Result<Vec<Mapping>> {
    let wanted = pages * count;
    let stirred = stirred(Bytes(wanted as u64 * page_size().0)).pages(page_size());
    let soup = Mapping::populated(stirred, PageKind::Base).context("memory to stir")?;
    let mut order: Vec<usize> = (0..stirred).collect();
    fastrand::Rng::with_seed(seed).shuffle(&mut order);
    // As many as are wanted, and a quarter more for what else is allocated
    // meanwhile: with all of them free, they would join to large blocks again.
    let given = wanted + wanted / 4;
    for &page in &order[..given.min(stirred)] {
        let at = soup.page(page).as_ptr();
        // SAFETY: a page of `soup`, which this function owns and nobody refers to.
        let done = unsafe { libc::madvise(at.cast(), page_size().0 as usize, libc::MADV_DONTNEED) };
        if done != 0 {
            return Err(std::io::Error::last_os_error()).context("giving a page back");
        }
    }
    let mappings = (0..count).map(|_| Mapping::populated(pages, PageKind::Base));
    mappings.collect::<Result<_, _>>().context("mapping stirred memory")
}

#[cfg(test)]
mod tests {
    use super::*;

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
