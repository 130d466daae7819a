// SPDX-License-Identifier: MIT OR Apache-2.0
//! Maps a running process.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, BufReader},
    time::{Instant, SystemTime},
};

use rustix::thread::{CapabilitySet, capabilities};

use super::{
    Area, Backing, Change, FileId, KernelCounts, MapError, MapOptions, MappedMachine, Name,
    NodeCount, Process, ProcessMap, Shortfall, What, caches,
    gather::{Gathered, Sources, gather},
    process::{Identity, Since},
    tally::Scope,
};
use crate::{
    frames::{
        AreaLine, AreaReader, FlagWords, FrameNodes, PageFlags, Pagemap, Populated, numa_maps,
    },
    topology::{MachineSource, Topology},
    units::Bytes,
};

const TRACE: &str = "CAP_SYS_PTRACE";
const READ_ALL: &str = "CAP_DAC_READ_SEARCH";
const BOTH: &str = "CAP_DAC_READ_SEARCH,CAP_SYS_PTRACE";
const ADMIN: &str = "CAP_SYS_ADMIN";

impl ProcessMap {
    /// Maps a process of this machine, itself included. The process keeps
    /// running; what it changes meanwhile is told in [`ProcessMap::changes`].
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

        // Opened before anything is read: both files keep to the address space
        // that the process has now.
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
            shortfalls.push(Shortfall {
                what: What::Caches,
                why: "no cache with more than one color is declared: give one by hand: --cache \
                      size=SIZE,ways=N"
                    .to_owned(),
                needs: None,
            });
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
        let changes = changes(&identity, &lines, gathered.gone);
        let mut map = ProcessMap {
            schema: super::process_map::SCHEMA.to_owned(),
            made_by: concat!("huepage ", env!("CARGO_PKG_VERSION")).to_owned(),
            taken: taken.map_or(0, |since| since.as_secs()),
            seconds: 0.0,
            process,
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
            map.shortfalls.push(Shortfall {
                what: What::Areas,
                why: format!("{unread} areas were not read: the process left them behind"),
                needs: None,
            });
        }
        map.seconds = begun.elapsed().as_secs_f64();
        Ok(map)
    }

    /// Joins what was found with what the kernel says of each area.
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
                // The kernel's own count stands in where single pages cannot be asked.
                let mapped = line.counts.and_then(|counts| huge_mapped(&counts, base));
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
        self.shortfalls.push(Shortfall { what: What::Categories, why, needs: None });
    }

    /// Takes nodes from the kernel's own counts where frames do not tell them.
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
                self.shortfalls.push(Shortfall { what: What::Nodes, why, needs: None });
                return;
            }
        };
        for area in &mut self.areas {
            let each = area.page_size.0 / self.machine.page_size.0;
            for &(node, pages) in counted.get(&area.start).into_iter().flatten() {
                let count = NodeCount { node, pages: pages * each };
                super::cell_tally::add_node(&mut area.placement.nodes, count);
                super::cell_tally::add_node(&mut self.total.nodes, count);
            }
        }
    }
}

/// Why one of the files of a process is not to be had.
fn refused(pid: u32, file: &str, source: io::Error) -> MapError {
    match source.kind() {
        io::ErrorKind::PermissionDenied => denied(pid),
        io::ErrorKind::NotFound if std::fs::exists(format!("/proc/{pid}")).unwrap_or(false) => {
            MapError::NoPagemap { path: format!("/proc/{pid}/{file}") }
        }
        io::ErrorKind::NotFound => MapError::NoProcess { pid },
        _ if source.raw_os_error() == Some(libc::ESRCH) => MapError::NoProcess { pid },
        _ => MapError::System { action: format!("open /proc/{pid}/{file}"), source },
    }
}

/// Another user's process takes one capability to be traced, and one to open a
/// file that only its owner may read.
fn denied(pid: u32) -> MapError {
    let own = capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.effective);
    let trace = own.contains(CapabilitySet::SYS_PTRACE);
    let read = own.intersects(CapabilitySet::DAC_READ_SEARCH | CapabilitySet::DAC_OVERRIDE);
    match (trace, read) {
        (true, true) => MapError::Forbidden { pid },
        (true, false) => MapError::Denied { pid, needs: READ_ALL },
        (false, true) => MapError::Denied { pid, needs: TRACE },
        (false, false) => MapError::Denied { pid, needs: BOTH },
    }
}

/// All areas, with the kernel's counts where it has them.
fn areas(pid: u32, shortfalls: &mut Vec<Shortfall>) -> Result<Vec<AreaLine>, MapError> {
    let smaps = match File::open(format!("/proc/{pid}/smaps")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            shortfalls.push(Shortfall {
                what: What::KernelCounts,
                why: "this kernel has no smaps (it takes CONFIG_PROC_PAGE_MONITOR)".to_owned(),
                needs: None,
            });
            File::open(format!("/proc/{pid}/maps"))
        }
        opened => opened,
    };
    let file = smaps.map_err(|error| refused(pid, "smaps", error))?;
    read_areas(file).map_err(|source| MapError::System {
        action: format!("read the areas of process {pid}"),
        source,
    })
}

