// SPDX-License-Identifier: MIT OR Apache-2.0
//! For tests: a kernel of two files, and changes to it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

/// A source, and a `kernel/` directory with two patches for it.
pub struct Sample {
    directory: TempDir,
}

/// Twelve lines, of which hooks change the third and the tenth.
const ALLOC: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\n";

const FIRST_HOOK: &str = "\
SPDX-License-Identifier: GPL-2.0-only
Why the third line changes.

--- a/mm/page_alloc.c
+++ b/mm/page_alloc.c
@@ -1,5 +1,5 @@
 one
 two
-three
+THREE
 four
 five
";

const SECOND_HOOK: &str = "\
SPDX-License-Identifier: GPL-2.0-only

--- a/mm/page_alloc.c
+++ b/mm/page_alloc.c
@@ -1,6 +1,7 @@
 one
 two
 THREE
+and a half
 four
 five
 six
--- a/mm/Makefile
+++ b/mm/Makefile
@@ -1 +1,2 @@
 obj-y += page_alloc.o
+obj-y += page_color.o
";

/// Names a test's tree anew.
pub const COLOR: &str = "/* SPDX-License-Identifier: GPL-2.0-only */\nint page_color_count;\n";

impl Sample {
    pub fn new() -> Self {
        let sample = Sample { directory: tempfile::tempdir().unwrap() };
        sample.write("source/mm/page_alloc.c", ALLOC);
        sample.write("source/mm/Makefile", "obj-y += page_alloc.o\n");
        sample.write("source/Makefile", "VERSION = 6\n");
        sample.write("kernel/overlay/mm/page_color.c", COLOR);
        sample.write("kernel/overlay/include/linux/page_color.h", COLOR);
        sample.write("kernel/hooks/0001-first.patch", FIRST_HOOK);
        sample.write("kernel/hooks/0002-second.patch", SECOND_HOOK);
        sample.write(
            "kernel/series",
            "# Two patches.\n0001-header\n    overlay/include/linux/page_color.h\n    \
             hooks/0001-first.patch\n\n0002-color\n    overlay/mm/page_color.c\n    \
             hooks/0002-second.patch\n",
        );
        for name in ["0001-header", "0002-color"] {
            let message = format!(
                "mm: add {name}\n\nThe body says why.\n\nSigned-off-by: A Person <a@example.org>\n"
            );
            sample.write(&format!("kernel/messages/{name}.txt"), &message);
        }
        sample
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn remove(&self, path: &str) {
        fs::remove_file(self.path(path)).unwrap();
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    pub fn source(&self) -> PathBuf {
        self.path("source")
    }

    pub fn kernel(&self) -> PathBuf {
        self.path("kernel")
    }
}

/// All text at a path.
pub fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap()
}
