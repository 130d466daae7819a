// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writing results to standard output.

use std::io::{self, ErrorKind, Write};

/// Prints text, or bytes. If the reader has closed standard output, as `| head` does,
/// that is no error.
pub fn print(text: impl AsRef<[u8]>) -> io::Result<()> {
    print_if_read(text).map(drop)
}

/// The same for callers that would go on printing: false if the reader has closed it.
pub fn print_if_read(text: impl AsRef<[u8]>) -> io::Result<bool> {
    let mut stdout = io::stdout().lock();
    is_read(stdout.write_all(text.as_ref()).and_then(|()| stdout.flush()))
}

/// The result of a write to standard output: false if the reader has closed it.
pub(crate) fn is_read(written: io::Result<()>) -> io::Result<bool> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => {
            Err(io::Error::new(error.kind(), format!("writing to standard output: {error}")))
        }
        Ok(()) => Ok(true),
    }
}
