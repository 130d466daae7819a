// SPDX-License-Identifier: MIT OR Apache-2.0
//! Maps a running process.

use std::{
    fs::File,
    io::{self, BufReader},
    time::{Instant, SystemTime},
};

use super::{
    Area, Backing, FileId, MapError, MappedMachine, Name, NodeCount, Process, ProcessMap,
    Shortfall, What,
    access::{can_scan, frames_visible, page_flags, refused},
    area::sum_counts,
    caches,
    cell_tally::add_node,
    gather::{Gathered, Sources, gather},
    tally::Scope,
};
use crate::{
    frames::{FlagWords, FrameNodes, Pagemap},
    proc::{self, AreaLine, numa_maps},
    run::Way,
    topology::{CacheGeometry, MachineSource, Topology},
};

/// How a process is to be mapped.
#[derive(Clone, Debug)]
pub struct MapOptions {
    /// A cache geometry given by hand: it replaces the declared cache of its level, and
    /// [`super::Cell::colors`] is about it.
    pub cache: Option<CacheGeometry>,
    /// The most cells of one area.
    pub cells_per_area: usize,
    /// The most cells of all areas; past it all areas get coarser, down to one
    /// cell each.
    pub cells_in_all: usize,
    /// Whether to use `PAGEMAP_SCAN` to find populated pages, if the kernel has it. If
    /// not, everything is read as on a kernel before 6.7.
    pub page_scan: bool,
}

impl Default for MapOptions {
    fn default() -> Self {
        MapOptions { cache: None, cells_per_area: 128, cells_in_all: 16384, page_scan: true }
    }
}

impl ProcessMap {
    /// Maps a process of this machine, which may be this process. The process keeps
    /// running; its changes meanwhile are in [`ProcessMap::changes`].
    ///
    /// `machine` is the running one, and `topology` what was read of it.
    ///
    /// # Errors
    /// [`MapError`] where nothing can be shown; what is missing only in part is
    /// in [`ProcessMap::shortfalls`].
    pub fn read(
        pid: u32,
        machine: &dyn MachineSource,
        topology: &Topology,
        options: &MapOptions,
    ) -> Result<Self, MapError> {
        let begun = Instant::now();
        let taken = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let (process, identity) = Process::read(pid)?;
        let mut shortfalls = Vec::new();

        // Opened before anything is read: both files stay with the address space that
        // the process has now.
        let pagemap = Pagemap::of_process(pid).map_err(|e| refused(pid, "pagemap", e))?;
        let lines = areas(pid, &mut shortfalls)?;
        if lines.is_empty() {
            return Err(MapError::NoProcess { pid });
        }

        let frames = frames_visible(&mut shortfalls)?;
        let flags = if frames { page_flags(&mut shortfalls) } else { None };
        let scan = options.page_scan && can_scan(&pagemap, &lines);
        let nodes = FrameNodes::read(machine, topology);
        let (caches, cell_cache) = caches::mapped(topology, options.cache);
        if caches.is_empty() {
            let why = "no cache with more than one color is declared: give one by hand";
            shortfalls.push(Shortfall::new(What::Caches, why));
        }

        let sources = Sources {
            pagemap: &pagemap,
            scan,
            flags: flags.as_ref().map(|flags| flags as &dyn FlagWords),
            nodes: &nodes,
            page_size: topology.page_size,
            cells_per_area: options.cells_per_area,
            cells_in_all: options.cells_in_all,
        };
        let scope = Scope { caches: &caches, cell_cache, frames, huge_mapped: scan };
        let gathered = gather(&sources, scope, &lines).map_err(|source| MapError::System {
            action: format!("read the pages of process {pid}"),
            source,
        })?;

        let unread = lines.len() - gathered.areas.len();
        let left_out = gathered.left_out;
        let changes = identity.changes(&lines, gathered.gone);
        let mut map = ProcessMap {
            schema: super::process_map::SCHEMA.to_owned(),
            made_by: concat!("huepage ", env!("CARGO_PKG_VERSION")).to_owned(),
            taken: taken.map_or(0, |since| since.as_secs()),
            seconds: 0.0,
            process,
            placed_by: lines.iter().find_map(|line| Way::of_library(&line.name)),
            machine: describe(machine, topology),
            kernel: None,
            cell_cache: cell_cache.filter(|_| frames),
            caches,
            total: Default::default(),
            areas: Vec::new(),
            registered: Vec::new(),
            shortfalls,
            changes,
        };
        map.fill(lines, gathered, scan);
        map.read_registered();
        map.tell_categories(scan, flags.is_some(), left_out);
        map.tell_nodes(&nodes, topology, frames);
        if unread > 0 {
            let why = format!("{unread} areas were not read: the process left them behind");
            map.shortfalls.push(Shortfall::new(What::Areas, why));
        }
        map.seconds = begun.elapsed().as_secs_f64();
        Ok(map)
    }

