// SPDX-License-Identifier: MIT OR Apache-2.0
//! Looks at running processes.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap, HashSet},
    ffi::CString,
    fs, io,
};

use super::{Ksm, Merged, MergedPages, MergedProcess, Reads};
use crate::{
    frames::{FrameNodes, PageFlags, PageState, Pagemap, for_flags_of},
    map::{MapError, NodeCount, refused},
    proc::{self, AreaLine, Stat, numeric_entries},
    topology::{MachineSource, Topology},
    units::{Bytes, Pfn},
};

/// Entries of the page table that are read together.
const ENTRIES: usize = 8192;

/// The processes of this PID namespace that have merged pages, ascending. Only root
/// sees other users' processes.
///
/// # Errors
/// What reading `/proc` reports.
pub fn merging() -> io::Result<Vec<u32>> {
    let has_some = |pid: &u32| {
        let text = fs::read_to_string(format!("/proc/{pid}/ksm_stat")).unwrap_or_default();
        text.lines().any(|line| {
            let merging = line.strip_prefix("ksm_merging_pages ");
            merging.and_then(|number| number.trim().parse::<u64>().ok()).is_some_and(|n| n > 0)
        })
    };
    let mut pids = numeric_entries(c"/proc")?;
    pids.retain(has_some);
    pids.sort_unstable();
    Ok(pids)
}

impl Merged {
    /// Looks at these processes; one that ends meanwhile is left out, and a shortfall
    /// says so.
    ///
    /// # Errors
    /// [`MapError`] if none of them can be read.
    pub fn read(
        pids: &[u32],
        machine: &dyn MachineSource,
        topology: &Topology,
    ) -> Result<Self, MapError> {
        let mut merged = Merged {
            schema: "huepage.merged/1".to_owned(),
            processes: Vec::new(),
            pages: None,
            ksm: Ksm::read(machine),
            shortfalls: Vec::new(),
        };
        let flags = merged.flags();
        let nodes = FrameNodes::read(machine, topology);
        let mut pages = Pages { nodes: &nodes, frames: HashMap::new(), reads: BTreeMap::new() };
        let mut failed = None;
        for &pid in pids {
            let process = match &flags {
                Some(flags) => pages.add(pid, flags, topology),
                None => counted(pid, topology),
            };
            match process {
                Ok(process) => merged.processes.push(process),
                Err(source) => {
                    merged.shortfalls.push(format!("process {pid} cannot be read: {source}"));
                    failed = Some((pid, source));
                }
            }
        }
        if let (true, Some((pid, source))) = (merged.processes.is_empty(), failed) {
            return Err(refused(pid, "pagemap", source));
        }
        merged.pages = flags.is_some().then(|| pages.sum(topology.page_size));
        Ok(merged)
    }

    /// Flags of frames, if these and the frames of processes are visible.
    fn flags(&mut self) -> Option<PageFlags> {
        let visible = Pagemap::open().and_then(|own| own.frame_numbers_visible());
        if !visible.unwrap_or(false) {
            self.shortfalls.push(
                "frames, nodes and who reads from where: frame numbers are hidden without \
                 CAP_SYS_ADMIN; run as root"
                    .to_owned(),
            );
            return None;
        }
        PageFlags::open()
            .map_err(|error| {
                let why = format!("which pages are merged: /proc/kpageflags: {error}; run as root");
                self.shortfalls.push(why);
            })
            .ok()
    }
}

/// From `smaps` alone.
fn counted(pid: u32, topology: &Topology) -> io::Result<MergedProcess> {
    let bytes: u64 = areas(pid)?.iter().map(merged_bytes).sum();
    Ok(MergedProcess {
        pid,
        name: Stat::read(pid)?.name,
        nodes: nodes_of(pid, topology),
        mappings: bytes / topology.page_size.0,
        frames: None,
        remote: None,
    })
}

fn areas(pid: u32) -> io::Result<Vec<AreaLine>> {
    proc::areas(fs::File::open(format!("/proc/{pid}/smaps"))?)
}

fn merged_bytes(area: &AreaLine) -> u64 {
    area.counts.and_then(|counts| counts.ksm).map_or(0, |bytes| bytes.0)
}

