// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which page has which color, and which color a page is to get. Pure: no
//! system calls here.
//!
//! The address space is cut into windows as large as the part of the cache that may be
//! used. In each window the present pages take every color equally often, give or take
//! one: so a program that touches every second page of an array gets all colors too.

use std::collections::BTreeMap;

use huepage::{color::Color, run::Order};

/// The entry of a page: the color, 1 more than its number, and a part of the frame
/// number; 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Note {
    color: u16,
    frame: u32,
}

#[derive(Clone, Debug)]
struct Window {
    notes: Box<[Note]>,
    placed: usize,
}

/// The pages that are placed.
#[derive(Debug)]
pub struct Table {
    order: Order,
    /// Colors that may be used, ascending.
    colors: Vec<Color>,
    /// Pages of a window.
    window: usize,
    windows: BTreeMap<usize, Window>,
    placed: usize,
    /// For [`Order::Sequence`]: how many colors were given out.
    given: usize,
}

impl Table {
    /// For windows of as many pages as the cache holds of these colors. `colors`
    /// is not empty.
    pub fn new(order: Order, colors: Vec<Color>, ways: u32) -> Self {
        assert!(!colors.is_empty(), "no colors to place by");
        let window = colors.len() * ways as usize;
        Table { order, colors, window, windows: BTreeMap::new(), placed: 0, given: 0 }
    }

    /// Pages of a window.
    pub fn window(&self) -> usize {
        self.window
    }

    /// Pages that are placed.
    pub fn placed(&self) -> usize {
        self.placed
    }

    /// Of `stock` frames of a color, those beyond the `needed` ones; at least four are
    /// kept of colors that may be used.
    pub fn surplus(&self, color: Color, stock: usize, needed: usize) -> usize {
        stock.saturating_sub(if self.uses(color) { needed.max(4) } else { 0 })
    }

    fn uses(&self, color: Color) -> bool {
        self.colors.binary_search(&color).is_ok()
    }

    /// The color recorded for a page.
    pub fn color(&self, page: usize) -> Option<Color> {
        self.note(page).and_then(Note::color)
    }

    fn note(&self, page: usize) -> Option<&Note> {
        let window = self.windows.get(&(page / self.window))?;
        Some(&window.notes[page % self.window])
    }

    /// How often each color is taken in the window of the page.
    fn counts(&self, page: usize) -> Vec<usize> {
        let mut counts = vec![0; self.colors.len()];
        let window = self.windows.get(&(page / self.window));
        for color in window.iter().flat_map(|w| w.notes.iter()).filter_map(Note::color) {
            if let Ok(index) = self.colors.binary_search(&color) {
                counts[index] += 1;
            }
        }
        counts
    }

    /// Picks a color for each of these pages, ascending by address, and records it. If
    /// the present color of a page (`present`) is as good as any other, the page keeps
    /// it.
    pub fn wish(
        &mut self,
        pages: &[usize],
        present: impl Fn(usize) -> Option<Color>,
    ) -> Vec<Color> {
        let mut wished = Vec::with_capacity(pages.len());
        let mut counts = Vec::new();
        let mut last = None;
        for &page in pages {
            let window = page / self.window;
            if last != Some(window) {
                counts = self.counts(page);
                last = Some(window);
            }
            let index = self.pick(page, &counts, present(page));
            counts[index] += 1;
            self.put(page, self.colors[index]);
            wished.push(self.colors[index]);
        }
        wished
    }

    fn pick(&mut self, page: usize, counts: &[usize], present: Option<Color>) -> usize {
        if self.order == Order::Sequence {
            self.given += 1;
            return (self.given - 1) % self.colors.len();
        }
        let fewest = counts.iter().copied().min().unwrap_or(0);
        let present = present.and_then(|color| self.colors.binary_search(&color).ok());
        if let Some(index) = present.filter(|&index| counts[index] == fewest) {
            return index;
        }
        // Neighbors get neighboring colors, so that small parts have even colors too.
        let n = counts.len();
        let nearest = (0..n).map(|i| (page + i) % n).find(|&index| counts[index] == fewest);
        nearest.unwrap_or(0)
    }

