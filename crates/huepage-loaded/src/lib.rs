// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code shared by the libraries that `huepage run` loads into programs: one thread in a
//! program that does not cooperate.
//!
//! ```text
//! start     starts the thread from the loader; forks; the end
//! state     which library it is, whether program and thread have ended
//! session   what the thread does before and after it places anything
//! heap      memory of the library itself
//! oracle    finds the colors of frames
//! pages     pages by their numbers, and how many are worth placing
//! table     which page has which color, which one is to get which
//! budget    how long to pause
//! tally     the contents of the report
//! privileges  ends the thread before the program changes its privileges
//! thread    its pauses, its time, its descriptors
//! ```

pub mod budget;
pub mod heap;
pub mod oracle;
pub mod pages;
pub mod privileges;
pub mod session;
pub mod start;
pub mod state;
pub mod table;
pub mod tally;
pub mod thread;

/// Defines one of those libraries in a crate: the heap, and the functions that the
/// loader calls before and after the program.
#[macro_export]
macro_rules! library {
    ($library:expr) => {
        // Its tests use threads and the heap of the system.
        #[cfg(not(test))]
        #[global_allocator]
        static HEAP: $crate::heap::Heap = $crate::heap::Heap;

        static LIBRARY: $crate::state::Library = $library;

        #[used]
        #[unsafe(link_section = ".init_array")]
        static INIT: extern "C" fn() = init;

        #[used]
        #[unsafe(link_section = ".fini_array")]
        static FINI: extern "C" fn() = fini;

        extern "C" fn init() {
            $crate::start::load(&LIBRARY);
        }

        extern "C" fn fini() {
            $crate::start::unload();
        }

        /// As that of the C library, which takes as many arguments as the option does.
        #[cfg(not(test))]
        #[unsafe(no_mangle)]
        extern "C" fn prctl(
            option: std::ffi::c_int,
            a: std::ffi::c_ulong,
            b: std::ffi::c_ulong,
            c: std::ffi::c_ulong,
            d: std::ffi::c_ulong,
        ) -> std::ffi::c_int {
            $crate::privileges::prctl(option, [a, b, c, d])
        }

        /// As that of the C library.
        ///
        /// # Safety
        /// As `capset(2)`.
        #[cfg(not(test))]
        #[unsafe(no_mangle)]
        unsafe extern "C" fn capset(
            header: *mut std::ffi::c_void,
            data: *const std::ffi::c_void,
        ) -> std::ffi::c_int {
            // SAFETY: the caller's contract.
            unsafe { $crate::privileges::capset(header, data) }
        }

        /// As that of the C library.
        #[cfg(not(test))]
        #[unsafe(no_mangle)]
        extern "C" fn unshare(flags: std::ffi::c_int) -> std::ffi::c_int {
            $crate::privileges::unshare(flags)
        }

        /// As that of the C library.
        #[cfg(not(test))]
        #[unsafe(no_mangle)]
        extern "C" fn setns(descriptor: std::ffi::c_int, kind: std::ffi::c_int) -> std::ffi::c_int {
            $crate::privileges::setns(descriptor, kind)
        }
    };
}
