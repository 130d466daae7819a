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
