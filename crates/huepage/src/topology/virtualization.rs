// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether this is a virtual machine, and of which hypervisor.
//!
//! In a virtual machine frame numbers are the guest's own and do not show the host's
//! frames, so colors must be measured.

use super::{MachineSource, cpuid, source::text};

/// Signs of a hypervisor below this system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Virtualization {
    /// Whether any sign of a hypervisor was found.
    pub detected: bool,
    /// Its name, if a sign names it.
    pub hypervisor: Option<String>,
    /// The signs, each with the words found.
    pub evidence: Vec<HypervisorSign>,
}

/// One sign of a hypervisor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct HypervisorSign {
    /// `CPUID 0x40000000` or the path of a file.
    pub source: String,
    /// The words found there.
    pub value: String,
}

/// Signatures of CPUID leaf 0x40000000, as the hypervisors document them.
const SIGNATURES: [(&str, &str); 11] = [
    ("KVMKVMKVM", "KVM"),
    ("Linux KVM Hv", "KVM"),
    ("Microsoft Hv", "Hyper-V"),
    ("VMwareVMware", "VMware"),
    ("XenVMMXenVMM", "Xen"),
    ("TCGTCGTCGTCG", "QEMU without acceleration"),
    ("bhyve bhyve", "bhyve"),
    ("lrpepyh vr", "Parallels"),
    ("VBoxVBoxVBox", "VirtualBox"),
    ("ACRNACRNACRN", "ACRN"),
    ("QNXQVMBSQG", "QNX"),
];

/// Words in the DMI vendor or product that only virtual machines have.
const DMI_WORDS: [(&str, &str); 12] = [
    ("KVM", "KVM"),
    ("Firecracker", "Firecracker"),
    ("Cloud Hypervisor", "Cloud Hypervisor"),
    ("QEMU", "QEMU"),
    ("VMware", "VMware"),
    ("VirtualBox", "VirtualBox"),
    ("Virtual Machine", "Hyper-V"),
    ("Google Compute Engine", "Google Compute Engine"),
    ("Amazon EC2", "Amazon EC2"),
    ("HVM domU", "Xen"),
    ("Parallels", "Parallels"),
    ("Apple Virtualization", "Apple Virtualization"),
];

impl Virtualization {
    /// Looks in every place where a hypervisor shows itself. The name comes from the
    /// first that has it: CPUID, DMI, `/sys/hypervisor`, the device tree.
    #[must_use]
    pub fn read(source: &dyn MachineSource) -> Self {
        let mut found = Self::default();
        if let Some(signature) = cpuid::hypervisor_signature(source.cpuid()) {
            let name =
                SIGNATURES.iter().find(|(known, _)| *known == signature).map(|(_, name)| *name);
            found.add("CPUID 0x40000000", &signature, name);
        }
        dmi(source, &mut found);
        if let Some(kind) = text(source, "/sys/hypervisor/type") {
            let name = if kind == "xen" { "Xen" } else { kind.as_str() }.to_owned();
            found.add("/sys/hypervisor/type", &kind, Some(&name));
        }
        if let Some(compatible) = text(source, "/proc/device-tree/hypervisor/compatible") {
            // A list of strings, each ended by a zero byte.
            let first = compatible.split('\0').next().unwrap_or_default();
            let name = if first.contains("xen") { Some("Xen") } else { None };
            found.add("/proc/device-tree/hypervisor/compatible", first, name);
        }
        if let Some(cpuinfo) = source.read("/proc/cpuinfo") {
            let flags = cpuinfo.lines().find(|line| line.starts_with("flags"));
            if flags.is_some_and(|line| line.split_whitespace().any(|flag| flag == "hypervisor")) {
                found.add("/proc/cpuinfo", "flag hypervisor", None);
            }
        }
        found
    }

    fn add(&mut self, source: &str, value: &str, name: Option<&str>) {
        self.detected = true;
        self.evidence.push(HypervisorSign { source: source.to_owned(), value: value.to_owned() });
        if self.hypervisor.is_none() {
            self.hypervisor = name.map(str::to_owned);
        }
    }
}

fn dmi(source: &dyn MachineSource, found: &mut Virtualization) {
    let product = text(source, "/sys/class/dmi/id/product_name");
    // Bare-metal instances of the clouds have the DMI vendor of the virtual ones. On
    // x86 the CPUID bit decides; on arm64 Amazon's product name.
    let bare = cpuid::hypervisor_bit(source.cpuid()) == Some(false);
    if bare || product.as_deref().is_some_and(|product| product.contains(".metal")) {
        return;
    }
    let vendor = text(source, "/sys/class/dmi/id/sys_vendor");
    for (file, value) in [("product_name", product), ("sys_vendor", vendor)] {
        let Some(value) = value else { continue };
        if let Some((_, name)) = DMI_WORDS.iter().find(|(word, _)| value.contains(word)) {
            found.add(&format!("/sys/class/dmi/id/{file}"), &value, Some(name));
        }
    }
}
