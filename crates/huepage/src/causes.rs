// SPDX-License-Identifier: MIT OR Apache-2.0
//! Prints an error with its causes on one line.

use std::error::Error;

/// The message of an error and, behind colons, those of its causes: messages of
/// this library leave them to [`Error::source`].
///
/// ```
/// let cause = std::io::Error::from(std::io::ErrorKind::NotFound);
/// let error = huepage::topology::MeasureError::Memory(cause);
/// let text = huepage::with_causes(&error);
/// assert_eq!(text, "cannot map memory for the measurement: entity not found");
/// ```
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text += &format!(": {error}");
        cause = error.source();
    }
    text
}
