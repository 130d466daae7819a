// SPDX-License-Identifier: MIT OR Apache-2.0
//! Directories of the kernel whose entries are numbers: threads, descriptors.
//!
//! Not read by the C library, whose `opendir` allocates from the program's heap. A
//! single-threaded program may have its own malloc that is not thread-safe.

use std::ffi::CStr;

use rustix::{
    fs::{Dir, Mode, OFlags, open},
    io,
};

/// The entries that are numbers.
///
/// # Errors
/// What `open` reports.
pub fn numeric_entries(path: &CStr) -> io::Result<Vec<u32>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let entries = Dir::new(open(path, flags, Mode::empty())?)?;
    let numbers =
        entries.flatten().filter_map(|entry| entry.file_name().to_str().ok()?.parse().ok());
    Ok(numbers.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_threads_number_is_among_those_of_the_process() {
        let own = rustix::thread::gettid().as_raw_nonzero().get() as u32;
        assert!(numeric_entries(c"/proc/self/task").unwrap().contains(&own));
        assert!(numeric_entries(c"/proc/self/absent").is_err());
    }
}
