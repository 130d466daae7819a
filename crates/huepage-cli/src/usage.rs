// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wrong options that only the state of the machine shows to be wrong.

/// An error that ends the program with exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);
