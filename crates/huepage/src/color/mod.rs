// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which color a page has.
//!
//! A [`ColorOracle`] finds the colors of pages of this process. [`choose()`] picks the
//! one that fits the machine and gives the reason.
//!
//! | oracle | how it finds colors | needs |
//! |---|---|---|
//! | [`MeasuredOracle`] | by timing which pages evict each other; also right in virtual machines | about a quarter of a second to discover the colors, on `x86_64` |
//! | [`palette::Palette`] | by timing pages against reference pages whose colors an earlier discovery found | milliseconds, and such a palette |
//! | [`FrameNumberOracle`] | by the frame number modulo the number of colors; wrong in virtual machines and for caches with a hashed index | `CAP_SYS_ADMIN` and the geometry of the cache |
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
#[cfg_attr(not(all(target_arch = "x86_64", feature = "measure")), allow(dead_code))]
mod agreement;
mod choose;
mod error;
mod evidence;
mod frame_number;
#[cfg(all(target_arch = "x86_64", feature = "measure"))]
mod measure;
#[cfg(not(all(target_arch = "x86_64", feature = "measure")))]
#[path = "measure_unavailable.rs"]
mod measure;
mod measurement;
mod oracle;
#[cfg(feature = "serde")]
pub mod palette;
mod pressure;

pub use crate::units::{Color, ColorCount};
pub use agreement::pair_agreement;
pub use choose::{Chosen, ColorsBy, FrameNumberCheck, Oracle, ParseColorsByError, choose};
pub use error::ColorError;
pub use evidence::{Attempt, Distrust, Evidence};
pub use frame_number::FrameNumberOracle;
pub use measure::MeasuredOracle;
pub use measurement::{MeasureOptions, Survey};
#[cfg(test)]
pub(crate) use oracle::ByRule;
pub use oracle::{ColorOracle, Method};
pub use pressure::{Held, Pressure};

/// Whether this build can measure at all: on `x86_64`, with the feature `measure`.
pub const CAN_MEASURE: bool = cfg!(all(target_arch = "x86_64", feature = "measure"));
