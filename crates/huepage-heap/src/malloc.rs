// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions that replace those of the C library: all that its manual names for a
//! replacement of malloc. C++, Python and others call these.

use std::ffi::{c_int, c_void};

use libmimalloc_sys as mi;

unsafe extern "C" {
    fn mi_memalign(alignment: usize, size: usize) -> *mut c_void;
    fn mi_valloc(size: usize) -> *mut c_void;
    fn mi_pvalloc(size: usize) -> *mut c_void;
    fn mi_reallocarray(old: *mut c_void, count: usize, size: usize) -> *mut c_void;
}

macro_rules! stand_in {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? = $by:path;)*) => {
        $(
            #[doc = concat!("As the C library's `", stringify!($name), "`.")]
            ///
            /// # Safety
            /// As in malloc(3).
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $type),*) $(-> $result)? {
                // SAFETY: the same contract, handed on.
                unsafe { $by($($argument),*) }
            }
        )*
    };
}

stand_in! {
    malloc(size: usize) -> *mut c_void = mi::mi_malloc;
    free(memory: *mut c_void) = mi::mi_free;
    calloc(count: usize, size: usize) -> *mut c_void = mi::mi_calloc;
    realloc(memory: *mut c_void, size: usize) -> *mut c_void = mi::mi_realloc;
    reallocarray(memory: *mut c_void, count: usize, size: usize) -> *mut c_void = mi_reallocarray;
    memalign(alignment: usize, size: usize) -> *mut c_void = mi_memalign;
    aligned_alloc(alignment: usize, size: usize) -> *mut c_void = mi::mi_aligned_alloc;
    posix_memalign(memory: *mut *mut c_void, alignment: usize, size: usize) -> c_int
        = mi::mi_posix_memalign;
    valloc(size: usize) -> *mut c_void = mi_valloc;
    pvalloc(size: usize) -> *mut c_void = mi_pvalloc;
    malloc_usable_size(memory: *const c_void) -> usize = mi::mi_usable_size;
}
