// SPDX-License-Identifier: MIT OR Apache-2.0
//! Information of the kernel about the frames behind pages.
//!
//! | | read from | needs |
//! |---|---|---|
//! | [`Pagemap`]: whether a page is present or swapped | `/proc/PID/pagemap` | the same user, or `CAP_SYS_PTRACE` |
//! | [`Pagemap`]: its frame number | `/proc/PID/pagemap` | `CAP_SYS_ADMIN` as well |
//! | [`Populated`]: ranges of present pages | `PAGEMAP_SCAN` (Linux 6.7) | as `Pagemap` |
//! | [`PageFlags`]: flags of frames, sizes of huge pages | `/proc/kpageflags` | root |
//! | [`FrameNodes`]: the node of a frame | `/sys/devices/system/node` or `/proc/zoneinfo` | nothing |

mod frame_nodes;
mod page_flags;
mod pagemap;
mod scan;

pub use frame_nodes::FrameNodes;
pub use page_flags::{FlagWords, FrameFlags, PageFlags, for_flags_of};
pub use pagemap::{PageState, Pagemap};
pub use scan::Populated;
