// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads `/proc`: which processes there are, and what they have mapped.
//!
//! Names of files and programs are bytes that another program chose. They need not be
//! UTF-8; the crate `procfs` refuses other names, so it is not used.

mod find;
mod inheritance;
mod mappings;
mod name;
#[cfg(feature = "map")]
mod numa_maps;
mod numeric_entries;
// Without maps, little of it is used.
#[cfg_attr(not(feature = "map"), allow(dead_code))]
mod stat;
mod vm_flags;

pub use find::find;
pub(crate) use inheritance::wiped_in_children;
pub use mappings::{AreaLine, AreaReader, KernelCounts, areas};
pub use name::Name;
#[cfg(feature = "map")]
pub(crate) use numa_maps::numa_maps;
pub use numeric_entries::numeric_entries;
#[cfg(feature = "serde")]
pub(crate) use stat::began;
#[cfg(feature = "map")]
pub(crate) use stat::{Stat, command};
pub use vm_flags::VmFlags;
