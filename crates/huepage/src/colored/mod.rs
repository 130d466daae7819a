// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory placed by color, without having to know how.
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
//! Programs that want to know which color is where, move memory in use, or follow
//! the order of first touch find all of it in [`crate::place`].

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
