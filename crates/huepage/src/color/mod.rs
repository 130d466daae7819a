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
#[cfg_attr(not(all(target_arch = "x86_64", feature = "measure")), allow(dead_code))]
mod agreement;
mod choose;
#[cfg(feature = "serde")]
mod discovery_facts;
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
pub use oracle::{ColorOracle, Method};
pub use pressure::{Held, Pressure};

/// Whether this build can measure at all: on `x86_64`, with the feature `measure`.
pub const CAN_MEASURE: bool = cfg!(all(target_arch = "x86_64", feature = "measure"));
