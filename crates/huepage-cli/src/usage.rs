// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wrong use that only the machine can tell of.

/// An error that ends the program with exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);
