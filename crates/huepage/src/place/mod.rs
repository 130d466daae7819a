// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pools of classified pages, placement policies, live regions.
//!
//! A [`Pool`] holds pages of known color. It gives out [`Region`]s: memory of
//! any size whose pages have the colors a [`Policy`] asks for. Nothing is
//! copied: pages are moved to their place by `UFFDIO_MOVE` (Linux 6.8), or by
//! `mremap`. [`Pool::recolor`] does the same to memory that the program already
//! uses, [`verify`] and [`Pool::repair`] keep it that way.
//!
//! ```
//! use huepage::{
//!     color::{Color, ColorCount},
//!     mapping::{Mapping, PageKind, page_size},
//!     place::{Policy, Pool},
//!     units::Bytes,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Colors as an oracle would tell them; `Pool::build` asks one.
//! let count = ColorCount::new(4).ok_or("no colors")?;
//! let mapping = Mapping::populated(16, PageKind::Base)?;
//! let labels: Vec<_> = [2, 0, 3, 1].repeat(4).into_iter().map(|c| Some(Color(c))).collect();
//! let mut pool = Pool::from_parts(mapping, &labels, count, None)?;
//!
//! let mut region = pool.allocate(Bytes(8 * page_size().0), &Policy::Balanced)?;
//! region.as_mut_slice().fill(1);
//! assert_eq!(region.color(1), Some(Color(1)));
//! pool.give_back(region)?;
//! assert_eq!(pool.pages(), 16);
//! # Ok(())
//! # }
//! ```
//!
//! Privileges that the operations need (`userfaultfd(2)`):
//!
//! | | needs |
//! |---|---|
//! | regions, [`FirstFrames`], [`verify`], [`Pool::repair`], [`Pool::recolor_exclusive`] | nothing |
//! | [`Policy::Sequence`] | `CAP_SYS_PTRACE`, or `vm.unprivileged_userfaultfd=1`, or access to `/dev/userfaultfd` |
//! | [`Pool::recolor`] | `CAP_SYS_PTRACE` |
//!
//! The first touch of a page of a sequence region, and a touch of a page that
//! is being recolored, may happen inside a system call. A descriptor for user
//! mode only would make that call fail with `EFAULT`: hence the privilege.
//! Following forks takes the capability in any case.
//!
//! Implementation notes. `policy`, `slots` and `exchange` decide and touch no memory;
//! `userfaultfd`, `remap` and `arena` are the system calls. `exchange` describes what
//! may happen between two moves.

mod arena;
mod build;
mod drift;
mod error;
mod exchange;
mod first_frames;
mod first_touch;
mod kernel;
mod live;
mod mechanism;
mod mover;
mod policy;
mod pool;
mod quarantine;
mod ranges;
mod recolor;
mod region;
mod remap;
mod signals;
mod slots;
mod stock;
mod userfaultfd;

pub use drift::{Drift, verify};
pub use error::PlaceError;
pub use first_frames::FirstFrames;
pub use live::{Fate, Live, OldFrame, Wish};
pub use mover::Mechanism;
pub use policy::{Policy, PolicyError};
pub use pool::{NotGivenBack, Pool, Reclassified};
pub use ranges::Unsuitable;
pub use recolor::Recolored;
pub use region::Region;
pub use userfaultfd::UserfaultfdError;
