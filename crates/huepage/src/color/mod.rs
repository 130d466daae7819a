// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which color a page has.
//!
//! ```no_run
//! use huepage::color::{ColorOracle, ColorsBy, MeasureOptions, choose};
//! use huepage::topology::{LiveMachine, Topology};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let cpu = 0;
//! let geometry = Topology::read(&LiveMachine::open(cpu)?)?.cache_to_color(cpu).ok();
//! let chosen = choose(ColorsBy::Auto, &MeasureOptions::new(cpu, geometry))?;
//! println!("{} colors by {}", chosen.oracle.count(), chosen.reason);
//! # Ok(())
//! # }
//! ```

// Without measurement nothing is compared, except in tests.
#[cfg_attr(not(all(target_arch = "x86_64", not(huepage_no_measurement))), allow(dead_code))]
mod agreement;
mod choose;
mod error;
mod evidence;
mod frame_number;
#[cfg(all(target_arch = "x86_64", not(huepage_no_measurement)))]
mod measure;
#[cfg(not(all(target_arch = "x86_64", not(huepage_no_measurement))))]
#[path = "measure_elsewhere.rs"]
mod measure;
mod measurement;
mod oracle;
pub mod palette;
mod pressure;

use std::{fmt, num::NonZeroU32};

pub use agreement::pair_agreement;
pub use choose::{Chosen, ColorsBy, FrameNumberCheck, Oracle, ParseColorsByError, choose};
pub use error::ColorError;
pub use evidence::{Attempt, Distrust, Evidence};
pub use frame_number::FrameNumberOracle;
pub use measure::MeasuredOracle;
pub use measurement::{MeasureOptions, Survey};
pub use oracle::{ColorOracle, Method};
pub use pressure::{Held, Pressure};
use serde::{Deserialize, Serialize};

/// The color of a page: which group of cache sets its lines fall into.
///
/// Colors found by frame number are numbered as the cache numbers its sets.
/// Colors found by measurement are numbered in order of discovery; two runs
/// give the same classes under other names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Color(pub u32);

impl Color {
    /// The color as an index into a table of [`ColorCount`] entries.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How many colors there are: at least one, not always a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ColorCount(NonZeroU32);

impl ColorCount {
    /// `None` for zero.
    pub fn new(count: u32) -> Option<Self> {
        NonZeroU32::new(count).map(ColorCount)
    }

    /// The number.
    pub fn get(self) -> u32 {
        self.0.get()
    }

    /// All colors, ascending.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Color> + Clone {
        (0..self.get()).map(Color)
    }
}

impl fmt::Display for ColorCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
