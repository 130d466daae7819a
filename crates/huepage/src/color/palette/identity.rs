// SPDX-License-Identifier: MIT OR Apache-2.0
//! The boot, kernel and CPU that a palette must have been made on to be usable.

use std::fs;

use serde::{Deserialize, Serialize};

/// What identifies a machine between two boots, as far as the system shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MachineIdentity {
    /// `/proc/sys/kernel/random/boot_id`.
    pub boot: String,
    /// Release of the kernel.
    pub kernel: String,
    /// The CPU's family, model and stepping as it names itself.
    pub cpu: String,
    /// The namespace in which segments are named, by its inode.
    pub ipc_namespace: u64,
}

impl MachineIdentity {
    /// That of this machine. Values that the machine does not show are empty.
    pub fn read() -> Self {
        let line = |path: &str| {
            fs::read_to_string(path).map(|text| text.trim().to_owned()).unwrap_or_default()
        };
        let uname = rustix::system::uname();
        MachineIdentity {
            boot: line("/proc/sys/kernel/random/boot_id"),
            kernel: uname.release().to_string_lossy().into_owned(),
            cpu: cpu_model(),
            ipc_namespace: rustix::fs::stat("/proc/self/ns/ipc").map_or(0, |stat| stat.st_ino),
        }
    }

    /// The first difference to another one, in words.
    pub(super) fn difference(&self, other: &Self) -> Option<&'static str> {
        [
            (self.boot != other.boot, "before the last boot"),
            (self.kernel != other.kernel, "on another kernel"),
            (self.cpu != other.cpu, "on another CPU"),
            (self.ipc_namespace != other.ipc_namespace, "in another IPC namespace"),
        ]
        .into_iter()
        .find_map(|(differs, what)| differs.then_some(what))
    }
}

/// By CPUID: reading `/proc/cpuinfo` would make the kernel ask every CPU for its clock
/// rate.
fn cpu_model() -> String {
    #[cfg(target_arch = "x86_64")]
    {
        use raw_cpuid::CpuId;
        let cpuid = CpuId::new();
        let vendor = cpuid.get_vendor_info();
        let vendor = vendor.as_ref().map_or("", |vendor| vendor.as_str());
        match cpuid.get_feature_info() {
            Some(info) => format!(
                "{vendor} family {} model {} stepping {}",
                info.family_id(),
                info.model_id(),
                info.stepping_id()
            ),
            None => vendor.to_owned(),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_says_who_it_is_twice_the_same() {
        let one = MachineIdentity::read();
        assert_eq!(one.boot.len(), 36, "{one:?}");
        assert!(!one.kernel.is_empty() && one.ipc_namespace > 0, "{one:?}");
        assert_eq!(one.difference(&MachineIdentity::read()), None);
    }

    #[test]
    fn each_difference_is_named() {
        let one = MachineIdentity::read();
        for (other, what) in [
            (MachineIdentity { boot: "x".into(), ..one.clone() }, "before the last boot"),
            (MachineIdentity { kernel: "x".into(), ..one.clone() }, "on another kernel"),
            (MachineIdentity { cpu: "x".into(), ..one.clone() }, "on another CPU"),
            (MachineIdentity { ipc_namespace: 1, ..one.clone() }, "in another IPC namespace"),
        ] {
            assert_eq!(one.difference(&other), Some(what));
        }
    }
}
