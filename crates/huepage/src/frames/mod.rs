// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the kernel tells about the frames behind pages.

mod pagemap;

pub use pagemap::{PageState, Pagemap};
