// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `/proc` tells about processes: which there are, and what they have mapped.
//!
//! Names of files and programs are bytes that somebody else chose. They need not be
//! UTF-8, for which reason the crate `procfs`, which refuses such ones, is not used.

mod find;
mod inheritance;
mod mappings;
mod name;
mod numa_maps;
mod numbered;
mod stat;
mod vm_flags;

pub use find::find;
pub(crate) use inheritance::wiped_in_children;
pub use mappings::{AreaLine, AreaReader, KernelCounts, areas};
pub use name::Name;
pub(crate) use numa_maps::numa_maps;
pub use numbered::numbered;
pub(crate) use stat::{Stat, began, command};
pub use vm_flags::VmFlags;
