// SPDX-License-Identifier: MIT OR Apache-2.0
//! Drawing frames from the kernel until there are enough of each color.

use super::frames::Frames;
use crate::{
    available_memory,
    color::{Color, ColorCount, ColorError},
    mapping::{PageAddr, page_size},
};

/// Frames, and which of them has which color.
#[derive(Debug)]
pub(super) struct Stock {
    pub frames: Frames,
    /// Pages in all, given back ones included.
    pub pages: u32,
    /// Indexes of the pages of each color.
    pub sets: Vec<Vec<u32>>,
}

/// How many times as many pages as needed are drawn, one draw after the other:
/// the kernel's free lists can leave colors out over long stretches.
const DRAWS: [usize; 3] = [2, 6, 24];

/// Draws with `make`, classifies the pages with `tell`, and keeps `wanted` pages of
/// each color, at least `least`. Other pages are given back. `None` if there are too
/// few of some colors.
pub(super) fn draw(
    count: ColorCount,
    wanted: usize,
    least: usize,
    make: impl Fn(usize) -> Result<Frames, ColorError>,
    mut tell: impl FnMut(&[PageAddr]) -> Result<Vec<Option<Color>>, ColorError>,
) -> Result<Option<Stock>, ColorError> {
    // Kept until the end, so that each draw has other frames.
    let mut before = Vec::new();
    for times in DRAWS {
        let pages = count.get() as usize * wanted * times;
        let bytes = pages as u64 * page_size().0;
        if available_memory().is_some_and(|available| available.0 / 2 < bytes) {
            break;
        }
        let frames = make(pages)?;
        let addresses: Vec<PageAddr> = (0..pages as u32).map(|i| frames.page(i)).collect();
        for page in &addresses {
            // SAFETY: a writable page that nobody else has yet. A write, since a
            // read would map the shared zero page into private memory.
            unsafe { page.as_ptr().write_volatile(0) };
        }
        let told = tell(&addresses)?;
        let mut sets = vec![Vec::new(); count.get() as usize];
        for (index, color) in (0..).zip(&told) {
            if let Some(set) = color.and_then(|color| sets.get_mut(color.index())) {
                set.push(index);
            }
        }
        let short = sets.iter().map(Vec::len).min().unwrap_or(0);
        let is_last = times == DRAWS[DRAWS.len() - 1];
        if short >= wanted || is_last && short >= least {
            sets.iter_mut().for_each(|set| set.truncate(wanted));
            let stock = Stock { frames, pages: pages as u32, sets };
            stock.give_back_others();
            return Ok(Some(stock));
        }
        before.push(frames);
    }
    Ok(None)
}

impl Stock {
    /// Gives back all pages that are in no set. If the kernel refuses, a page stays.
    pub fn give_back_others(&self) {
        let mut used = vec![false; self.pages as usize];
        self.sets.iter().flatten().for_each(|&index| used[index as usize] = true);
        for index in (0..self.pages).filter(|&index| !used[index as usize]) {
            let _ = self.frames.give_back(index);
        }
    }

    /// Writes the stamp of the palette into all its pages.
    ///
    /// # Safety
    /// The pages must be writable, and not used by other code yet.
    pub unsafe fn stamp(&self, stamp: u64) {
        for &index in self.sets.iter().flatten() {
            // SAFETY: the caller's contract.
            unsafe { self.frames.stamp(index, stamp) };
        }
    }
}
