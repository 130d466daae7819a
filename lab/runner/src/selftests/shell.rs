// SPDX-License-Identifier: MIT OR Apache-2.0
//! A shell and tools for tests that are scripts: those of this machine, if the guest
//! has the same architecture.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
};

use anyhow::{Context, bail};

use crate::arch::Arch;

/// Programs that scripts call, with the paths where they look for them.
const TOOLS: [&str; 15] = [
    "/bin/bash",
    "/bin/sh",
    "/bin/cat",
    "/bin/echo",
    "/bin/grep",
    "/bin/ls",
    "/bin/mount",
    "/bin/sed",
    "/bin/sleep",
    "/usr/bin/awk",
    "/usr/bin/bc",
    "/usr/bin/head",
    "/usr/bin/tr",
    "/usr/bin/wc",
    "/sbin/modprobe",
];

/// Whether scripts can be run in a guest of this architecture.
pub fn runs(arch: Arch) -> bool {
    arch.is_native()
}

/// The tools and their shared libraries, by their paths in an initial file system.
pub fn files() -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
    let mut paths: BTreeSet<String> = TOOLS.iter().map(|&tool| tool.to_owned()).collect();
    for tool in TOOLS {
        paths.extend(libraries(tool)?);
    }
    let read = |path: String| {
        let bytes = fs::read(&path).with_context(|| format!("{path} (run ./setup lab)"))?;
        Ok((path.trim_start_matches('/').to_owned(), bytes))
    };
    paths.into_iter().map(read).collect()
}

/// As the dynamic linker finds them.
fn libraries(program: &str) -> anyhow::Result<Vec<String>> {
    let output = Command::new("ldd").arg(program).output().context("run ldd")?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || text.contains("not found") {
        bail!("ldd {program}: {text}{}", String::from_utf8_lossy(&output.stderr));
    }
    let paths = text.split_whitespace().filter(|word| word.starts_with('/'));
    Ok(paths.filter(|path| Path::new(path).is_file()).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_comes_with_its_libraries_and_their_loader() {
        let libraries = libraries("/bin/bash").unwrap();
        assert!(libraries.iter().any(|path| path.contains("libc.so")), "{libraries:?}");
        assert!(libraries.iter().any(|path| path.contains("/ld-linux")), "{libraries:?}");
    }

    #[test]
    fn scripts_need_a_guest_like_the_host() {
        assert_ne!(runs(Arch::X86_64), runs(Arch::Arm64));
    }
}
