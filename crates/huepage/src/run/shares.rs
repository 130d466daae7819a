// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which program uses which colors: a list in the directory of the palette.
//!
//! A program that asks for a share of the cache gets colors that no other entry has.
//! The next program that reads the list removes entries of processes that have ended,
//! so nothing needs to be cleaned up after a crash.

use std::{
    io,
    time::{Duration, Instant},
};

use rustix::fs::Mode;
use serde::{Deserialize, Serialize};

use crate::{
    color::{
        Color, ColorCount,
        palette::{Audience, PaletteError, PaletteOptions, lock::Lock, place::Place},
    },
    proc::began,
};

const FILE: &str = "shares";
/// The list of some thousand programs.
const LONGEST: u64 = 4 << 20;
/// Changing the list takes a moment, making a palette under the same lock half a
/// second.
const PATIENCE: Duration = Duration::from_secs(10);

/// A program that uses only some colors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Its process.
    pub pid: u32,
    /// When it began, in clock ticks since boot: process numbers are used again.
    pub began: u64,
    /// What it was called by.
    pub program: String,
    /// Its colors, ascending.
    pub colors: Vec<Color>,
}

/// Why there is no share.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShareError {
    /// Other programs use too many.
    #[error(
        "{wanted} colors are asked for and {free} are free: ask for less, or end a program that \
         has some"
    )]
    Taken {
        /// Colors asked for.
        wanted: usize,
        /// Colors that no program uses.
        free: usize,
    },
    /// The directory of palettes cannot be used.
    #[error(transparent)]
    Palette(#[from] PaletteError),
    /// The list cannot be read or written.
    #[error("the list of shares: {0}")]
    System(#[from] io::Error),
}

/// The list, of this user's programs.
#[derive(Debug)]
pub struct Shares {
    place: Place,
}

impl Shares {
    /// Opens the directory of the user's own palettes.
    ///
    /// # Errors
    /// [`ShareError::Palette`] where it cannot be made or is not the user's.
    pub fn open(options: &PaletteOptions) -> Result<Self, ShareError> {
        let place = Place::open(Audience::User, options, true)?;
        let gone = || ShareError::System(io::ErrorKind::NotFound.into());
        Ok(Shares { place: place.ok_or_else(gone)? })
    }

    /// Programs that run and have colors, in the order in which they came.
    ///
    /// # Errors
    /// [`ShareError::System`].
    pub fn list(&self) -> Result<Vec<Holder>, ShareError> {
        Ok(self.read()?.into_iter().filter(is_running).collect())
    }

    /// Gives this process the `wanted` lowest colors that no other program has.
    ///
    /// # Errors
    /// [`ShareError::Taken`]; [`ShareError::System`].
    pub fn take(
        &self,
        wanted: usize,
        count: ColorCount,
        program: &str,
    ) -> Result<Vec<Color>, ShareError> {
        let lock = self.place.lock(Instant::now() + PATIENCE)?;
        let holders = self.list()?;
        let free = free(&holders, count);
        if free.len() < wanted {
            return Err(ShareError::Taken { wanted, free: free.len() });
        }
        let colors = free[..wanted].to_vec();
        self.add(holders, colors.clone(), program, &lock)?;
        Ok(colors)
    }

    /// Lists this process as using these colors, even if others use them.
    ///
    /// # Errors
    /// [`ShareError::System`].
    pub fn note(&self, colors: Vec<Color>, program: &str) -> Result<(), ShareError> {
        let lock = self.place.lock(Instant::now() + PATIENCE)?;
        self.add(self.list()?, colors, program, &lock)
    }

    fn add(
        &self,
        mut holders: Vec<Holder>,
        colors: Vec<Color>,
        program: &str,
        lock: &Lock,
    ) -> Result<(), ShareError> {
        let pid = std::process::id();
        let began = began(pid).ok_or(io::ErrorKind::NotFound).map_err(io::Error::from)?;
        holders.retain(|holder| holder.pid != pid);
        holders.push(Holder { pid, began, program: program.to_owned(), colors });
        Ok(self.write(&holders, lock)?)
    }

    fn write(&self, holders: &[Holder], lock: &Lock) -> io::Result<()> {
        let mode = Mode::RUSR | Mode::WUSR;
        self.place.replace_file(FILE, &serde_json::to_vec(holders)?, mode, lock)
    }

    /// A damaged list counts as empty: nothing in it has to be kept.
    fn read(&self) -> Result<Vec<Holder>, ShareError> {
        let bytes = self.place.read_file(FILE, LONGEST)?.unwrap_or_default();
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }
}

/// Colors that none of these has, ascending.
fn free(holders: &[Holder], count: ColorCount) -> Vec<Color> {
    let held = |color: &Color| holders.iter().any(|holder| holder.colors.contains(color));
    count.iter().filter(|color| !held(color)).collect()
}

fn is_running(holder: &Holder) -> bool {
    began(holder.pid) == Some(holder.began)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn count(n: u32) -> ColorCount {
        ColorCount::new(n).unwrap()
    }

    fn colors(numbers: &[u32]) -> Vec<Color> {
        numbers.iter().copied().map(Color).collect()
    }

    fn shares(directory: &tempfile::TempDir) -> Shares {
        Shares::open(&PaletteOptions::with_own(directory.path().to_owned())).unwrap()
    }

    fn holder(pid: u32, began: u64, numbers: &[u32]) -> Holder {
        Holder { pid, began, program: "p".into(), colors: colors(numbers) }
    }

    #[test]
    fn shares_are_disjoint_and_those_of_the_dead_are_free() {
        let directory = tempfile::tempdir().unwrap();
        let shares = shares(&directory);
        let parent = rustix::process::getppid().unwrap().as_raw_pid() as u32;
        let alive = holder(parent, began(parent).unwrap(), &[1, 2]);
        // A process of this number runs, and is another one.
        let dead = holder(parent, began(parent).unwrap() + 1, &[0, 4]);
        let lock = shares.place.lock(Instant::now() + PATIENCE).unwrap();
        shares.write(&[alive.clone(), dead], &lock).unwrap();
        drop(lock);
        assert_eq!(shares.list().unwrap(), [alive]);
        let Err(ShareError::Taken { wanted: 5, free: 4 }) = shares.take(5, count(6), "x") else {
            panic!();
        };
        assert_eq!(shares.take(3, count(6), "x").unwrap(), colors(&[0, 3, 4]));
        let list = shares.list().unwrap();
        assert_eq!(list.len(), 2);
        assert_eq!(list[1].program, "x");
    }

    #[test]
    fn who_names_colors_gets_them_and_is_listed_once() {
        let directory = tempfile::tempdir().unwrap();
        let shares = shares(&directory);
        shares.note(colors(&[1]), "first").unwrap();
        shares.note(colors(&[2, 3]), "again").unwrap();
        let list = shares.list().unwrap();
        assert_eq!(list.len(), 1);
        assert_eq!((list[0].program.as_str(), &list[0].colors), ("again", &colors(&[2, 3])));
    }

    #[test]
    fn a_damaged_list_is_an_empty_one() {
        let directory = tempfile::tempdir().unwrap();
        let shares = shares(&directory);
        shares.note(colors(&[1]), "x").unwrap();
        let path = fs::read_dir(directory.path()).unwrap().next().unwrap().unwrap().path();
        fs::write(path.join(FILE), "[{").unwrap();
        assert_eq!(shares.list().unwrap(), []);
        assert_eq!(shares.take(1, count(2), "x").unwrap(), colors(&[0]));
    }
}
