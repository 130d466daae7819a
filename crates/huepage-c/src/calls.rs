// SPDX-License-Identifier: MIT OR Apache-2.0
//! The exported functions, one for each declaration of `huepage.h`.

use std::{
    ffi::{c_char, c_void},
    ptr, slice,
};

use crate::{
    abi::{Options, RepairReport},
    failure::{Failure, guarded, message, or_null},
    handle::Handle,
};

/// Borrows a value that the C caller passes.
///
/// # Safety
/// Null, or valid for the call.
unsafe fn given<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, Failure> {
    // SAFETY: the caller's contract.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failure::argument(format!("{name} is NULL")))
}

/// Borrows a value that the C caller wants filled.
///
/// # Safety
/// Null, or valid for the call and not used otherwise meanwhile.
unsafe fn wanted<'a, T>(pointer: *mut T, name: &str) -> Result<&'a mut T, Failure> {
    // SAFETY: the caller's contract.
    unsafe { pointer.as_mut() }.ok_or_else(|| Failure::argument(format!("{name} is NULL")))
}

/// # Safety
/// Null where `len` is 0, or so many values that are valid for the call.
unsafe fn array<'a, T>(first: *const T, len: usize, name: &str) -> Result<&'a [T], Failure> {
    if len == 0 {
        return Ok(&[]);
    }
    // SAFETY: the caller's contract.
    let first = unsafe { given(first, name) }?;
    // SAFETY: the caller's contract.
    Ok(unsafe { slice::from_raw_parts(first, len) })
}

const DEFAULT: Options =
    Options { size: size_of::<Options>(), cpu: -1, colors_by: 0, policy: 0, reserved: 0, pool: 0 };

/// See `huepage.h`.
///
/// # Safety
/// As documented there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn huepage_open(options: *const Options, out: *mut *mut Handle) -> i32 {
    guarded(|| {
        // SAFETY: the caller's contract.
        let out = unsafe { wanted(out, "out") }?;
        *out = ptr::null_mut();
        // SAFETY: the caller's contract.
        let options = match unsafe { options.as_ref() } {
            None => DEFAULT,
            Some(options) if options.size == size_of::<Options>() => *options,
            Some(options) => {
                return Err(Failure::argument(format!(
                    "huepage_options.size is {}, this library knows {}: begin with \
                     HUEPAGE_OPTIONS_INIT",
                    options.size,
                    size_of::<Options>()
                )));
            }
        };
        *out = Box::into_raw(Box::new(Handle::open(&options)?));
        Ok(())
    })
}

/// See `huepage.h`.
///
/// # Safety
/// As documented there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn huepage_close(handle: *mut Handle) {
    guarded(|| {
        if !handle.is_null() {
            // SAFETY: from huepage_open, and not used any more.
            drop(unsafe { Box::from_raw(handle) });
        }
        Ok(())
    });
}

/// See `huepage.h`.
///
/// # Safety
/// As documented there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn huepage_colors(handle: *const Handle) -> u32 {
    // SAFETY: the caller's contract.
    unsafe { handle.as_ref() }.map_or(0, |handle| handle.huepage.count().get())
}

/// See `huepage.h`.
///
/// # Safety
/// As documented there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn huepage_reason(handle: *const Handle) -> *const c_char {
    // SAFETY: the caller's contract.
    or_null(|| unsafe { handle.as_ref() }.map_or(c"".as_ptr(), |handle| handle.reason.as_ptr()))
}

/// See `huepage.h`.
///
/// # Safety
/// As documented there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn huepage_alloc(
    handle: *mut Handle,
    size: usize,
    out: *mut *mut c_void,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller's contract.
        let (handle, out) = unsafe { (given(handle, "the handle")?, wanted(out, "out")?) };
        *out = ptr::null_mut();
        *out = handle.allocate(size, None)?.cast();
        Ok(())
    })
}

/// See `huepage.h`.
///
/// # Safety
/// As documented there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn huepage_alloc_in(
    handle: *mut Handle,
    size: usize,
    colors: *const u32,
    count: usize,
    out: *mut *mut c_void,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller's contract.
        let (handle, out) = unsafe { (given(handle, "the handle")?, wanted(out, "out")?) };
        *out = ptr::null_mut();
        // SAFETY: the caller's contract.
        let colors = unsafe { array(colors, count, "colors") }?;
        *out = handle.allocate(size, Some(colors))?.cast();
        Ok(())
    })
}

/// See `huepage.h`.
///
/// # Safety
/// As documented there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn huepage_free(handle: *mut Handle, memory: *mut c_void) -> i32 {
    guarded(|| {
        if memory.is_null() {
            return Ok(());
        }
        // SAFETY: the caller's contract.
        unsafe { given(handle, "the handle") }?.free(memory.cast())
    })
}

/// See `huepage.h`.
///
/// # Safety
/// As documented there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn huepage_colors_of(
    handle: *mut Handle,
    start: *const c_void,
    size: usize,
    colors: *mut i32,
    capacity: usize,
    pages: *mut usize,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller's contract.
        let (handle, pages) = unsafe { (given(handle, "the handle")?, wanted(pages, "pages")?) };
        if start.is_null() && size > 0 {
            return Err(Failure::argument("start is NULL"));
        }
        if (start.addr()).checked_add(size).is_none() {
            return Err(Failure::argument("the memory ends beyond the last address"));
        }
        if colors.is_null() && capacity > 0 {
            return Err(Failure::argument("colors is NULL"));
        }
        // SAFETY: the caller's contract.
        let told = unsafe { handle.huepage.colors_of_memory(start.cast(), size) }?;
        *pages = told.len();
        for (index, color) in told.into_iter().take(capacity).enumerate() {
            let number = color.map_or(-1, |color| i32::try_from(color.0).unwrap_or(-1));
            // SAFETY: the caller's contract: room for `capacity`.
            unsafe { colors.add(index).write(number) };
        }
        Ok(())
    })
}

/// See `huepage.h`.
///
/// # Safety
/// As documented there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn huepage_split(
    handle: *const Handle,
    shares: *const u32,
    parts: usize,
    part_of_color: *mut u32,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller's contract.
        let (handle, shares) =
            unsafe { (given(handle, "the handle")?, array(shares, parts, "shares")?) };
        // SAFETY: the caller's contract.
        unsafe { wanted(part_of_color, "part_of_color") }?;
        let split = handle.huepage.partition().split(shares);
        let split = split.map_err(|error| Failure::argument(error.to_string()))?;
        for (part, partition) in (0u32..).zip(&split) {
            for color in partition.colors() {
                // SAFETY: the caller's contract: room for every color.
                unsafe { part_of_color.add(color.index()).write(part) };
            }
        }
        Ok(())
    })
}

/// See `huepage.h`.
///
/// # Safety
/// As documented there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn huepage_reverify(
    handle: *mut Handle,
    memory: *mut c_void,
    out: *mut RepairReport,
) -> i32 {
    guarded(|| {
        // SAFETY: the caller's contract.
        let report = unsafe { given(handle, "the handle") }?.reverify(memory.cast())?;
        // SAFETY: the caller's contract.
        if let Some(out) = unsafe { out.as_mut() } {
            *out = report;
        }
        Ok(())
    })
}

/// See `huepage.h`.
#[unsafe(no_mangle)]
pub extern "C" fn huepage_message() -> *const c_char {
    or_null(message)
}

/// See `huepage.h`.
#[unsafe(no_mangle)]
pub extern "C" fn huepage_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
