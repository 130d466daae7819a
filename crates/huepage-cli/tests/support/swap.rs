// SPDX-License-Identifier: MIT OR Apache-2.0
//! A file to swap to, for as long as a test takes.

use std::{io, process::Command};

/// Small, since pages of other programs that are swapped there must come back soon.
const BYTES: usize = 32 << 20;

/// The system swaps to it until it is dropped.
pub struct SwapFile(tempfile::NamedTempFile);

impl SwapFile {
    /// # Errors
    /// Why it cannot be set up, for instance without privilege.
    pub fn new() -> Result<Self, String> {
        let failed = |error: io::Error| error.to_string();
        // In memory it could not be swapped to.
        let mut file = tempfile::NamedTempFile::new_in("/var/tmp").map_err(failed)?;
        io::Write::write_all(&mut file, &vec![0; BYTES]).map_err(failed)?;
        for program in ["mkswap", "swapon"] {
            let output = Command::new(program).arg(file.path()).output();
            let output = output.map_err(|error| format!("{program}: {error}"))?;
            if !output.status.success() {
                return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
            }
        }
        Ok(SwapFile(file))
    }
}

impl Drop for SwapFile {
    fn drop(&mut self) {
        let _ = Command::new("swapoff").arg(self.0.path()).status();
    }
}
