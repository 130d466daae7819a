// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading lines of pages, and timing such reads, on x86_64.
//!
//! Nothing but the lines named is read from memory between the two time
//! stamps: everything else stays in registers, since a table that the set just
//! read has pushed out would look like an eviction of the page under test.

use std::arch::asm;

use super::prober::Chain;

/// What one timed chain of reads gave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timed {
    /// Ticks of the time stamp counter from before the first to after the last read.
    pub ticks: u64,
    /// `IA32_TSC_AUX` before and after: which CPU read the counter.
    pub cpu: (u32, u32),
}

/// Reads one byte of each line of `page`, each address depending on the value
/// read before, and times the whole chain.
///
/// # Safety
/// `page` must be the start of a mapped, readable page.
#[inline(always)]
pub(super) unsafe fn timed_chain(page: *const u8, lines: Chain) -> Timed {
    let (start_low, start_high, end_low, end_high): (u32, u32, u32, u32);
    let (cpu_start, cpu_end): (u32, u32);
    // SAFETY: reads only bytes of the page (line numbers are below 64 and lines
    // are 64 bytes, so offsets stay below 4096); writes no memory. The masks
    // make every read yield an offset of zero for the next, without the CPU
    // knowing, so the reads are serial.
    unsafe {
        asm!(
            "lfence",
            "rdtscp",
            "lfence",
            "mov {start_low:e}, eax",
            "mov {start_high:e}, edx",
            "mov {cpu_start:e}, ecx",
            "xor {value:e}, {value:e}",
            "2:",
            "mov eax, {packed:e}",
            "and eax, 63",
            "shl eax, 6",
            "add rax, {value}",
            "movzx {value:e}, byte ptr [{page} + rax]",
            "and {value}, {zero}",
            "shr {packed}, 8",
            "dec {count:e}",
            "jnz 2b",
            "lfence",
            "rdtscp",
            "lfence",
            page = in(reg) page,
            zero = in(reg) 0u64,
            packed = inout(reg) lines.packed() => _,
            count = inout(reg) lines.len() => _,
            value = out(reg) _,
            start_low = out(reg) start_low,
            start_high = out(reg) start_high,
            cpu_start = out(reg) cpu_start,
            out("eax") end_low,
            out("edx") end_high,
            out("ecx") cpu_end,
            options(nostack, readonly),
        );
    }
    let join = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
    let ticks = join(end_low, end_high).wrapping_sub(join(start_low, start_high));
    Timed { ticks, cpu: (cpu_start, cpu_end) }
}

/// Reads one byte at `address`; the compiler cannot leave it out.
///
/// # Safety
/// `address` must be mapped and readable.
#[inline(always)]
pub(super) unsafe fn touch(address: *const u8) {
    // SAFETY: the caller vouches for the address. A plain load instruction, so
    // that a concurrent write by another thread is no data race in Rust's eyes.
    unsafe {
        asm!("movzx {v:e}, byte ptr [{a}]", a = in(reg) address, v = out(reg) _,
             options(nostack, readonly, preserves_flags));
    }
}

/// Waits until all earlier reads are done.
#[inline(always)]
pub(super) fn fence() {
    // SAFETY: lfence has no effect but ordering.
    unsafe { asm!("lfence", options(nostack, preserves_flags)) };
}
