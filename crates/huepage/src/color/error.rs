// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why colors cannot be told, each with what to do about it.

/// Why colors cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum ColorError {
    /// Frame numbers read as zero without the capability.
    #[error(
        "frame numbers are hidden: needs CAP_SYS_ADMIN; colors can still be measured: \
         --colors-by measurement"
    )]
    FrameNumbersHidden,
    /// The kernel refused.
    #[error("{action}: {source}")]
    System {
        /// What was tried.
        action: &'static str,
        /// What the kernel said.
        source: std::io::Error,
    },
}
