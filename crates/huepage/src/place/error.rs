// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why memory cannot be placed, each with what to do about it.

use super::{PolicyError, Recolored, Unsuitable, UserfaultfdError};
use crate::{
    color::{Color, ColorError},
    list,
    units::Bytes,
};

/// Why memory cannot be placed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// A size of zero.
    #[error("a region of no bytes cannot be placed: ask for at least one")]
    NoBytes,
    /// The policy does not fit the cache.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// This process lacks a privilege for the safe way.
    #[error("{action}: {reason}")]
    NeedsPrivilege {
        /// What was asked for.
        action: &'static str,
        /// Which privilege it takes.
        reason: UserfaultfdError,
    },
    /// What was asked for cannot be done without `UFFDIO_MOVE`.
    #[error("{action}: {reason}")]
    NeedsMove {
        /// What was asked for.
        action: &'static str,
        /// Why there is none.
        reason: UserfaultfdError,
    },
    /// Moving by `mremap` takes one mapping per run of pages, of which the
    /// kernel allows only so many.
    #[error(
        "moving by mremap would take {needed} mappings beside the {present} this process has; \
         the limit is {limit}: raise vm.max_map_count, place less, or use Linux 6.8 or newer"
    )]
    MappingLimit {
        /// Mappings there are.
        present: usize,
        /// Mappings that would be added.
        needed: usize,
        /// What `vm.max_map_count` allows.
        limit: usize,
    },
    /// The pages drawn from the kernel had too few of these colors.
    #[error(
        "{drawn} pages drawn, and still too few of colors {}: the machine may have fewer colors \
         than assumed, or lack free memory; ask for less or for other colors",
        list::format(&colors(missing))
    )]
    ColorsNotDrawn {
        /// The colors that are short, ascending.
        missing: Vec<Color>,
        /// Pages looked at.
        drawn: usize,
    },
    /// Drawing more would take memory that other programs need.
    #[error("building the pool needs {wanted} more memory, {available} are free: ask for less")]
    NotEnoughMemory {
        /// What the next draw takes.
        wanted: Bytes,
        /// What the kernel says is available.
        available: Bytes,
    },
    /// The pool has fewer pages than are asked for.
    #[error(
        "the pool holds {held} pages, {wanted} are needed: build it for a larger region, or give \
         regions back first"
    )]
    PoolTooSmall {
        /// How many the region needs.
        wanted: usize,
        /// How many there are.
        held: usize,
    },
    /// The pool has too few pages of a color.
    #[error(
        "the pool holds {held} pages of color {color}, {wanted} are needed: build it for a larger \
         region, or give regions back first"
    )]
    PoolShort {
        /// The color.
        color: Color,
        /// How many the region needs.
        wanted: usize,
        /// How many there are.
        held: usize,
    },
    /// The range is not memory that can be moved page by page.
    #[error("the range from {start:#x} cannot be placed: {reason}")]
    Unsuitable {
        /// First address of the offending part.
        start: usize,
        /// What is wrong with it.
        reason: Unsuitable,
    },
    /// The region's pages follow first touch until [`super::Pool::settle`].
    #[error("the region's pages still follow first touch: settle it first")]
    FollowsFirstTouch,
    /// The region belongs to another pool.
    #[error("the region was allocated from another pool: give it back there")]
    ForeignRegion,
    /// The process that made the pool forked this one; pools and regions belong to the
    /// process that made them.
    #[error("this pool belongs to the process that forked this one: build a pool here")]
    OtherProcess,
    /// An error ended the call after some pages had been moved.
    #[error("{} pages were placed, {} were not tried, when an error ended it", report.placed, report.left)]
    Interrupted {
        /// What was done until then.
        report: Recolored,
        /// The error.
        source: Box<PlaceError>,
    },
    /// Labels and pages do not match.
    #[error("{labels} labels for {pages} pages: give one for each")]
    LabelCount {
        /// Labels given.
        labels: usize,
        /// Pages given.
        pages: usize,
    },
    /// A label for a page that has no frame.
    #[error("page {page} has a label but was never written: write to it before its color is found")]
    PageMissing {
        /// Its index.
        page: usize,
    },
    /// The oracle failed.
    #[error(transparent)]
    Color(#[from] ColorError),
    /// The kernel refused.
    #[error("cannot {action}")]
    System {
        /// What was tried.
        action: &'static str,
        /// What the kernel said.
        source: std::io::Error,
    },
}

impl PlaceError {
    pub(super) fn system(action: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| PlaceError::System { action, source }
    }

    /// What `action` lacks: a privilege, or the move itself.
    pub(super) fn lacking(action: &'static str) -> impl FnOnce(UserfaultfdError) -> Self {
        use UserfaultfdError::{ForkEventsDenied, KernelFaultsDenied};
        move |reason| match reason {
            KernelFaultsDenied | ForkEventsDenied => PlaceError::NeedsPrivilege { action, reason },
            reason => PlaceError::NeedsMove { action, reason },
        }
    }

    pub(super) fn errno(action: &'static str) -> impl FnOnce(rustix::io::Errno) -> Self {
        move |errno| PlaceError::System { action, source: errno.into() }
    }
}

fn colors(list: &[Color]) -> Vec<u32> {
    list.iter().map(|color| color.0).collect()
}
