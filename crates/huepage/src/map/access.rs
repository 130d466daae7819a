// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which information about a process may be read, and what is missing otherwise.

use std::io;

use rustix::thread::{CapabilitySet, capabilities};

use super::{MapError, Shortfall, What};
use crate::{
    frames::{PageFlags, Pagemap, Populated},
    proc::AreaLine,
};

const TRACE: &str = "CAP_SYS_PTRACE";
const READ_ALL: &str = "CAP_DAC_READ_SEARCH";
const BOTH: &str = "CAP_DAC_READ_SEARCH,CAP_SYS_PTRACE";
const ADMIN: &str = "CAP_SYS_ADMIN";

/// Why a file of a process cannot be read.
pub(crate) fn refused(pid: u32, file: &str, source: io::Error) -> MapError {
    match source.kind() {
        io::ErrorKind::PermissionDenied => denied(pid),
        io::ErrorKind::NotFound if std::fs::exists(format!("/proc/{pid}")).unwrap_or(false) => {
            MapError::NoPagemap { path: format!("/proc/{pid}/{file}") }
        }
        io::ErrorKind::NotFound => MapError::NoProcess { pid },
        _ if source.raw_os_error() == Some(libc::ESRCH) => MapError::NoProcess { pid },
        _ => MapError::System { action: format!("open /proc/{pid}/{file}"), source },
    }
}

/// Another user's process takes one capability to be traced, and one to open a
/// file that only its owner may read.
fn denied(pid: u32) -> MapError {
    let own = capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.effective);
    let trace = own.contains(CapabilitySet::SYS_PTRACE);
    let read = own.intersects(CapabilitySet::DAC_READ_SEARCH | CapabilitySet::DAC_OVERRIDE);
    match (trace, read) {
        (true, true) => MapError::Forbidden { pid },
        (true, false) => MapError::Denied { pid, needs: READ_ALL },
        (false, true) => MapError::Denied { pid, needs: TRACE },
        (false, false) => MapError::Denied { pid, needs: BOTH },
    }
}

/// Whether frame numbers are visible; if not, adds a shortfall.
pub(super) fn frames_visible(shortfalls: &mut Vec<Shortfall>) -> Result<bool, MapError> {
    let visible =
        Pagemap::open().and_then(|own| own.frame_numbers_visible()).map_err(|source| {
            MapError::System { action: "read /proc/self/pagemap".to_owned(), source }
        })?;
    if !visible {
        shortfalls.push(Shortfall {
            what: What::FrameNumbers,
            why: format!(
                "frame numbers are hidden: they take {ADMIN} in the initial user namespace; \
                 without them there are no runs, no colors, no distinct frames"
            ),
            needs: Some(ADMIN.to_owned()),
        });
        shortfalls.push(Shortfall {
            what: What::PageFlags,
            why: "flags of frames are found by frame number: without them KSM pages count as \
                  anonymous, shared memory as file, and huge pages have no size"
                .to_owned(),
            needs: Some(ADMIN.to_owned()),
        });
    }
    Ok(visible)
}

/// The flags of frames; adds a shortfall if they cannot be read.
pub(super) fn page_flags(shortfalls: &mut Vec<Shortfall>) -> Option<PageFlags> {
    let error = match PageFlags::open() {
        Ok(flags) => return Some(flags),
        Err(error) => error,
    };
    let denied = error.kind() == io::ErrorKind::PermissionDenied;
    shortfalls.push(Shortfall {
        what: What::PageFlags,
        why: format!(
            "/proc/kpageflags cannot be read ({error}): KSM pages count as anonymous, shared \
             memory as file, and huge pages have no size"
        ),
        needs: denied.then(|| READ_ALL.to_owned()),
    });
    None
}

/// Whether the kernel has `PAGEMAP_SCAN`: asked about one page.
pub(super) fn can_scan(pagemap: &Pagemap, lines: &[AreaLine]) -> bool {
    let page = crate::mapping::page_size().0;
    let mut found = [Populated::default(); 1];
    let first = lines[0].start;
    match pagemap.scan(first..first + page, &mut found) {
        Err(error) => error.kind() != io::ErrorKind::Unsupported,
        Ok(_) => true,
    }
}
