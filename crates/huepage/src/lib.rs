// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decides where physical memory pages land.
//!
//! A physically indexed cache gives every page a *color*: the group of cache
//! sets its lines fall into. A buffer whose pages have unbalanced colors
//! overflows some sets while others stay empty, and two runs of the same
//! program differ by which frames the kernel gave them. This crate finds the
//! colors of the running machine and places memory by them.
//!
//! ```no_run
//! # fn main() -> Result<(), huepage::colored::ColoredError> {
//! let huepage = huepage::Huepage::open()?;
//! // Whole pages, of all colors equally often.
//! let mut matrix = huepage.vec::<f64>(512 * 512)?;
//! matrix[0] = 1.0;
//! # Ok(())
//! # }
//! ```
//!
//! | to do this | use |
//! |---|---|
//! | allocate memory placed by color | [`Huepage`] and the rest of [`colored`] |
//! | place by a policy, move memory in use, check placed memory | [`place`] |
//! | find out which color a page has | [`color`] |
//! | describe the caches and nodes of the machine | [`topology`] |
//! | see where the pages of a process are | [`map`] |
//! | see which pages the kernel merged (KSM) | [`merged`] |
//! | read what the kernel tells about frames and processes | [`frames`], [`proc`] |
//! | measure the latency of memory | [`chase`] |
//! | read and write sizes, colors and lists | [`units`], [`list`] |
//! | own memory page by page | [`mapping`] |
//! | exchange settings and reports with `huepage run` | [`run`] |
//!
//! # Features
//!
//! All are on by default; [`Huepage`] and [`place`] are there without any.
//!
//! | feature | |
//! |---|---|
//! | `measure` | colors by timing, on `x86_64`. Without it, as on other architectures, colors come from frame numbers, and [`MeasuredOracle::discover`](color::MeasuredOracle::discover) says that it is not available. |
//! | `map` | [`map`] and [`merged`]. Brings `serde`. |
//! | `serde` | `Serialize` and `Deserialize` of results, and all that is kept in files: [`color::palette`], [`topology::RecordedMachine`], [`run`]. |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod available_memory;
mod causes;
pub mod chase;
pub mod color;
pub mod colored;
pub mod frames;
pub mod list;
#[cfg(feature = "map")]
pub mod map;
pub mod mapping;
#[cfg(feature = "map")]
pub mod merged;
mod own_mappings;
pub mod place;
pub mod proc;
#[cfg(feature = "serde")]
pub mod run;
mod seed;
pub mod topology;
pub mod units;

pub use available_memory::available_memory;
pub use causes::with_causes;
pub use colored::Huepage;
pub use own_mappings::mapped_here;
pub use seed::seed;