    /// Joins what was found with the kernel's counts of each area.
    fn fill(&mut self, lines: Vec<AreaLine>, gathered: Gathered, scan: bool) {
        let base = self.machine.page_size;
        self.total = gathered.total;
        for (line, (placement, cells)) in lines.into_iter().zip(gathered.areas) {
            let mut area = Area {
                start: line.start,
                end: line.end,
                permissions: Name::new(&line.permissions).to_string(),
                backing: backing(&line),
                name: Name::new(&line.name),
                offset: line.offset,
                file: file_id(&line),
                page_size: line.page_size.unwrap_or(base),
                placement,
                cells,
                kernel: line.counts,
            };
            if !scan {
                // The kernel's own count is used if single pages cannot be read.
                let mapped = line.counts.and_then(|counts| counts.huge_mapped(base));
                area.placement.pages.huge_mapped = mapped;
            }
            self.areas.push(area);
        }
        let mapped = self.areas.iter().map(|area| area.placement.pages.huge_mapped);
        self.total.pages.huge_mapped = mapped.sum();
        self.kernel = sum_counts(&self.areas);
    }

    fn tell_categories(&mut self, scan: bool, flags: bool, left_out: u64) {
        let why = match (scan, flags, left_out) {
            (true, _, _) | (false, true, 0) => return,
            (false, false, _) => "pages of zeros count as anonymous or file".to_owned(),
            (false, true, some) => {
                format!("pages of zeros in {some} large empty areas are not seen")
            }
        };
        let why = format!("{why}: only Linux 6.7 and later tell them (PAGEMAP_SCAN)");
        self.shortfalls.push(Shortfall::new(What::Categories, why));
    }

    /// Takes nodes from the kernel's own counts if frames do not show them.
    fn tell_nodes(&mut self, nodes: &FrameNodes, topology: &Topology, frames: bool) {
        if topology.nodes.is_empty() || nodes.only().is_some() || (frames && !nodes.is_empty()) {
            return;
        }
        let pid = self.process.pid;
        let counted = File::open(format!("/proc/{pid}/numa_maps"))
            .and_then(|file| numa_maps(BufReader::new(file)));
        let counted = match counted {
            Ok(counted) => counted,
            Err(error) => {
                let why = format!("/proc/{pid}/numa_maps cannot be read: {error}");
                self.shortfalls.push(Shortfall::new(What::Nodes, why));
                return;
            }
        };
        for area in &mut self.areas {
            let each = area.page_size.0 / self.machine.page_size.0;
            for &(node, pages) in counted.get(&area.start).into_iter().flatten() {
                let count = NodeCount { node, pages: pages * each };
                add_node(&mut area.placement.nodes, count);
                add_node(&mut self.total.nodes, count);
            }
        }
    }
}

/// All areas, with the kernel's counts where it has them.
fn areas(pid: u32, shortfalls: &mut Vec<Shortfall>) -> Result<Vec<AreaLine>, MapError> {
    let smaps = match File::open(format!("/proc/{pid}/smaps")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let why = "this kernel has no smaps (it takes CONFIG_PROC_PAGE_MONITOR)";
            shortfalls.push(Shortfall::new(What::KernelCounts, why));
            File::open(format!("/proc/{pid}/maps"))
        }
        opened => opened,
    };
    let file = smaps.map_err(|error| refused(pid, "smaps", error))?;
    proc::areas(file).map_err(|source| MapError::System {
        action: format!("read the areas of process {pid}"),
        source,
    })
}

fn describe(machine: &dyn MachineSource, topology: &Topology) -> MappedMachine {
    let release = machine.read("/proc/sys/kernel/osrelease").unwrap_or_default();
    MappedMachine {
        model: topology.model.clone(),
        kernel: release.trim().to_owned(),
        page_size: topology.page_size,
        nodes: topology.nodes.iter().map(|node| node.id).collect(),
        virtual_machine: topology.virtualization.detected,
        hypervisor: topology.virtualization.hypervisor.clone(),
    }
}

fn file_id(line: &AreaLine) -> Option<FileId> {
    let (major, minor) = line.device;
    let any = line.inode != 0 || line.device != (0, 0);
    any.then_some(FileId { major, minor, inode: line.inode })
}

fn backing(line: &AreaLine) -> Backing {
    if file_id(line).is_some() {
        return Backing::File;
    }
    match &line.name[..] {
        b"[heap]" => Backing::Heap,
        name if name.starts_with(b"[stack") => Backing::Stack,
        name if name.starts_with(b"[anon") || name.is_empty() => Backing::Anonymous,
        name if name.starts_with(b"[") => Backing::Kernel,
        _ => Backing::Anonymous,
    }
}
