// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory placed by color: buffers, an allocator for collections, parts of a cache.
//!
//! ```no_run
//! use huepage::Huepage;
//!
//! # fn main() -> Result<(), huepage::colored::ColoredError> {
//! let mut numbers = Huepage::open()?.vec::<f64>(100_000)?;
//! numbers[7] = 1.0;
//! assert_eq!(numbers.iter().sum::<f64>(), 1.0);
//! # Ok(())
//! # }
//! ```
//!
//! [`Huepage::open`] finds the colors of the cache, which takes about a quarter of
//! a second where they are measured: open it once and clone it. Memory comes from
//! pools that grow as it is asked for, and goes back to them when it is dropped, so
//! that its pages keep their colors. Collections take it through the crate
//! `allocator-api2`: [`Huepage`] is an allocator.
//!
//! [`crate::place`] is for programs that want to choose the color of each page, to move
//! memory in use, or to color pages in the order of their first touch.

mod allocator;
mod builder;
mod error;
mod handle;
mod partition;
mod placed;

pub use builder::Builder;
pub use error::ColoredError;
pub use handle::Huepage;
pub use partition::{Partition, PartitionError};
pub use placed::Placed;

#[cfg(test)]
mod tests;
