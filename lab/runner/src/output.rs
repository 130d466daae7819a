// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writing results to standard output.

use std::io::{self, ErrorKind, Write};

/// Prints text. A reader that has gone away, such as `| head`, has what it wanted:
/// that is no error.
pub fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