/// The nodes on whose CPUs the threads of a process last ran, most threads first.
fn nodes_of(pid: u32, topology: &Topology) -> Vec<u32> {
    let mut threads: BTreeMap<u32, usize> = BTreeMap::new();
    let tasks = CString::new(format!("/proc/{pid}/task")).expect("a number has no zero byte");
    for thread in numeric_entries(&tasks).unwrap_or_default() {
        let Some(cpu) = Stat::of_thread(pid, thread).ok().and_then(|stat| stat.cpu) else {
            continue;
        };
        if let Some(node) = topology.nodes.iter().find(|node| node.cpus.contains(&cpu)) {
            *threads.entry(node.id).or_default() += 1;
        }
    }
    let mut nodes: Vec<(u32, usize)> = threads.into_iter().collect();
    nodes.sort_by_key(|&(node, threads)| (Reverse(threads), node));
    nodes.into_iter().map(|(node, _)| node).collect()
}

/// The merged pages of all processes so far.
struct Pages<'a> {
    nodes: &'a FrameNodes,
    /// The number of mappings of each frame.
    frames: HashMap<Pfn, u64>,
    reads: BTreeMap<(u32, u32), u64>,
}

impl Pages<'_> {
    fn add(
        &mut self,
        pid: u32,
        flags: &PageFlags,
        topology: &Topology,
    ) -> io::Result<MergedProcess> {
        let pagemap = Pagemap::of_process(pid)?;
        let name = Stat::read(pid)?.name;
        let nodes = nodes_of(pid, topology);
        let mut own = HashSet::new();
        let (mut mappings, mut remote) = (0, 0);
        for area in areas(pid)? {
            // If smaps counts no merged pages there are none; older kernels do not
            // count them.
            if area.counts.and_then(|counts| counts.ksm) == Some(Bytes(0)) {
                continue;
            }
            for frame in merged_frames(&pagemap, &area, flags, topology.page_size)? {
                mappings += 1;
                own.insert(frame);
                *self.frames.entry(frame).or_default() += 1;
                let Some(on) = self.nodes.node_of(frame) else { continue };
                remote += u64::from(!nodes.contains(&on));
                if let Some(&from) = nodes.first() {
                    *self.reads.entry((from, on)).or_default() += 1;
                }
            }
        }
        let known = !self.nodes.is_empty() && !nodes.is_empty();
        Ok(MergedProcess {
            pid,
            name,
            nodes,
            mappings,
            frames: Some(own.len() as u64),
            remote: known.then_some(remote),
        })
    }

    fn sum(self, page: Bytes) -> MergedPages {
        let mappings: u64 = self.frames.values().sum();
        let frames = self.frames.len() as u64;
        let mut by_node: BTreeMap<u32, u64> = BTreeMap::new();
        for node in self.frames.keys().filter_map(|frame| self.nodes.node_of(*frame)) {
            *by_node.entry(node).or_default() += 1;
        }
        let by_node = by_node.into_iter().map(|(node, pages)| NodeCount { node, pages });
        let reads =
            self.reads.into_iter().map(|((from, on), mappings)| Reads { from, on, mappings });
        MergedPages {
            mappings,
            frames,
            saved: Bytes((mappings - frames) * page.0),
            frames_by_node: by_node.collect(),
            reads: reads.collect(),
        }
    }
}

/// The frames of an area's merged pages, one for each page.
fn merged_frames(
    pagemap: &Pagemap,
    area: &AreaLine,
    flags: &PageFlags,
    page: Bytes,
) -> io::Result<Vec<Pfn>> {
    let mut merged = Vec::new();
    let mut states = [PageState::default(); ENTRIES];
    let (mut number, last) = (area.start / page.0, area.end / page.0);
    while number < last {
        let wanted = (last - number).min(ENTRIES as u64) as usize;
        let count = pagemap.read_numbered(number, &mut states[..wanted])?;
        if count == 0 {
            break;
        }
        let mut frames: Vec<Pfn> = states[..count].iter().filter_map(|state| state.pfn()).collect();
        frames.sort_unstable();
        let found = |frame: Pfn, flags: crate::frames::FrameFlags| {
            if flags.ksm() {
                merged.push(frame);
            }
        };
        for_flags_of(flags, &frames, |frame| frame, found)?;
        number += count as u64;
    }
    Ok(merged)
}
