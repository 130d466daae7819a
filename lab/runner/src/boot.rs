// SPDX-License-Identifier: MIT OR Apache-2.0
//! Boots a kernel with one guest program and collects its results.

mod case;
mod console;
mod disks;
mod error;
mod image;
mod machine;
mod qemu;
mod requests;

pub(crate) use disks::escaped;

pub use case::Case;
pub use console::{message, note, printable, report};
pub use disks::{Content, Disk};
pub use error::BootError;
pub use image::{FileSystem, Kind};
pub use machine::{Machine, NS_PER_INSTRUCTION, Node, Running};
pub use qemu::{Report, boot, boot_with};
pub use requests::Request;
