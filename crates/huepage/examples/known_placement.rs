// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program for tests of maps, whose pages are where its output says. Prints `NAME
//! ADDRESS PAGES` per range, then `ready`, and waits for the end of its input.
//!
//! Every range lies between two pages that cannot be accessed, so that it is a
//! mapping of its own. A range that this machine cannot have (no swap, KSM not
//! running, no pool of huge pages) is left out.

use std::{
    ffi::c_void,
    fs::File,
    io::{Read, Write},
    os::fd::{AsFd, BorrowedFd},
};

use huepage::{
    color::{Color, ColorCount, Method},
    frames::Pagemap,
    map::Registration,
    mapping::{PageAddr, page_size},
};
use rustix::mm::{self, Advice, MapFlags, ProtFlags};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

const HUGE: usize = 2 << 20;
/// `MADV_GUARD_INSTALL` of Linux 6.13.
const GUARD_INSTALL: i32 = 102;

fn main() -> Result<()> {
    let page = page_size().0 as usize;
    let reserve = |pages: usize| anonymous(pages, MapFlags::PRIVATE | MapFlags::NORESERVE);

    let huge = reserve(2 * HUGE / page)?;
    advise(huge, 2 * HUGE / page, Advice::LinuxHugepage)?;
    write(huge, 0..2 * HUGE / page);
    tell("huge", huge, 2 * HUGE / page);

    let small = reserve(16)?;
    advise(small, 16, Advice::LinuxHugepage)?;
    write(small, 0..16);
    if grants_small_huge_pages(16 * page) {
        tell("huge-64k", small, 16);
    }

    let zero = base(reserve(16)?, 16)?;
    read(zero, 0..16);
    tell("zero", zero, 16);

    let holes = base(reserve(64)?, 64)?;
    write(holes, 0..8);
    write(holes, 16..17);
    write(holes, 63..64);
    tell("holes", holes, 64);

    let guarded = base(reserve(4)?, 4)?;
    write(guarded, 0..4);
    // SAFETY: the page is ours, and is never read again.
    unsafe { libc::madvise(guarded.add(page).cast(), page, GUARD_INSTALL) };
    let guard = PageAddr::containing(guarded.wrapping_add(page));
    if Pagemap::open()?.state(guard)?.guard() {
        tell("guarded", guarded, 4);
    }

    let untouched = (64 << 30) / page;
    tell("reserved", reserve(untouched)?, untouched);

    let shared = anonymous(4, MapFlags::SHARED)?;
    write(shared, 0..4);
    tell("shared-memory", shared, 4);

    let mut file = tempfile::tempfile()?;
    file.write_all(&vec![7; 8 * page])?;
    let mapped = from_file(8, file.as_fd())?;
    read(mapped, 0..8);
    tell("file", mapped, 8);

    let merged = base(reserve(32)?, 32)?;
    if File::open("/proc/self/ksm_merging_pages").is_ok() {
        write(merged, 0..32);
        // SAFETY: the range is ours, and merging does not change contents.
        unsafe { mm::madvise(merged.cast(), 32 * page, Advice::LinuxMergeable)? };
        if merges(32)? {
            tell("ksm", merged, 32);
        } else {
            // So that they are not merged later, while a map is made.
            advise(merged, 32, Advice::LinuxUnmergeable)?;
        }
    }

    let swapped = base(reserve(16)?, 16)?;
    write(swapped, 0..16);
    if std::fs::read_to_string("/proc/swaps")?.lines().count() > 1 {
        advise(swapped, 16, Advice::LinuxPageOut)?;
        tell("swapped", swapped, 16);
    }

    if let Ok(pool) = anonymous(2 * HUGE / page, MapFlags::PRIVATE | MapFlags::HUGETLB) {
        write(pool, 0..2 * HUGE / page);
        tell("hugetlb", pool, 2 * HUGE / page);
    }

    let told = base(reserve(8)?, 8)?;
    write(told, 0..8);
    tell("registered", told, 8);
    let colors = [0, 1, 2, 3, 0, 0, 0].map(|color| Some(Color(color)));
    let colors: Vec<_> = colors.into_iter().chain([None]).collect();
    let count = ColorCount::new(4).ok_or("no colors")?;
    let start = PageAddr::containing(told);
    let _told = Registration::new("matrix", start, &colors, Method::Measurement, count, Some(2))?;

    println!("ready");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn tell(name: &str, start: *mut u8, pages: usize) {
    println!("{name} {} {pages}", start.addr());
}

/// Maps pages between two that cannot be accessed. Huge ranges begin where a
/// huge page can.
fn anonymous(pages: usize, flags: MapFlags) -> Result<*mut u8> {
    let start = fenced(pages)?;
    let access = ProtFlags::READ | ProtFlags::WRITE;
    let len = pages * page_size().0 as usize;
    // SAFETY: the range is the inside of the fence just made.
    unsafe { mm::mmap_anonymous(start.cast(), len, access, flags | MapFlags::FIXED)? };
    Ok(start)
}

fn from_file(pages: usize, file: BorrowedFd) -> Result<*mut u8> {
    let start = fenced(pages)?;
    let len = pages * page_size().0 as usize;
    let flags = MapFlags::SHARED | MapFlags::FIXED;
    // SAFETY: as above.
    unsafe { mm::mmap(start.cast(), len, ProtFlags::READ, flags, file, 0)? };
    Ok(start)
}

fn fenced(pages: usize) -> Result<*mut u8> {
    let len = pages * page_size().0 as usize + 2 * HUGE;
    let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
    // SAFETY: a new mapping at an address of the kernel's choice.
    let fence =
        unsafe { mm::mmap_anonymous(std::ptr::null_mut(), len, ProtFlags::empty(), flags)? };
    let fence = fence.cast::<u8>();
    Ok(fence.wrapping_add((fence.addr() + 1).next_multiple_of(HUGE) - fence.addr()))
}

fn advise(start: *mut u8, pages: usize, advice: Advice) -> Result<()> {
    // SAFETY: the range is ours; none of the advice changes contents.
    unsafe { mm::madvise(start.cast::<c_void>(), pages * page_size().0 as usize, advice)? };
    Ok(())
}

fn base(start: *mut u8, pages: usize) -> Result<*mut u8> {
    advise(start, pages, Advice::LinuxNoHugepage)?;
    Ok(start)
}

fn write(start: *mut u8, pages: std::ops::Range<usize>) {
    for index in pages {
        // SAFETY: the page is one of a writable mapping of ours.
        unsafe { start.add(index * page_size().0 as usize).write_volatile(1) };
    }
}

fn read(start: *mut u8, pages: std::ops::Range<usize>) {
    for index in pages {
        // SAFETY: the page is one of a readable mapping of ours.
        unsafe { start.add(index * page_size().0 as usize).read_volatile() };
    }
}

/// Whether memory that asks for it gets huge pages of so many bytes.
fn grants_small_huge_pages(bytes: usize) -> bool {
    let directory = "/sys/kernel/mm/transparent_hugepage";
    let file = format!("{directory}/hugepages-{}kB/enabled", bytes >> 10);
    let chosen = std::fs::read_to_string(file).unwrap_or_default();
    chosen.contains("[madvise]") || chosen.contains("[always]")
}

/// Waits until KSM has merged so many pages of this process; false if KSM does not run,
/// or stops.
fn merges(pages: u64) -> Result<bool> {
    while std::fs::read_to_string("/sys/kernel/mm/ksm/run")?.trim() == "1" {
        let merged = std::fs::read_to_string("/proc/self/ksm_merging_pages")?;
        if merged.trim().parse::<u64>()? >= pages {
            return Ok(true);
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    Ok(false)
}
