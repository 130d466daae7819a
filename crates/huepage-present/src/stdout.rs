// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writing results to standard output.

use std::io::{self, ErrorKind, Write};

/// Prints text, or its bytes. A reader that has gone away, such as `| head`, has what it
/// wanted: that is no error.
pub fn print(text: impl AsRef<[u8]>) -> io::Result<()> {
    print_if_read(text).map(drop)
}

/// The same for those who would go on: false if the reader has gone away.
pub fn print_if_read(text: impl AsRef<[u8]>) -> io::Result<bool> {
    let mut stdout = io::stdout().lock();
    is_read(stdout.write_all(text.as_ref()).and_then(|()| stdout.flush()))
}

/// What came of a write to standard output: false if the reader has gone away.
pub(crate) fn is_read(written: io::Result<()>) -> io::Result<bool> {
    match written {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => {
            Err(io::Error::new(error.kind(), format!("writing to standard output: {error}")))
        }
        Ok(()) => Ok(true),
    }
}
