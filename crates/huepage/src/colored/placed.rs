// SPDX-License-Identifier: MIT OR Apache-2.0
//! A slice in colored memory.

use std::{
    fmt,
    marker::PhantomData,
    ops::{Deref, DerefMut},
    ptr, slice,
};

use super::{ColoredError, Huepage};
use crate::{
    color::Color,
    place::{Policy, Recolored, Region},
    units::Bytes,
};

/// Elements in colored memory, as a slice. Dropped, its pages go back to the pool
/// that they came from and keep their colors.
pub struct Placed<T> {
    /// `None` for no bytes, and while it is dropped.
    region: Option<Region>,
    len: usize,
    from: Huepage,
    elements: PhantomData<T>,
}

impl<T: Default> Placed<T> {
    pub(super) fn new(from: &Huepage, len: usize, policy: &Policy) -> Result<Self, ColoredError> {
        const { assert!(align_of::<T>() <= 4096, "no page is aligned so") };
        let too_many = ColoredError::TooMany { elements: len, size: size_of::<T>() };
        let bytes = len.checked_mul(size_of::<T>()).ok_or(too_many)?;
        let region = match bytes {
            0 => None,
            bytes => Some(from.region(Bytes(bytes as u64), policy)?),
        };
        let mut placed: Placed<T> =
            Placed { region, len: 0, from: from.clone(), elements: PhantomData };
        let first = placed.first();
        for index in 0..len {
            // SAFETY: within the region, which is as aligned as a page. What has
            // been written is dropped with `placed` if a default panics.
            unsafe { first.add(index).write(T::default()) };
            placed.len = index + 1;
        }
        Ok(placed)
    }
}

impl<T> Placed<T> {
    /// First element; dangling where there are no bytes.
    fn first(&mut self) -> *mut T {
        self.region.as_mut().map_or(ptr::dangling_mut(), |region| region.as_mut_ptr().cast())
    }

    /// The colors of its pages, as last known.
    pub fn colors(&self) -> Vec<Option<Color>> {
        let Some(region) = &self.region else { return Vec::new() };
        (0..region.pages()).map(|page| region.color(page)).collect()
    }

    /// Classifies all its pages again, and exchanges those that no longer have the
    /// color that they were placed with, since the kernel or the host has moved them.
    ///
    /// # Errors
    /// As [`crate::place::Pool::repair`].
    pub fn reverify(&mut self) -> Result<Recolored, ColoredError> {
        match &mut self.region {
            None => Ok(Recolored::default()),
            Some(region) => self.from.reverify_region(region),
        }
    }

    /// The memory, for [`crate::place::verify`] or
    /// [`crate::map::Registration::of_region`]; `None` for no bytes.
    pub fn region(&self) -> Option<&Region> {
        self.region.as_ref()
    }
}

impl<T> Deref for Placed<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        let first = self.region.as_ref().map_or(ptr::dangling(), |region| region.as_ptr().cast());
        // SAFETY: so many elements were written, and are written to only through
        // an exclusive borrow.
        unsafe { slice::from_raw_parts(first, self.len) }
    }
}

impl<T> DerefMut for Placed<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.first(), self.len) }
    }
}

impl<T> Drop for Placed<T> {
    fn drop(&mut self) {
        // SAFETY: the elements were written once, and nobody uses them any more.
        unsafe { ptr::drop_in_place(&raw mut **self) };
        if let Some(region) = self.region.take() {
            self.from.give_back(region);
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Placed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<'a, T> IntoIterator for &'a Placed<T> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut Placed<T> {
    type Item = &'a mut T;
    type IntoIter = slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}
