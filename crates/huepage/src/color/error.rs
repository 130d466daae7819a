// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of finding colors; each message says what to do about it.

use std::io;

use super::evidence::Evidence;
#[cfg(feature = "serde")]
use super::palette::PaletteError;
use crate::{topology::PinError, units::Bytes};

/// Why colors cannot be found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ColorError {
    /// Frame numbers read as zero without the capability.
    #[error("frame numbers are hidden: needs CAP_SYS_ADMIN; colors can still be measured")]
    FrameNumbersHidden,
    /// The number of colors is not known, so frame numbers give no colors.
    #[error(
        "frame numbers need the cache's geometry, which is not declared here: give it by \
         hand, or measure colors"
    )]
    NoGeometry,
    /// Measurement reads the time stamp counter of x86_64.
    #[error(
        "measuring colors is not available on {0}: it needs the time stamp counter of x86_64 \
         and the feature `measure` of the crate huepage; \
         on bare metal colors can be told by frame number"
    )]
    NotAvailable(&'static str),
    /// No `rdtscp`: the counter cannot be read together with the CPU's number.
    #[error(
        "measuring colors needs the rdtscp instruction, which this CPU or hypervisor does not \
         offer; on bare metal colors can be told by frame number"
    )]
    NoTimeStamp,
    /// Measurement is for 4 KiB pages of 64-byte lines.
    #[error("measuring colors needs 4 KiB pages and 64-byte lines, not {page} and {line} B")]
    Unsupported {
        /// Base page size.
        page: Bytes,
        /// Line in bytes.
        line: u32,
    },
    /// A way is no larger than a page.
    #[error(
        "a cache of {size} and {ways} ways has one color: all pages are alike, nothing to place"
    )]
    OneColor {
        /// Capacity.
        size: Bytes,
        /// Associativity.
        ways: u32,
    },
    /// The cache is too large for the private cache of a core: measuring it would take
    /// minutes, or gigabytes.
    #[error(
        "a cache of {size} and {ways} ways has {colors} colors: measuring is for the cache of \
         one core, of at most {most} and {most_colors} colors; give the geometry of such a one \
         by hand, or on bare metal tell colors by frame number"
    )]
    TooLarge {
        /// Capacity.
        size: Bytes,
        /// Associativity.
        ways: u32,
        /// Colors that follow.
        colors: u32,
        /// The largest capacity that is measured.
        most: Bytes,
        /// The most colors that are measured.
        most_colors: u32,
    },
    /// Discovery needs more memory than is available: the kernel would kill a process.
    #[error(
        "measuring colors takes {needed} of memory, and {available} are available: free some, \
         or on bare metal tell colors by frame number"
    )]
    NoMemory {
        /// Memory that discovery would touch.
        needed: Bytes,
        /// Memory that is available.
        available: Bytes,
    },
    /// No result was good enough to be believed.
    #[error("no color map could be trusted:{0}")]
    NotTrusted(Evidence),
    /// There is no palette to share.
    #[cfg(feature = "serde")]
    #[error(transparent)]
    Palette(#[from] PaletteError),
    /// The thread cannot be kept on the CPU whose cache is to be measured.
    #[error(transparent)]
    Pin(#[from] PinError),
    /// The kernel refused.
    #[error("cannot {action}")]
    System {
        /// What was tried.
        action: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}
