// SPDX-License-Identifier: MIT OR Apache-2.0
//! `/sys/kernel/mm/ksm`: the kernel's counts and settings of merging.

use serde::Serialize;

use crate::{list::parse, topology::MachineSource, units::Bytes};

const DIRECTORY: &str = "/sys/kernel/mm/ksm";

/// As many as a kernel may be built for.
const MOST_NODES: u32 = 1024;

/// The kernel's counts for all processes together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ksm {
    /// Whether ksmd runs.
    pub running: bool,
    /// `pages_shared`: merged pages.
    pub pages_shared: u64,
    /// `pages_sharing`: how many pages they stand for beyond themselves.
    pub pages_sharing: u64,
    /// `merge_across_nodes`; `None` on a kernel without NUMA.
    pub merge_across_nodes: Option<bool>,
    /// `merge_distance`, where the kernel has it: the largest distance across which
    /// pages are merged.
    pub merge_distance: Option<u32>,
    /// `merge_domains`, where the kernel has it.
    pub domains: Vec<Domain>,
}

/// A group of nodes whose pages are merged with each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Domain {
    /// Its nodes, ascending.
    pub nodes: Vec<u32>,
    /// Merged pages.
    pub pages_shared: u64,
    /// Pages they stand for beyond themselves.
    pub pages_sharing: u64,
    /// What that saves.
    pub saved: Bytes,
    /// Mappings whose page is on another node than where it was before.
    pub remote_mappings: u64,
}

impl Ksm {
    /// `None` on a kernel without KSM.
    pub(super) fn read(source: &dyn MachineSource) -> Option<Self> {
        let text = |name: &str| source.read(&format!("{DIRECTORY}/{name}"));
        let number = |name: &str| text(name)?.split_whitespace().next()?.parse::<u64>().ok();
        Some(Ksm {
            running: number("run")? == 1,
            pages_shared: number("pages_shared")?,
            pages_sharing: number("pages_sharing")?,
            merge_across_nodes: number("merge_across_nodes").map(|number| number != 0),
            merge_distance: number("merge_distance").and_then(|number| number.try_into().ok()),
            domains: domains(&text("merge_domains").unwrap_or_default()),
        })
    }
}

/// The domains that `/sys/kernel/mm/ksm/merge_domains` lists, as lines of the form
/// `nodes 0-1 shared 5 sharing 6 saved 24576 remote 2`. More names may follow; lines of
/// another form are left out.
pub fn domains(text: &str) -> Vec<Domain> {
    text.lines().filter_map(domain).collect()
}

fn domain(line: &str) -> Option<Domain> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let value =
        |name: &str| words.as_chunks::<2>().0.iter().find(|pair| pair[0] == name).map(|p| p[1]);
    let number = |name: &str| value(name)?.parse::<u64>().ok();
    Some(Domain {
        nodes: parse(value("nodes")?, MOST_NODES).ok()?,
        pages_shared: number("shared")?,
        pages_sharing: number("sharing")?,
        saved: Bytes(number("saved")?),
        remote_mappings: number("remote")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_are_read_with_whatever_else_a_line_tells() {
        let text = "nodes 0-1,4 shared 5 sharing 6 saved 24576 remote 2\n\
                    nodes 2 shared 0 sharing 0 saved 0 remote 0 color 7\nbroken\n";
        let found = domains(text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].nodes, [0, 1, 4]);
        assert_eq!((found[0].pages_shared, found[0].pages_sharing), (5, 6));
        assert_eq!((found[0].saved, found[0].remote_mappings), (Bytes(24576), 2));
        assert_eq!(found[1].nodes, [2]);
    }
}
