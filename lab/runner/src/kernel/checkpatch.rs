// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks patches with the kernel's `scripts/checkpatch.pl --strict`.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

/// The findings of checkpatch in a series.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Over all patches.
    pub errors: u32,
    /// Over all patches.
    pub warnings: u32,
    /// Remarks on style, which do not fail a series.
    pub checks: u32,
    /// All that checkpatch printed of patches with remarks.
    pub text: String,
}

impl Verdict {
    /// Whether the series can be sent.
    pub fn passed(&self) -> bool {
        self.errors == 0 && self.warnings == 0
    }
}

/// Runs the checkpatch of the kernel in `source` on each patch.
///
/// # Errors
/// If it cannot be run, or does not print its findings.
pub fn check(source: &Path, patches: &[PathBuf]) -> anyhow::Result<Verdict> {
    let script = source.join("scripts/checkpatch.pl");
    let mut verdict = Verdict::default();
    for patch in patches {
        let output = Command::new("perl")
            .arg(&script)
            .args(["--strict", "--no-color", "--show-types", "--root"])
            .arg(source)
            .arg(patch)
            .env("LC_ALL", "C")
            .output()
            .context("perl is missing: run ./setup lab")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let Some([errors, warnings, checks]) = text.lines().find_map(total) else {
            bail!(
                "{} on {} does not say what it found ({}):\n{text}{}",
                script.display(),
                patch.display(),
                output.status,
                String::from_utf8_lossy(&output.stderr)
            );
        };
        verdict.errors += errors;
        verdict.warnings += warnings;
        verdict.checks += checks;
        if errors + warnings + checks > 0 {
            verdict.text.push_str(&text);
        }
    }
    Ok(verdict)
}

/// `total: 1 errors, 2 warnings, 3 checks, 40 lines checked`.
fn total(line: &str) -> Option<[u32; 3]> {
    let mut counts = line.strip_prefix("total: ")?.split(", ");
    let mut count =
        |kind: &str| -> Option<u32> { counts.next()?.strip_suffix(kind)?.trim_end().parse().ok() };
    Some([count("errors")?, count("warnings")?, count("checks")?])
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{
        kernel::{Archive, export, sample::Sample},
        workspace::Workspace,
    };

    #[test]
    fn totals_are_read() {
        let line = "total: 1 errors, 2 warnings, 3 checks, 40 lines checked";
        assert_eq!(total(line), Some([1, 2, 3]));
        assert_eq!(total("total: 1 errors, 2 warnings, 40 lines checked"), None);
        assert_eq!(total("ERROR: total: 1 errors"), None);
    }

    /// The scripts of the kernel's on this machine, in a directory that checkpatch
    /// accepts as a kernel's tree.
    fn scripts(top: &Path) -> Result<PathBuf, String> {
        let archive = Archive::find().map_err(|error| format!("{error:#}"))?;
        let source = top.join("linux");
        fs::create_dir_all(source.join("scripts")).unwrap();
        let workspace = Workspace::find().unwrap();
        let unpacked = archive.unpacked(&workspace).join("scripts");
        if unpacked.is_dir() {
            for file in SCRIPTS {
                fs::copy(unpacked.join(file), source.join("scripts").join(file)).unwrap();
            }
        } else {
            archive.extract(&source, &SCRIPTS.map(|file| format!("scripts/{file}"))).unwrap();
        }
        for file in ["COPYING", "CREDITS", "Kbuild", "MAINTAINERS", "Makefile", "README"] {
            fs::write(source.join(file), "").unwrap();
        }
        for directory in
            ["Documentation", "arch", "include", "drivers", "fs", "init", "ipc", "kernel", "lib"]
        {
            fs::create_dir(source.join(directory)).unwrap();
        }
        Ok(source)
    }

    const SCRIPTS: [&str; 3] = ["checkpatch.pl", "spelling.txt", "const_structs.checkpatch"];

    #[test]
    fn a_clean_series_passes_and_others_do_not() {
        let top = tempfile::tempdir().unwrap();
        let source = match scripts(top.path()) {
            Ok(source) => source,
            Err(reason) => return eprintln!("skipped: {reason}"),
        };
        let sample = Sample::new();
        // A new file without an entry in MAINTAINERS is a warning.
        sample.write("source/MAINTAINERS", "one\ntwo\nthree\n");
        for (hook, hunk) in [
            ("0001-first", "@@ -1,3 +1,4 @@\n one\n+more\n two\n three\n"),
            ("0002-second", "@@ -3,2 +3,3 @@\n two\n+more\n three\n"),
        ] {
            let patch = format!("--- a/MAINTAINERS\n+++ b/MAINTAINERS\n{hunk}");
            sample.write(&format!("kernel/hooks/{hook}.patch"), &patch);
        }
        let long = "The body says why this is a good thing to have in a kernel, at length.";
        for name in ["0001-header", "0002-color"] {
            let message = format!(
                "mm: add {name}\n\n{long}\n\nSigned-off-by: A Person <a.person@example.org>\n"
            );
            sample.write(&format!("kernel/messages/{name}.txt"), &message);
        }
        sample.write(
            "kernel/overlay/mm/page_color.c",
            "// SPDX-License-Identifier: GPL-2.0-only\n\nint page_color_count;\n",
        );
        let run = || {
            let patches = export(&sample.kernel(), &sample.source(), &sample.path("out")).unwrap();
            check(&source, &patches).unwrap()
        };
        let clean = run();
        assert!(clean.passed(), "{clean:?}");

        sample.write("kernel/overlay/mm/page_color.c", "int page_color_count ;\n");
        let faulty = run();
        assert!(!faulty.passed());
        assert!(faulty.warnings > 0, "{faulty:?}");
        assert!(faulty.text.contains("SPDX_LICENSE_TAG"), "{faulty:?}");
    }
}
