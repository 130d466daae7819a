// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where facts about a machine are read from: the running system or a record.

use crate::{list, topology::CpuidLeaf, units::Bytes};

/// Files of sysfs and procfs, CPUID leaves, page size. The same parser runs on
/// the running machine ([`LiveMachine`](super::LiveMachine)) and on a recorded
/// one ([`RecordedMachine`](super::RecordedMachine)).
pub trait MachineSource {
    /// The text of the file at an absolute path; `None` where there is no such
    /// file or it cannot be read.
    fn read(&self, path: &str) -> Option<String>;

    /// The names in the directory at an absolute path, in no set order; empty
    /// where there is no such directory.
    fn list(&self, directory: &str) -> Vec<String>;

    /// `x86_64`, `aarch64`, … as Rust names it.
    fn architecture(&self) -> &str;

    /// The size of a base page.
    fn page_size(&self) -> Bytes;

    /// The CPU that the CPUID leaves belong to, and that is asked about when
    /// no other is named.
    fn cpu(&self) -> u32;

    /// The CPUID leaves about caches and hypervisors, as read on
    /// [`MachineSource::cpu`]; empty on architectures without CPUID.
    fn cpuid(&self) -> &[CpuidLeaf];
}

/// Linux numbers CPUs below 8192 (`NR_CPUS` at its largest) and nodes below
/// 1024: a larger index in a list is a broken file, not a machine.
const INDEXES: u32 = 8192;

/// The trimmed text of a file; `None` for no file.
pub(super) fn text(source: &dyn MachineSource, path: &str) -> Option<String> {
    source.read(path).map(|text| text.trim().to_owned())
}

/// A decimal number; `None` for no file or another text.
pub(super) fn number<T: std::str::FromStr>(source: &dyn MachineSource, path: &str) -> Option<T> {
    text(source, path)?.parse().ok()
}

/// A list of indexes such as `0-3,8`, which may be empty; `None` for no file
/// or another text.
pub(super) fn indexes(source: &dyn MachineSource, path: &str) -> Option<Vec<u32>> {
    let text = text(source, path)?;
    if text.is_empty() { Some(Vec::new()) } else { list::parse(&text, INDEXES).ok() }
}

/// The numbers N of all entries `<prefix>N` of a directory, ascending.
pub(super) fn numbered(source: &dyn MachineSource, directory: &str, prefix: &str) -> Vec<u32> {
    let mut numbers: Vec<u32> = source
        .list(directory)
        .iter()
        .filter_map(|name| name.strip_prefix(prefix)?.parse().ok())
        .filter(|&number| number < INDEXES)
        .collect();
    numbers.sort_unstable();
    numbers
}
