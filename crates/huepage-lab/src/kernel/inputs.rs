// SPDX-License-Identifier: MIT OR Apache-2.0
//! All that goes into an image, as a hash.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::{changes::Changes, fragments::Settings, request::Request, toolchain::Toolchain};

/// Raised when this program builds otherwise from the same inputs.
const RECIPE: &str = "1";

/// What an image is made of.
pub struct Inputs<'a> {
    pub request: &'a Request,
    /// Of the source archive.
    pub source: &'a str,
    pub toolchain: &'a Toolchain,
    /// Overlay and hooks; none for the stock kernel.
    pub changes: &'a Changes,
    pub settings: &'a Settings,
}

impl Inputs<'_> {
    /// Of everything: the image's name.
    pub fn hash(&self) -> String {
        let mut hasher = self.lasting();
        hasher.add("settings", self.settings.allconfig());
        for file in self.changes.files() {
            hasher.add(&file.name, &file.bytes);
        }
        hasher.finish()
    }

    /// Of what a directory of objects cannot survive; `make` sees all other changes
    /// itself.
    pub fn objects(&self) -> String {
        self.lasting().finish()
    }

    fn lasting(&self) -> Hasher {
        let mut hasher = Hasher::new();
        hasher.add("recipe", RECIPE);
        hasher.add("request", self.request.name());
        hasher.add("source", self.source);
        hasher.add("compiler", &self.toolchain.version);
        hasher
    }
}

/// SHA-256 over named parts, of which 64 bits are kept: file names, no secrets.
pub struct Hasher(Sha256);

impl Hasher {
    pub fn new() -> Self {
        Hasher(Sha256::new())
    }

    /// Lengths keep neighboring parts apart.
    pub fn add(&mut self, name: &str, part: impl AsRef<[u8]>) {
        for bytes in [name.as_bytes(), part.as_ref()] {
            self.0.update((bytes.len() as u64).to_le_bytes());
            self.0.update(bytes);
        }
    }

    pub fn finish(self) -> String {
        self.0.finalize().iter().take(8).fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}
