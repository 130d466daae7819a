// SPDX-License-Identifier: MIT OR Apache-2.0
//! The library that `huepage run` loads into programs: one thread that gives their
//! pages frames of the right colors while they run.
//!
//! ```text
//! placer     the thread: what it does and in which order
//!   pages    which pages are present
//!   areas    which memory is the program's, and which must not be touched
//!   kernel_data  pages that the kernel uses when a thread ends
//! mutexes    mutexes that the kernel accesses, whose pages are left alone
//! ```
//!
//! The thread itself, its heap, the table of colors and the report are those of
//! `huepage_loaded`.
//!
//! With these three rules the program behaves as without this library:
//!
//! * Nothing here uses the program's heap, its descriptors or its signals. The thread
//!   has a heap and a table of descriptors of its own.
//! * The thread never reads or writes memory of the program by its address, which may
//!   be unmapped. The kernel exchanges pages ([`huepage::place::Live`]), and the thread
//!   reads them through `/proc/self/mem`.
//! * The program's threads run code of this library only in the functions of `start`
//!   and `mutexes`, which neither allocate nor wait for the placer.

mod areas;
mod kernel_data;
mod mutexes;
mod pages;
mod placer;

use huepage_loaded::state::Library;

huepage_loaded::library!(Library {
    run: placer::run,
    forked: mutexes::done,
    begun: || {},
    ending: || {},
    // No page is taken out then.
    resting: mutexes::done,
});
