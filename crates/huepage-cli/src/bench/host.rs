// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machine a report was measured on, and the command that measured.

use std::{ffi::OsStr, fs};

use huepage::topology::CacheGeometry;
use serde::Serialize;

/// What a reader needs to judge whether two reports are of like machines.
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
    /// The running machine.
    pub fn here(cpu: u32) -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        Host {
            model: model_name(&read("/proc/cpuinfo")),
            cpu,
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        }
    }
}

/// A cache in few words.
pub fn cache_text(cache: CacheGeometry) -> String {
    format!("L{} {} {}-way", cache.level(), cache.size(), cache.ways())
}

/// Words of a command as text, whatever bytes they are.
pub fn words(words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Vec<String> {
    words.into_iter().map(|word| word.as_ref().to_string_lossy().into_owned()).collect()
}

/// The command line that this program was started by.
pub fn command_line() -> String {
    words(std::env::args_os()).join(" ")
}

fn model_name(cpuinfo: &str) -> String {
    let value = |line: &str| {
        line.strip_prefix("model name")?.split_once(':').map(|x| x.1.trim().to_owned())
    };
    cpuinfo.lines().find_map(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_what_cpuinfo_names_it() {
        assert_eq!(
            model_name("processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n"),
            "Some CPU @ 2 GHz"
        );
        assert_eq!(model_name("processor\t: 0\nBogoMIPS\t: 48.00\n"), "");
    }
}
