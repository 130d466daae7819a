// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which kernel is wanted.

use serde::{Deserialize, Serialize};

use crate::arch::Arch;

/// A kernel to build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    /// For which architecture.
    pub arch: Arch,
    /// With or without our changes.
    pub variant: Variant,
    /// For which purpose.
    pub config: Config,
}

/// With or without our changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// Debian's kernel, unchanged.
    Stock,
    /// With the changes in `kernel/overlay` and `kernel/hooks`.
    Huepage,
}

/// For which purpose: the config fragments of that name in `lab/configs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Config {
    /// For the experiments.
    Plain,
    /// With the kernel's own checks: KASAN, lockdep, DEBUG_VM, page poisoning, kmemleak.
    Debug,
    /// As `debug`, with locks that sleep (`PREEMPT_RT`).
    Realtime,
    /// With the features that the kernel's own selftests need.
    Selftests,
    /// With statistics of locks.
    Lockstat,
    /// For programs of a distribution: with the file systems that they are read from.
    Programs,
    /// With memory tags for programs (arm64).
    Mte,
    /// As `plain`, with the changes in `lab/kernel`, with which experiments compare, such
    /// as frames in reverse. Each is off unless a boot turns it on.
    Lab,
    /// For unit tests in a kernel that runs as a program (User-mode Linux).
    Kunit,
}

impl Request {
    /// The stock kernel for the experiments.
    pub fn stock(arch: Arch) -> Self {
        Request { arch, variant: Variant::Stock, config: Config::Plain }
    }

    /// `x86_64-stock-plain`.
    pub fn name(&self) -> String {
        format!("{}-{}-{}", self.arch, self.variant.name(), self.config.name())
    }

    /// What kbuild calls the architecture.
    pub(super) fn kbuild_arch(&self) -> &'static str {
        match self.config {
            Config::Kunit => "um",
            _ => self.arch.name(),
        }
    }

    /// The target of `make`, and the image it makes, relative to the objects.
    pub(super) fn image(&self) -> (&'static str, &'static str) {
        match (self.config, self.arch) {
            (Config::Kunit, _) => ("linux", "linux"),
            (_, Arch::X86_64) => ("bzImage", "arch/x86/boot/bzImage"),
            (_, Arch::Arm64) => ("Image", "arch/arm64/boot/Image"),
        }
    }

    /// The fragments in the order in which they override each other. Those with an
    /// architecture and a purpose in their name exist only where they are needed.
    pub(super) fn fragments(&self) -> Vec<Fragment> {
        let arch = self.arch.name();
        let needed = |name: &str| Fragment { name: format!("{name}.config"), optional: false };
        let optional = |name: String| Fragment { name: format!("{name}.config"), optional: true };
        let mut fragments = match self.config {
            Config::Plain => vec![needed("base"), needed(arch)],
            Config::Debug
            | Config::Selftests
            | Config::Lockstat
            | Config::Programs
            | Config::Mte
            | Config::Lab => {
                let purpose = self.config.name();
                let both = optional(format!("{purpose}-{arch}"));
                vec![needed("base"), needed(arch), needed(purpose), both]
            }
            Config::Realtime => {
                let checks = optional(format!("debug-{arch}"));
                vec![needed("base"), needed(arch), needed("debug"), checks, needed("realtime")]
            }
            Config::Kunit => vec![needed("kunit")],
        };
        if self.variant == Variant::Huepage {
            fragments.push(optional("huepage".to_owned()));
            fragments.push(optional(format!("huepage-{}", self.config.name())));
        }
        fragments
    }
}

/// A file in `lab/configs`.
pub(super) struct Fragment {
    pub name: String,
    pub optional: bool,
}

impl Variant {
    /// As options spell it.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Stock => "stock",
            Variant::Huepage => "huepage",
        }
    }
}

impl Config {
    /// As options spell it.
    pub fn name(self) -> &'static str {
        match self {
            Config::Plain => "plain",
            Config::Debug => "debug",
            Config::Realtime => "realtime",
            Config::Selftests => "selftests",
            Config::Lockstat => "lockstat",
            Config::Programs => "programs",
            Config::Mte => "mte",
            Config::Lab => "lab",
            Config::Kunit => "kunit",
        }
    }
}

impl std::fmt::Display for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.name())
    }
}
