// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `huepage run` has programs load where live placing is not permitted: a
//! malloc whose memory has frames of the right colors before the program sees it.
//!
//! ```text
//! malloc     the functions that programs call
//! arena      the address space that malloc's memory is in, and what is asked for
//! desk       what the program's threads and the placer say to each other
//! placer     the thread that fills memory with frames
//! residency  which of the memory holds pages
//! ```
//!
//! Nothing is moved that the program has ever seen, so no privilege is needed and
//! nothing can be lost. The rules:
//!
//! * Malloc is mimalloc, which asks before it uses a part of its arena for the
//!   first time. Then the program's thread waits for the placer: palette, frames
//!   and descriptors are that thread's, which has a heap, a stack and a table of
//!   descriptors of its own.
//! * Memory is given in any case. Where the placer is not there, is late, has spent
//!   its time or is refused, the memory is the kernel's choice, and counted.
//! * A child has the arena of its parent as any memory, and a placer of its own.
//!
//! The thread itself, its heap, the table of colors and the report are those of
//! `huepage_loaded`.

mod arena;
mod desk;
// Tests have the malloc of the system.
#[cfg(not(test))]
mod malloc;
mod placer;
mod residency;

use huepage_loaded::state::Library;

huepage_loaded::library!(Library {
    run: placer::run,
    forked,
    begun,
    ending: desk::close,
    resting: desk::leave,
});

fn begun() {
    arena::begin();
    desk::open();
}

fn forked() {
    desk::begin_anew();
    arena::begin_anew();
}
