// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wrong use that only the machine can tell of.

/// An error that ends the program with exit code 2.
#[derive(Debug)]
pub struct UsageError(pub String);

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}
