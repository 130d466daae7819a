// SPDX-License-Identifier: MIT OR Apache-2.0
//! Palettes in use by programs: shared, made by several at once, damaged, moved.
//!
//! The tests measure, so they run one after the other; where the machine has no
//! colors to measure they are skipped with the reason.

mod child;
mod makers;
mod moved_pages;
mod record;
mod room;
mod sharing;
mod trust;

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use huepage::{
    color::{
        Color, MeasureOptions, MeasuredOracle,
        palette::{Audience, Palette, PaletteOptions},
    },
    topology::allowed_cpus,
};

use child::options;

/// A directory of palettes, which are removed with it. While it lives, no other test
/// measures, since two that measure would disturb each other.
struct Directory(tempfile::TempDir, #[expect(dead_code)] MutexGuard<'static, ()>);

impl Directory {
    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let measure = child::measure(*allowed_cpus().unwrap().last().unwrap());
        let _ = Palette::remove(measure.geometry.as_ref(), &own(self.path()), Audience::User);
    }
}

/// The options to measure with, and an empty directory; `None`, with the reason
/// printed, where there are no colors to measure.
fn ready() -> Option<(MeasureOptions, Directory)> {
    static MEASURING: Mutex<()> = Mutex::new(());
    let alone = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    let measure = child::measure(*allowed_cpus().unwrap().last().unwrap());
    match MeasuredOracle::discover(&measure) {
        Ok(_) => Some((measure, Directory(tempfile::tempdir().unwrap(), alone))),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    }
}

fn own(directory: &Path) -> PaletteOptions {
    options(directory, None)
}

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// The first of a few looks that is good, or the last one: a busy neighbor can spoil
/// some.
fn tried<T>(mut look: impl FnMut() -> T, good: impl Fn(&T) -> bool) -> T {
    (0..4).map(|_| look()).find(|look| good(look)).unwrap_or_else(look)
}

/// Of the pages that both classified, the share that both gave the same color.
fn same(a: &[Option<Color>], b: &[Option<Color>]) -> f64 {
    let same = a.iter().zip(b).filter(|(a, b)| a.is_some() && a == b).count();
    same as f64 / a.len() as f64
}
