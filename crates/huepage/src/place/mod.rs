// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pools of classified pages, placement policies, live regions.

mod arena;
mod build;
mod drift;
mod error;
mod exchange;
mod first_touch;
mod kernel;
mod mover;
mod policy;
mod pool;
mod ranges;
mod recolor;
mod region;
mod remap;
mod signals;
mod slots;
mod userfaultfd;

pub use drift::{Drift, verify};
pub use error::PlaceError;
pub use mover::Mechanism;
pub use policy::{Policy, PolicyError};
pub use pool::{Pool, Reclassified};
pub use ranges::Unsuitable;
pub use recolor::Recolored;
pub use region::Region;
pub use userfaultfd::UserfaultfdError;
