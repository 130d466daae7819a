// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel configurations that Debian builds.

use crate::arch::Arch;

/// Which of Debian's configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Flavour {
    /// For virtual machines of x86_64.
    CloudAmd64,
    /// For machines of x86_64.
    Amd64,
    /// For machines of arm64.
    Arm64,
}

impl Flavour {
    /// As Debian names it.
    pub fn name(self) -> &'static str {
        match self {
            Flavour::CloudAmd64 => "cloud-amd64",
            Flavour::Amd64 => "amd64",
            Flavour::Arm64 => "arm64",
        }
    }

    /// Its architecture.
    pub fn arch(self) -> Arch {
        match self {
            Flavour::CloudAmd64 | Flavour::Amd64 => Arch::X86_64,
            Flavour::Arm64 => Arch::Arm64,
        }
    }

    /// What Debian calls the architecture.
    pub(super) fn debian_arch(self) -> &'static str {
        match self.arch() {
            Arch::X86_64 => "amd64",
            Arch::Arm64 => "arm64",
        }
    }
}
