// SPDX-License-Identifier: MIT OR Apache-2.0
//! The compiler for an architecture.

use std::{env, process::Command};

use anyhow::{Context, bail};

use crate::arch::Arch;

/// A compiler that builds kernels.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// For `CROSS_COMPILE=`; empty for the machine's own compiler.
    pub prefix: &'static str,
    /// The first line of `--version`.
    pub version: String,
    /// Whether `ccache` is available to be put before it. It changes no output, so it
    /// is no input of an image.
    pub ccache: bool,
}

impl Toolchain {
    /// The compiler for `arch` on this machine.
    pub fn find(arch: Arch) -> anyhow::Result<Self> {
        let native = arch.is_native();
        let prefix = if native { "" } else { arch.toolchain_prefix() };
        let gcc = format!("{prefix}gcc");
        let output = Command::new(&gcc).arg("--version").env("LC_ALL", "C").output();
        let output = output.with_context(|| format!("{gcc} is missing: run ./setup lab"))?;
        if !output.status.success() {
            bail!("{gcc} --version failed: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.lines().next().unwrap_or_default().to_owned();
        Ok(Toolchain { prefix, version, ccache: in_path("ccache") })
    }
}

/// Whether a program of that name can be run.
pub fn in_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|directory| directory.join(program).is_file())
}