fn read_areas(file: File) -> io::Result<Vec<AreaLine>> {
    let mut reader = AreaReader::new(BufReader::with_capacity(1 << 16, file));
    let mut lines = Vec::new();
    while let Some(line) = reader.next_area()? {
        lines.push(line);
    }
    Ok(lines)
}

fn frames_visible(shortfalls: &mut Vec<Shortfall>) -> Result<bool, MapError> {
    let visible =
        Pagemap::open().and_then(|own| own.frame_numbers_visible()).map_err(|source| {
            MapError::System { action: "read /proc/self/pagemap".to_owned(), source }
        })?;
    if !visible {
        shortfalls.push(Shortfall {
            what: What::FrameNumbers,
            why: format!(
                "frame numbers are hidden: they take {ADMIN} in the initial user namespace; \
                 without them there are no runs, no colors, no distinct frames"
            ),
            needs: Some(ADMIN.to_owned()),
        });
        shortfalls.push(Shortfall {
            what: What::PageFlags,
            why: "flags of frames are found by frame number: without them KSM pages count as \
                  anonymous, shared memory as file, and huge pages have no size"
                .to_owned(),
            needs: Some(ADMIN.to_owned()),
        });
    }
    Ok(visible)
}

fn page_flags(shortfalls: &mut Vec<Shortfall>) -> Option<PageFlags> {
    let error = match PageFlags::open() {
        Ok(flags) => return Some(flags),
        Err(error) => error,
    };
    let denied = error.kind() == io::ErrorKind::PermissionDenied;
    shortfalls.push(Shortfall {
        what: What::PageFlags,
        why: format!(
            "/proc/kpageflags cannot be read ({error}): KSM pages count as anonymous, shared \
             memory as file, and huge pages have no size"
        ),
        needs: denied.then(|| READ_ALL.to_owned()),
    });
    None
}

/// Whether the kernel has `PAGEMAP_SCAN`: asked about one page.
fn can_scan(pagemap: &Pagemap, lines: &[AreaLine]) -> bool {
    let page = crate::mapping::page_size().0;
    let mut found = [Populated::default(); 1];
    let first = lines[0].start;
    match pagemap.scan(first..first + page, &mut found) {
        Err(error) => error.kind() != io::ErrorKind::Unsupported,
        Ok(_) => true,
    }
}

/// What the process did since `identity` was taken.
fn changes(identity: &Identity, lines: &[AreaLine], gone: bool) -> Vec<Change> {
    match identity.since() {
        Since::Exited => return vec![Change::Exited],
        Since::Executed => return vec![Change::Executed],
        Since::Same if gone => return vec![Change::Executed],
        Since::Same => {}
    }
    let now = File::open(format!("/proc/{}/maps", identity.pid())).and_then(read_areas);
    let Ok(now) = now else { return Vec::new() };
    let bounds = |lines: &[AreaLine]| -> HashSet<(u64, u64)> {
        lines.iter().map(|line| (line.start, line.end)).collect()
    };
    let (before, after) = (bounds(lines), bounds(&now));
    let (gone, new) = (before.difference(&after).count(), after.difference(&before).count());
    if gone + new == 0 {
        return Vec::new();
    }
    vec![Change::Remapped { gone: gone as u64, new: new as u64 }]
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

fn huge_mapped(counts: &KernelCounts, base: Bytes) -> Option<u64> {
    let huge = [counts.anon_huge_pages?, counts.shmem_huge?, counts.file_huge?, counts.hugetlb];
    Some(huge.iter().map(|bytes| bytes.0).sum::<u64>() / base.0)
}

/// The counts of all areas added up; `None` where one has none.
fn sum_counts(areas: &[Area]) -> Option<KernelCounts> {
    let sum = |a: Option<Bytes>, b: Option<Bytes>| Some(Bytes(a?.0 + b?.0));
    let zero = Some(Bytes(0));
    let none = KernelCounts {
        anon_huge_pages: zero,
        shmem_huge: zero,
        file_huge: zero,
        ksm: zero,
        ..KernelCounts::default()
    };
    areas.iter().try_fold(none, |total, area| {
        let area = area.kernel?;
        Some(KernelCounts {
            rss: Bytes(total.rss.0 + area.rss.0),
            pss: Bytes(total.pss.0 + area.pss.0),
            anon_huge_pages: sum(total.anon_huge_pages, area.anon_huge_pages),
            shmem_huge: sum(total.shmem_huge, area.shmem_huge),
            file_huge: sum(total.file_huge, area.file_huge),
            hugetlb: Bytes(total.hugetlb.0 + area.hugetlb.0),
            ksm: sum(total.ksm, area.ksm),
            swap: Bytes(total.swap.0 + area.swap.0),
            locked: Bytes(total.locked.0 + area.locked.0),
        })
    })
}
