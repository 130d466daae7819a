// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why there is no colored memory.

use crate::{
    color::ColorError,
    place::PlaceError,
    topology::{ChoiceError, PinError, TopologyError},
};

/// Why there is no colored memory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ColoredError {
    /// The CPUs of this process cannot be listed.
    #[error("cannot tell which CPUs this process may run on")]
    Cpus(#[source] std::io::Error),
    /// The CPU cannot be used.
    #[error(transparent)]
    Pin(#[from] PinError),
    /// The machine cannot be described.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// Its cache is not one to color.
    #[error(transparent)]
    Cache(#[from] ChoiceError),
    /// Colors cannot be found.
    #[error(transparent)]
    Color(#[from] ColorError),
    /// Memory cannot be placed.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// More elements than an address space holds.
    #[error("{elements} elements of {size} bytes are more than memory can hold")]
    TooMany {
        /// How many were asked for.
        elements: usize,
        /// Bytes of each.
        size: usize,
    },
}
