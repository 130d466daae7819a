// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory whose pages have the colors a policy asked for.

use std::collections::BTreeMap;

use super::{
    PlaceError,
    arena::{Owner, Space},
    first_touch::{FirstTouch, Waiting},
};
use crate::{color::Color, mapping::PageAddr};

/// Placed memory: zeroed at first, readable and writable, unmapped on drop.
///
/// A child made by `fork` inherits the contents as of any private memory. From then on
/// a write by the parent may exchange the frame of a page, and with it the color:
/// [`super::verify`] finds such pages, [`super::Pool::repair`] replaces them.
pub struct Region {
    // Before the space, so that its thread has ended when the space goes.
    pub(super) colors: Colors,
    pub(super) space: Space,
    pub(super) len: usize,
    pub(super) pool: u64,
    pub(super) owner: Owner,
}

pub(super) enum Colors {
    Fixed(Fixed),
    FirstTouch(FirstTouch),
}

/// The colors that pages were to get, and the known colors of pages that have another
/// one now.
#[derive(Debug)]
pub(super) struct Fixed {
    wanted: Vec<Option<Color>>,
    astray: BTreeMap<usize, Option<Color>>,
}

impl Fixed {
    pub fn new(wanted: Vec<Option<Color>>) -> Self {
        Fixed { wanted, astray: BTreeMap::new() }
    }

    pub fn wanted(&self, index: usize) -> Option<Color> {
        self.wanted[index]
    }

    pub fn color(&self, index: usize) -> Option<Color> {
        self.astray.get(&index).copied().unwrap_or(self.wanted[index])
    }

    /// Notes which color a page was found to have.
    pub fn found(&mut self, index: usize, color: Option<Color>) {
        if color == self.wanted[index] {
            self.astray.remove(&index);
        } else {
            self.astray.insert(index, color);
        }
    }
}

impl std::fmt::Debug for Region {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Region").field("start", &self.as_ptr()).field("len", &self.len).finish()
    }
}

impl Region {
    /// First byte; page-aligned.
    pub fn as_ptr(&self) -> *const u8 {
        self.space.page(0).as_ptr()
    }

    /// First byte, to write through.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.space.page(0).as_ptr()
    }

    /// Length in bytes, as asked for.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bytes. There always are: a pool refuses length 0.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: the space is mapped readable for as long as the region
        // lives, holds at least `len` bytes, and is written only through
        // `&mut self`.
        unsafe { std::slice::from_raw_parts(self.as_ptr(), self.len) }
    }

    /// The bytes, to write.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above, writable, and borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.as_mut_ptr(), self.len) }
    }

    /// Number of pages.
    pub fn pages(&self) -> usize {
        self.space.pages()
    }

    /// The page at `index`.
    ///
    /// # Panics
    /// If `index` is not below [`Region::pages`].
    pub fn page(&self, index: usize) -> PageAddr {
        self.space.page(index)
    }

    /// The color of the page at `index`, as last known: when it was put there,
    /// or found by [`super::Pool::repair`]. `None` for a page that has not been
    /// touched yet ([`super::Policy::Sequence`]) or whose color is not known.
    ///
    /// # Panics
    /// If `index` is not below [`Region::pages`].
    pub fn color(&self, index: usize) -> Option<Color> {
        match &self.colors {
            Colors::Fixed(colors) => colors.color(index),
            Colors::FirstTouch(touch) => touch.color(index),
        }
    }

    /// The color that the page at `index` was given, and is to have: what
    /// [`super::verify`] compares with. `None` for a page that has not been
    /// touched yet, or that the kernel chose.
    ///
    /// # Panics
    /// If `index` is not below [`Region::pages`].
    pub fn wanted(&self, index: usize) -> Option<Color> {
        match &self.colors {
            Colors::Fixed(colors) => colors.wanted(index),
            Colors::FirstTouch(touch) => touch.color(index),
        }
    }

    /// How many pages the kernel had to serve because no colored page could
    /// be moved in on first touch. Zero for other policies.
    pub fn uncolored(&self) -> usize {
        match &self.colors {
            Colors::Fixed(_) => 0,
            Colors::FirstTouch(touch) => touch.plain(),
        }
    }

    /// Ends following first touch. Slots that were emptied and those that are
    /// still full go back to the pool's books.
    pub(super) fn take_settled(&mut self) -> Result<(Vec<PageAddr>, Vec<Waiting>), PlaceError> {
        self.owner.check()?;
        match std::mem::replace(&mut self.colors, Colors::Fixed(Fixed::new(Vec::new()))) {
            Colors::Fixed(colors) => {
                self.colors = Colors::Fixed(colors);
                Ok((Vec::new(), Vec::new()))
            }
            Colors::FirstTouch(touch) => {
                let (colors, empty, waiting) = touch.finish();
                self.colors = Colors::Fixed(Fixed::new(colors));
                Ok((empty, waiting))
            }
        }
    }
}
