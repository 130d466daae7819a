// SPDX-License-Identifier: MIT OR Apache-2.0
//! What this machine is: caches, nodes, memory-side caches.

mod geometry;

pub use geometry::{CacheGeometry, GeometryError};
