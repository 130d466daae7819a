// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reference pages of known color that all programs share.
//!
//! A discovery takes a quarter of a second and numbers colors in an order of its own. A
//! palette keeps the result of one discovery for all other programs: a few frames of
//! each color in shared memory, and a record of their colors. A program that opens it
//! verifies some of them, which takes milliseconds, and classifies its own pages by
//! them. "Color 5" then means the same in all programs that opened the same palette
//! ([`Palette::name`]).
//!
//! * Frames are shared, so the color of a page is the same for all programs: a page
//!   that the kernel moved is noticed, and replaced by one of the same color.
//! * The record is a file that is replaced as a whole and never changed, in a directory
//!   that only its owner writes to; files that other users could have put there are
//!   refused.
//! * A process that cannot share a palette makes one for itself; [`Palette::notes`]
//!   says why.
//!
//! ```no_run
//! use huepage::color::palette::{Palette, PaletteOptions};
//! use huepage::color::{ColorOracle, MeasureOptions};
//! use huepage::topology::{LiveMachine, Topology};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let cpu = 0;
//! let geometry = Topology::read(&LiveMachine::open(cpu)?)?.cache_to_color(cpu).ok();
//! let palette = Palette::open(&MeasureOptions::new(cpu, geometry), &PaletteOptions::new())?;
//! println!("{} colors, {:?}", palette.count(), palette.state());
//! # Ok(())
//! # }
//! ```

mod error;
mod frames;
mod identity;
mod inspection;
pub(crate) mod lock;
mod look;
mod make;
mod mark;
mod open;
mod options;
pub(crate) mod place;
mod record;
mod segment;
mod stock;

use std::time::Duration;

use super::{Color, ColorCount, ColorError, ColorOracle, Method, Pressure, measure::Standard};
use crate::mapping::PageAddr;

pub use error::PaletteError;
pub use identity::MachineIdentity;
pub use inspection::{Condition, Inspection, PaletteSummary};
pub use options::{Audience, PaletteOptions};

use frames::Frames;
use record::Record;

/// How a palette was obtained.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PaletteState {
    /// It existed, and was verified.
    Found,
    /// It existed, and pages that had moved were replaced. Colors keep their numbers.
    Repaired,
    /// It was made now, and other processes can open it.
    Made,
    /// It was made now, for this process alone: [`Palette::notes`] say why.
    Private,
}

/// Reference pages of known color, verified when they were opened. Classifies other
/// pages by them.
///
/// Holds only the mapping of these pages, which all programs with this palette share,
/// and tables of some 100 KiB.
#[derive(Debug)]
pub struct Palette {
    record: Record,
    state: PaletteState,
    audience: Option<Audience>,
    notes: Vec<String>,
    standard: Standard,
    /// Keeps the pages mapped that `standard` reads.
    _frames: Frames,
}

impl Palette {
    /// How it was obtained.
    pub fn state(&self) -> &PaletteState {
        &self.state
    }

    /// For whom it is; `None` for one of this process alone.
    pub fn audience(&self) -> Option<Audience> {
        self.audience
    }

    /// Why other palettes were not used, as sentences for people.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Identifies the numbering of its colors: palettes of one name, in whatever
    /// process, give the same frames the same color numbers.
    pub fn name(&self) -> &str {
        &self.record.name
    }

    /// What its record says.
    pub fn summary(&self) -> PaletteSummary {
        self.record.summary(self.audience.unwrap_or(Audience::User).owner())
    }

    /// Associativity of the cache, declared, or measured where none was.
    pub fn ways(&self) -> u32 {
        self.record.known.ways
    }

    /// The CPU that is measured on.
    pub fn cpu(&self) -> u32 {
        self.standard.cpu()
    }

    /// Measures on another CPU from now on, which must have a cache of the same
    /// geometry: there the colors are the same.
    pub fn measure_on(&mut self, cpu: u32) {
        self.standard.measure_on(cpu);
    }

    /// Checks some of the pages again, at lines that discovery did not read: whether
    /// they have their colors.
    ///
    /// # Errors
    /// [`ColorError::Pin`] if the thread may not run on the palette's CPU.
    pub fn verify(&mut self) -> Result<bool, ColorError> {
        look::holds(&mut self.standard, look::LOOKS)
    }

    /// As [`MeasuredOracle::pressure`](super::MeasuredOracle::pressure).
    ///
    /// # Errors
    /// [`ColorError::Pin`] if the thread may not run on the palette's CPU.
    pub fn pressure(&mut self, wait: Duration) -> Result<Pressure, ColorError> {
        self.standard.pressure(wait)
    }
}

impl ColorOracle for Palette {
    fn method(&self) -> Method {
        Method::Measurement
    }

    fn count(&self) -> ColorCount {
        self.record.colors
    }

    unsafe fn classify(&mut self, pages: &[PageAddr]) -> Result<Vec<Option<Color>>, ColorError> {
        // SAFETY: the same contract, handed on.
        unsafe { self.standard.classify(pages) }
    }
}
