// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the kernel tells about the frames behind pages.

mod frame_nodes;
mod page_flags;
mod pagemap;
mod scan;

pub use frame_nodes::FrameNodes;
pub use page_flags::{FlagWords, FrameFlags, PageFlags, for_flags_of};
pub use pagemap::{PageState, Pagemap};
pub use scan::Populated;
