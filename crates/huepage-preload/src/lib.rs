// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `huepage run` has programs load: one thread that gives their pages
//! frames of the right colors while they run.
//!
//! ```text
//! placer     the thread: what it does and in which order
//!   pages    which pages are there
//!   areas    which memory is the program's, and which is not to be touched
//!   kernel_data  pages that the kernel uses when a thread ends
//! mutexes    locks that the kernel knows of are left alone
//! ```
//!
//! The thread itself, its heap, the table of colors and the report are those of
//! `huepage_loaded`.
//!
//! Three rules keep the program as it is without this library:
//!
//! * Nothing here uses the program's heap, its descriptors or its signals. The
//!   thread has a heap and a table of descriptors of its own.
//! * The thread never reads or writes memory of the program by its address:
//!   that could be gone. Pages are exchanged by the kernel
//!   ([`huepage::place::Live`]), and looked at through `/proc/self/mem`.
//! * The program's threads run code of this library only in the functions of
//!   `start` and `mutexes`, which neither allocate nor wait for the placer.

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
    // No page is out then.
    resting: mutexes::done,
});
