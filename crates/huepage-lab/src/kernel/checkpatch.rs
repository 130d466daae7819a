// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's own judgment of patches: `scripts/checkpatch.pl --strict`.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, bail};

/// What checkpatch found in a series.
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
/// If it cannot be run, or does not say what it found.
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
