// SPDX-License-Identifier: MIT OR Apache-2.0
//! Decides where physical memory pages land.
//!
//! A physically indexed cache gives every page a *color*: the group of cache
//! sets its lines fall into. A buffer whose pages have unbalanced colors
//! overflows some sets while others stay empty, and two runs of the same
//! program differ by how the kernel happened to deal out frames. This crate
//! finds the colors of the running machine and places memory by them.
//!
//! * [`topology`]: what this machine is: caches, nodes, memory-side caches.
//! * [`color`]: which color a page has, by frame number or by measurement.
//! * [`frames`]: what the kernel tells about the frames behind pages.
//! * [`place`]: pools of classified pages, placement policies, live regions.
//! * [`map`]: where the pages of a process are, and how evenly.

mod available_memory;
pub mod color;
pub mod frames;
pub mod list;
pub mod map;
pub mod mapping;
pub mod place;
pub mod topology;
pub mod units;

pub use available_memory::available_memory;
