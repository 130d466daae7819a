// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decides where physical memory pages land.
//!
//! A physically indexed cache gives every page a *color*: the group of cache
//! sets its lines fall into. A buffer whose pages have unbalanced colors
//! overflows some sets while others stay empty, and two runs of the same
//! program differ by how the kernel happened to deal out frames. This crate
//! finds the colors of the running machine and places memory by them.
//!
//! * [`Huepage`]: memory placed by color in a line or two; see [`colored`].
//! * [`chase`]: dependent reads in random order, whose time is the latency of memory.
//! * [`topology`]: what this machine is: caches, nodes, memory-side caches.
//! * [`color`]: which color a page has, by frame number or by measurement.
//! * [`frames`]: what the kernel tells about the frames behind pages.
//! * [`place`]: pools of classified pages, placement policies, live regions.
//! * [`map`]: where the pages of a process are, and how evenly.
//! * [`proc`]: which processes there are, and what they have mapped.
//! * [`run`]: what `huepage run` tells programs, and what they answer.
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
