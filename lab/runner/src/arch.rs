// SPDX-License-Identifier: MIT OR Apache-2.0
//! The architectures that kernels and guests are built for.

use serde::{Deserialize, Serialize};

/// An architecture that the lab boots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Arch {
    /// 64-bit x86, as QEMU's `q35`.
    #[value(name = "x86_64")]
    #[serde(rename = "x86_64")]
    X86_64,
    /// 64-bit ARM, as QEMU's `virt`.
    Arm64,
}

impl Arch {
    /// As the kernel's build and this program's options spell it.
    pub fn name(self) -> &'static str {
        match self {
            Arch::X86_64 => "x86_64",
            Arch::Arm64 => "arm64",
        }
    }

    /// Whether it is this machine's.
    pub fn is_native(self) -> bool {
        std::env::consts::ARCH == if self == Arch::Arm64 { "aarch64" } else { "x86_64" }
    }

    /// What a compiler for it is called: `x86_64-linux-gnu-gcc`.
    pub fn toolchain_prefix(self) -> &'static str {
        match self {
            Arch::X86_64 => "x86_64-linux-gnu-",
            Arch::Arm64 => "aarch64-linux-gnu-",
        }
    }
}

/// As in settings and options.
impl std::str::FromStr for Arch {
    type Err = &'static str;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        <Self as clap::ValueEnum>::from_str(name, false).map_err(|_| "there are x86_64 and arm64")
    }
}

impl std::fmt::Display for Arch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
