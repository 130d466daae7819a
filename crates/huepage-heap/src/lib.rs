// SPDX-License-Identifier: MIT OR Apache-2.0
//! The library that `huepage run` loads if live placing is not permitted: a malloc
//! whose memory has frames of the right colors before the program sees it.
//!
//! ```text
//! malloc     the functions that programs call
//! arena      the address space of malloc's memory, and requests to place it
//! desk       requests between the program's threads and the placer
//! placer     the thread that fills memory with frames
//! residency  which pages of the memory are present
//! ```
//!
//! Memory that the program has used is never moved, so no privilege is needed and no
//! data can be lost. The rules:
//!
//! * Malloc is mimalloc, which calls this library before it uses a part of its arena
//!   for the first time. Then the program's thread waits for the placer: palette,
//!   frames and descriptors belong to that thread, which has a heap, a stack and a
//!   table of descriptors of its own.
//! * Malloc gives memory in any case. If the placer does not exist, is late, has used
//!   up its CPU time or is refused, the kernel chooses the frames, and the memory is
//!   counted.
//! * A child inherits the arena of its parent like any memory, and has a placer of its
//!   own.
//!
//! The thread itself, its heap, the table of colors and the report are those of
//! `huepage_loaded`.

mod arena;
mod desk;
// Tests use the malloc of the system.
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