    fn put(&mut self, page: usize, color: Color) {
        let len = self.window;
        let window = self.windows.entry(page / len).or_insert_with(|| Window {
            notes: vec![Note::default(); len].into_boxed_slice(),
            placed: 0,
        });
        let note = &mut window.notes[page % len];
        if note.color == 0 {
            window.placed += 1;
            self.placed += 1;
        }
        *note = Note { color: color.0 as u16 + 1, frame: 0 };
    }

    /// Records the frame of a placed page, or compares it with the recorded one:
    /// returns whether it is another one. `None` if frame numbers are hidden.
    pub fn other_frame(&mut self, page: usize, frame: Option<u64>) -> bool {
        let Some(frame) = frame else { return false };
        // Frames that are 2^32 frames (16 TiB) apart are not distinguished.
        let frame = (frame as u32).max(1);
        let len = self.window;
        let Some(window) = self.windows.get_mut(&(page / len)) else { return false };
        let note = &mut window.notes[page % len];
        if note.color == 0 || note.frame == frame {
            return false;
        }
        let known = note.frame != 0;
        note.frame = frame;
        known
    }

    /// A placed page was given another frame of its color.
    pub fn renew(&mut self, page: usize) {
        if let Some(color) = self.color(page) {
            self.put(page, color);
        }
    }

    /// The page has no color any more.
    pub fn forget(&mut self, page: usize) {
        let index = page / self.window;
        let Some(window) = self.windows.get_mut(&index) else { return };
        let note = &mut window.notes[page % self.window];
        if note.color != 0 {
            *note = Note::default();
            window.placed -= 1;
            self.placed -= 1;
        }
        if window.placed == 0 {
            self.windows.remove(&index);
        }
    }

    /// Forgets pages of `[first, end)` for which `there` is false.
    pub fn keep(&mut self, first: usize, end: usize, there: impl Fn(usize) -> bool) {
        let windows = self.windows.range(first / self.window..end.div_ceil(self.window));
        let gone: Vec<usize> = windows
            .flat_map(|(index, window)| {
                let start = index * self.window;
                (start..start + self.window).zip(window.notes.iter())
            })
            .filter(|(page, note)| (first..end).contains(page) && note.color != 0 && !there(*page))
            .map(|(page, _)| page)
            .collect();
        gone.into_iter().for_each(|page| self.forget(page));
    }

    /// Forgets pages of a color that has at least two more pages than another color in
    /// a window of `[first, end)`: pages of the other color have gone since.
    pub fn even_out(&mut self, first: usize, end: usize) {
        if self.order == Order::Sequence {
            return;
        }
        let windows = self.windows.range(first / self.window..end.div_ceil(self.window));
        let windows: Vec<usize> = windows.map(|(&index, _)| index).collect();
        for index in windows {
            let start = index * self.window;
            let mut counts = self.counts(start);
            for page in start..start + self.window {
                let Some(color) = self.color(page) else { continue };
                let Ok(at) = self.colors.binary_search(&color) else { continue };
                let fewest = counts.iter().copied().min().unwrap_or(0);
                // Each forgotten page will get the color that has the fewest.
                if counts[at] > fewest + 1 {
                    let to = counts.iter().position(|&count| count == fewest).unwrap_or(0);
                    counts[at] -= 1;
                    counts[to] += 1;
                    self.forget(page);
                }
            }
        }
    }

    /// Forgets all pages, which are then placed again.
    pub fn clear(&mut self) {
        self.windows.clear();
        self.placed = 0;
    }

    /// A placed page, drawn with equal probability.
    pub fn draw(&self, rng: &mut fastrand::Rng) -> Option<(usize, Color)> {
        let at = rng.usize(0..self.placed.max(1));
        let mut before = 0;
        for (index, window) in &self.windows {
            if at < before + window.placed {
                let placed = window.notes.iter().enumerate().filter(|(_, note)| note.color != 0);
                let (offset, note) = placed.clone().nth(at - before)?;
                return Some((index * self.window + offset, note.color()?));
            }
            before += window.placed;
        }
        None
    }

    /// Bytes that the table takes.
    pub fn size(&self) -> usize {
        self.windows.len() * self.window * size_of::<Note>()
    }
}

impl Note {
    fn color(&self) -> Option<Color> {
        self.color.checked_sub(1).map(|color| Color(color.into()))
    }
}

#[cfg(test)]
mod tests;
