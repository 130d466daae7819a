// SPDX-License-Identifier: MIT OR Apache-2.0
//! All that goes into an image, as a hash.

use std::{fmt::Write, fs, path::PathBuf};

use anyhow::Context;
use sha2::{Digest, Sha256};

use super::{
    changes::Changes,
    fragments::Settings,
    request::{Fragment, Request},
    source::Archive,
    toolchain::Toolchain,
};
use crate::workspace::Workspace;

/// To be raised when this program builds something else from the same inputs.
const RECIPE: &str = "1";

/// The inputs of an image.
pub struct Inputs {
    pub request: Request,
    /// Of the source archive.
    pub source: String,
    pub toolchain: Toolchain,
    /// Overlay and hooks; none for the stock kernel.
    pub changes: Changes,
    pub settings: Settings,
}

impl Inputs {
    /// With the compiler of this machine, and these fragments of the checkout.
    pub fn read(
        workspace: &Workspace,
        request: &Request,
        archive: &Archive,
        changes: Changes,
        fragments: &[Fragment],
    ) -> anyhow::Result<Self> {
        Ok(Inputs {
            request: *request,
            source: archive.id.clone(),
            toolchain: Toolchain::find(request.arch)?,
            changes,
            settings: Settings::read(&workspace.configs(), fragments)?,
        })
    }

    /// Of everything: the image's name.
    pub fn hash(&self) -> String {
        let mut hasher = self.lasting();
        hasher.add("settings", self.settings.allconfig());
        for file in self.changes.files().filter(|file| is_compiled(&file.name)) {
            hasher.add(&file.name, &file.bytes);
        }
        hasher.finish()
    }

    /// The hash of the inputs that need a new directory of objects; `make` detects all
    /// other changes itself.
    pub fn objects(&self) -> String {
        self.lasting().finish()
    }

    fn lasting(&self) -> Hasher {
        let mut hasher = Hasher::new();
        hasher.add("recipe", RECIPE);
        hasher.add("request", self.request.name());
        hasher.add("source", &self.source);
        hasher.add("compiler", &self.toolchain.version);
        hasher
    }
}

/// Whether the image can depend on the file. Not used for hooks, which change several
/// files.
fn is_compiled(name: &str) -> bool {
    !["overlay/Documentation/", "overlay/tools/"].iter().any(|folder| name.starts_with(folder))
}

/// SHA-256 over named parts, of which 64 bits are kept: file names, no secrets.
pub struct Hasher(Sha256);

impl Hasher {
    pub fn new() -> Self {
        Hasher(Sha256::new())
    }

    /// With lengths, so that moving bytes between neighboring parts changes the hash.
    pub fn add(&mut self, name: &str, part: impl AsRef<[u8]>) {
        for bytes in [name.as_bytes(), part.as_ref()] {
            self.0.update((bytes.len() as u64).to_le_bytes());
            self.0.update(bytes);
        }
    }

    /// The names and the contents of files.
    pub fn add_files(&mut self, files: &[PathBuf]) -> anyhow::Result<()> {
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            self.add(&name, fs::read(file).with_context(|| format!("read {}", file.display()))?);
        }
        Ok(())
    }

    pub fn finish(self) -> String {
        self.0.finalize().iter().take(8).fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        arch::Arch,
        kernel::{Config, Variant, sample::Sample},
    };

    /// The hash of the image and that of its objects.
    fn hashes(change: impl FnOnce(&mut Inputs)) -> (String, String) {
        let mut inputs = Inputs {
            request: Request::stock(Arch::X86_64),
            source: "source".into(),
            toolchain: Toolchain { prefix: "", version: "gcc 12.2.0".into(), ccache: false },
            changes: Changes::read(&Sample::new().kernel()).unwrap(),
            settings: Settings::of("base", "CONFIG_A=y\n"),
        };
        change(&mut inputs);
        (inputs.hash(), inputs.objects())
    }

    /// The changes of the sample with a file written.
    fn written(path: &str, text: &str) -> Changes {
        let sample = Sample::new();
        sample.write(path, text);
        Changes::read(&sample.kernel()).unwrap()
    }

    #[test]
    fn the_same_inputs_give_the_same_hash() {
        let (hash, objects) = hashes(|_| ());
        assert_eq!(hashes(|_| ()), (hash.clone(), objects));
        assert_eq!(hash.len(), 16);
        assert!(hash.bytes().all(|b| b.is_ascii_hexdigit()), "{hash}");
        // It changes no output.
        assert_eq!(hashes(|inputs| inputs.toolchain.ccache = true).0, hash);
    }

    #[test]
    fn what_objects_do_not_survive_changes_both() {
        let (hash, objects) = hashes(|_| ());
        let changes: [fn(&mut Inputs); 5] = [
            |inputs| inputs.request.arch = Arch::Arm64,
            |inputs| inputs.request.variant = Variant::Huepage,
            |inputs| inputs.request.config = Config::Debug,
            |inputs| inputs.source = "another".into(),
            |inputs| inputs.toolchain.version = "gcc 13.1.0".into(),
        ];
        for (index, change) in changes.into_iter().enumerate() {
            let (other, other_objects) = hashes(change);
            assert_ne!(other, hash, "{index}");
            assert_ne!(other_objects, objects, "{index}");
        }
    }

    #[test]
    fn what_make_sees_itself_changes_the_image_only() {
        let (hash, objects) = hashes(|_| ());
        let changes: [fn(&mut Inputs); 5] = [
            |inputs| inputs.settings = Settings::of("base", "CONFIG_A=y\nCONFIG_B=y\n"),
            |inputs| inputs.changes = written("kernel/overlay/mm/page_color.c", "int x;\n"),
            |inputs| inputs.changes = written("kernel/overlay/mm/new.c", ""),
            |inputs| inputs.changes = written("kernel/hooks/0002-second.patch", "other"),
            |inputs| inputs.changes = Changes::default(),
        ];
        for (index, change) in changes.into_iter().enumerate() {
            let (other, other_objects) = hashes(change);
            assert_ne!(other, hash, "{index}");
            assert_eq!(other_objects, objects, "{index}");
        }
    }

    #[test]
    fn what_no_image_contains_changes_none() {
        let (hash, _) = hashes(|_| ());
        for path in ["Documentation/mm/page_color.rst", "tools/testing/selftests/x/x_test.c"] {
            let path = format!("kernel/overlay/{path}");
            assert_eq!(hashes(|inputs| inputs.changes = written(&path, "new\n")).0, hash, "{path}");
        }
        // Such a name elsewhere has no special meaning.
        let inner = written("kernel/overlay/mm/tools/x.c", "new\n");
        let inner = hashes(|inputs| inputs.changes = inner);
        assert_ne!(inner.0, hash);
    }

    #[test]
    fn parts_do_not_run_together() {
        let hash = |parts: &[(&str, &str)]| {
            let mut hasher = Hasher::new();
            parts.iter().for_each(|(name, part)| hasher.add(name, part));
            hasher.finish()
        };
        assert_ne!(hash(&[("a", "bc")]), hash(&[("ab", "c")]));
        assert_ne!(hash(&[("a", "b"), ("c", "d")]), hash(&[("a", "bcd")]));
    }
}
