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
        for file in self.changes.files().filter(|file| is_compiled(&file.name)) {
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

/// Whether an image can be another one for it. Of hooks it is not asked: they change
/// several files.
fn is_compiled(name: &str) -> bool {
    !["overlay/Documentation/", "overlay/tools/"].iter().any(|folder| name.starts_with(folder))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        arch::Arch,
        kernel::{Config, Variant, sample::Sample},
    };

    /// The hash of the image and that of its objects.
    fn hashes(change: impl FnOnce(&mut Parts)) -> (String, String) {
        let sample = Sample::new();
        let mut parts = Parts {
            request: Request::stock(Arch::X86_64),
            source: "source".into(),
            toolchain: Toolchain { prefix: "", version: "gcc 12.2.0".into(), ccache: false },
            changes: Changes::read(&sample.kernel()).unwrap(),
            settings: Settings::of("base", "CONFIG_A=y\n"),
            sample,
        };
        change(&mut parts);
        let inputs = Inputs {
            request: &parts.request,
            source: &parts.source,
            toolchain: &parts.toolchain,
            changes: &parts.changes,
            settings: &parts.settings,
        };
        (inputs.hash(), inputs.objects())
    }

    struct Parts {
        request: Request,
        source: String,
        toolchain: Toolchain,
        changes: Changes,
        settings: Settings,
        sample: Sample,
    }

    impl Parts {
        fn write(&mut self, path: &str, text: &str) {
            self.sample.write(path, text);
            self.changes = Changes::read(&self.sample.kernel()).unwrap();
        }
    }

    #[test]
    fn the_same_inputs_give_the_same_hash() {
        let (hash, objects) = hashes(|_| ());
        assert_eq!(hashes(|_| ()), (hash.clone(), objects));
        assert_eq!(hash.len(), 16);
        assert!(hash.bytes().all(|b| b.is_ascii_hexdigit()), "{hash}");
        // It changes no output.
        assert_eq!(hashes(|parts| parts.toolchain.ccache = true).0, hash);
    }

    #[test]
    fn what_objects_do_not_survive_changes_both() {
        let (hash, objects) = hashes(|_| ());
        let changes: [fn(&mut Parts); 5] = [
            |parts| parts.request.arch = Arch::Arm64,
            |parts| parts.request.variant = Variant::Huepage,
            |parts| parts.request.config = Config::Debug,
            |parts| parts.source = "another".into(),
            |parts| parts.toolchain.version = "gcc 13.1.0".into(),
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
        let changes: [fn(&mut Parts); 5] = [
            |parts| parts.settings = Settings::of("base", "CONFIG_A=y\nCONFIG_B=y\n"),
            |parts| parts.write("kernel/overlay/mm/page_color.c", "int x;\n"),
            |parts| parts.write("kernel/overlay/mm/new.c", ""),
            |parts| parts.write("kernel/hooks/0002-second.patch", "other"),
            |parts| parts.changes = Changes::none(),
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
            assert_eq!(hashes(|parts| parts.write(&path, "new\n")).0, hash, "{path}");
        }
        // Such a name elsewhere is one like any other.
        let inner = hashes(|parts| parts.write("kernel/overlay/mm/tools/x.c", "new\n"));
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
