// SPDX-License-Identifier: MIT OR Apache-2.0
//! The running machine as a source of facts.

use super::{CpuidLeaf, MachineSource, PinError, Pinned, cpuid};
use crate::{mapping, units::Bytes};

/// The running machine: `/sys`, `/proc`, and the CPUID leaves of one CPU.
#[derive(Debug)]
pub struct LiveMachine {
    cpu: u32,
    cpuid: Vec<CpuidLeaf>,
}

impl LiveMachine {
    /// The running machine seen from `cpu`.
    ///
    /// # Errors
    /// [`PinError`] if the calling thread may not run on `cpu`.
    pub fn open(cpu: u32) -> Result<Self, PinError> {
        let pinned = Pinned::to(cpu)?;
        let cpuid = cpuid::read_here();
        drop(pinned);
        Ok(LiveMachine { cpu, cpuid })
    }
}

impl MachineSource for LiveMachine {
    fn read(&self, path: &str) -> Option<String> {
        let text = String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned();
        // One block per CPU; the first has all that is needed.
        if path == "/proc/cpuinfo" {
            return Some(text.split_inclusive("\n\n").next().unwrap_or_default().to_owned());
        }
        Some(text)
    }

    fn list(&self, directory: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }

    fn architecture(&self) -> &str {
        std::env::consts::ARCH
    }

    fn page_size(&self) -> Bytes {
        mapping::page_size()
    }

    fn cpu(&self) -> u32 {
        self.cpu
    }

    fn cpuid(&self) -> &[CpuidLeaf] {
        &self.cpuid
    }
}
