// SPDX-License-Identifier: MIT OR Apache-2.0
//! Moving pages by `mremap`, for kernels without `UFFDIO_MOVE`.

use rustix::{
    io::Errno,
    mm::{self, MapFlags, MremapFlags, ProtFlags},
};

use super::{Mechanism, PlaceError, mover::Mover, userfaultfd::Progress};
use crate::mapping::PageAddr;

/// Moves by `mremap(MREMAP_DONTUNMAP)` (Linux 5.7), which leaves the source
/// mapped: an unmapped hole could be taken by any other `mmap` of the process.
///
/// Every run of pages becomes a mapping of its own, since the kernel joins
/// neighbours only where their pages were neighbours before.
#[derive(Debug)]
pub(super) struct Remap;

/// `mremap` refuses when fewer than this many mappings are left, since it may
/// split both areas (mm/mremap.c, `check_prep_vma`); as many again for what
/// other threads map meanwhile.
const RESERVE: usize = 8;

/// How many mappings this process has.
pub(super) fn mappings() -> Result<usize, PlaceError> {
    let maps = std::fs::read("/proc/self/maps")
        .map_err(PlaceError::system("count mappings in /proc/self/maps"))?;
    Ok(maps.iter().filter(|&&byte| byte == b'\n').count())
}

fn limit() -> Result<usize, PlaceError> {
    const PATH: &str = "/proc/sys/vm/max_map_count";
    let read = || {
        let text = std::fs::read_to_string(PATH)?;
        text.trim().parse().map_err(|_| std::io::Error::from(std::io::ErrorKind::InvalidData))
    };
    read().map_err(PlaceError::system("read vm.max_map_count"))
}

impl Mover for Remap {
    fn mechanism(&self) -> Mechanism {
        Mechanism::Remap
    }

    unsafe fn open(&self, _: PageAddr, _: usize) -> Result<(), PlaceError> {
        Ok(())
    }

    fn close(&self, _: PageAddr, _: usize) {}

    fn allow(&self, runs: usize) -> Result<(), PlaceError> {
        let (present, limit) = (mappings()?, limit()?);
        // A run in the middle of an area splits it in two and adds itself.
        let needed = 2 * runs;
        if present + needed + RESERVE > limit {
            return Err(PlaceError::MappingLimit { present, needed, limit });
        }
        Ok(())
    }

    unsafe fn move_run(&self, dst: PageAddr, src: PageAddr, pages: usize) -> Progress {
        let len = pages * rustix::param::page_size();
        // SAFETY: the destination is the caller's and holds no page; the
        // source stays mapped.
        let moved = unsafe {
            mm::mremap_fixed(
                src.as_ptr().cast(),
                len,
                len,
                MremapFlags::MAYMOVE | MremapFlags::DONTUNMAP,
                dst.as_ptr().cast(),
            )
        };
        match moved {
            Ok(_) => Progress { pages, stop: None },
            Err(errno) => {
                // The kernel unmaps the destination before it can fail. Fill
                // the gap, unless it is still mapped (EEXIST).
                // SAFETY: a new mapping where nothing is mapped.
                let _ = unsafe {
                    mm::mmap_anonymous(
                        dst.as_ptr().cast(),
                        len,
                        ProtFlags::READ | ProtFlags::WRITE,
                        MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED_NOREPLACE,
                    )
                };
                let stop = if errno == Errno::INTR { Errno::AGAIN } else { errno };
                Progress { pages: 0, stop: Some(stop) }
            }
        }
    }
}
