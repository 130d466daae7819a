// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machine a report was measured on, and the command that measured.

use std::ffi::OsStr;

use huepage::topology::{CacheGeometry, LiveMachine, MachineSource, Topology};
use serde::Serialize;

/// Facts by which a reader can judge whether two reports are of like machines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Host {
    /// The CPU's own name; empty where the kernel shows none.
    pub model: String,
    /// The CPU measured.
    pub cpu: u32,
    /// Kernel release.
    pub kernel: String,
}

impl Host {
    /// The running machine; unknown facts are left out.
    pub fn here(cpu: u32) -> Self {
        let machine = LiveMachine::open(cpu).ok();
        let model = machine.as_ref().and_then(|machine| Topology::read(machine).ok()?.model);
        let kernel = machine.and_then(|machine| machine.read("/proc/sys/kernel/osrelease"));
        Host {
            model: model.unwrap_or_default(),
            cpu,
            kernel: kernel.unwrap_or_default().trim().to_owned(),
        }
    }
}

/// A cache in few words.
pub fn cache_text(cache: CacheGeometry) -> String {
    format!("L{} {} {}-way", cache.level(), cache.size(), cache.ways())
}

/// Words of a command as text; they may be any bytes.
pub fn words(words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Vec<String> {
    words.into_iter().map(|word| word.as_ref().to_string_lossy().into_owned()).collect()
}

/// The command line that this program was started by.
pub fn command_line() -> String {
    words(std::env::args_os()).join(" ")
}
