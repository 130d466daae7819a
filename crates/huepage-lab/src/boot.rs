// SPDX-License-Identifier: MIT OR Apache-2.0
//! Boots a kernel with one guest program and collects what it says.

mod console;
mod error;
mod machine;
mod qemu;

pub use error::BootError;
pub use machine::{Disk, Machine, Node};
pub use qemu::{Boot, Report, boot};
