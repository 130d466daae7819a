// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a handle holds.

use std::{
    collections::HashMap,
    ffi::CString,
    sync::{Mutex, MutexGuard},
};

use library::{
    Huepage,
    color::{Color, ColorsBy},
    colored::ColoredError,
    place::{PlaceError, Policy, Region},
    units::Bytes,
};

use crate::{
    abi::{Options, RepairReport},
    failure::Failure,
};

/// `huepage` in C.
pub struct Handle {
    pub huepage: Huepage,
    pub reason: CString,
    policy: Policy,
    process: u32,
    /// By first address.
    regions: Mutex<HashMap<usize, Region>>,
}

/// The header promises that threads may share a handle.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Handle>();
};

impl Handle {
    pub fn open(options: &Options) -> Result<Self, Failure> {
        let policy = match options.policy {
            0 => Policy::Balanced,
            1 => Policy::Sequence,
            other => return Err(Failure::argument(format!("there is no policy {other}"))),
        };
        let by = match options.colors_by {
            0 => ColorsBy::Auto,
            1 => ColorsBy::FrameNumber,
            2 => ColorsBy::Measurement,
            other => {
                return Err(Failure::argument(format!("there is no way {other} to find colors")));
            }
        };
        if options.reserved != 0 {
            return Err(Failure::argument("huepage_options.reserved is not 0"));
        }
        let mut builder = Huepage::builder().policy(policy.clone()).colors_by(by);
        if let Ok(cpu) = u32::try_from(options.cpu) {
            builder = builder.cpu(cpu);
        }
        if options.pool > 0 {
            builder = builder.pool(Bytes(options.pool));
        }
        let huepage = builder.open()?;
        let reason = CString::new(huepage.reason()).unwrap_or_default();
        let process = std::process::id();
        Ok(Handle { huepage, reason, policy, process, regions: Mutex::default() })
    }

    /// Memory by the policy of the handle, or in some colors only.
    pub fn allocate(&self, size: usize, colors: Option<&[u32]>) -> Result<*mut u8, Failure> {
        let of = |colors: &[u32]| Policy::Colors(colors.iter().map(|&c| Color(c)).collect());
        let policy = colors.map_or_else(|| self.policy.clone(), of);
        let mut region = self.huepage.region(Bytes(size as u64), &policy)?;
        let first = region.as_mut_ptr();
        self.regions()?.insert(first.addr(), region);
        Ok(first)
    }

    pub fn free(&self, memory: *mut u8) -> Result<(), Failure> {
        let region = self.regions()?.remove(&memory.addr()).ok_or_else(foreign)?;
        self.huepage.give_back(region);
        Ok(())
    }

    pub fn reverify(&self, memory: *mut u8) -> Result<RepairReport, Failure> {
        let mut regions = self.regions()?;
        let region = regions.get_mut(&memory.addr()).ok_or_else(foreign)?;
        let done = self.huepage.reverify_region(region)?;
        Ok(RepairReport {
            already: done.already,
            placed: done.placed,
            short_of: done.short,
            other: done.untouched + done.busy + done.unknown + done.refused + done.left,
        })
    }

    /// A child has no use of it, and the lock may have been another thread's.
    fn regions(&self) -> Result<MutexGuard<'_, HashMap<usize, Region>>, Failure> {
        if self.process != std::process::id() {
            return Err(ColoredError::Place(PlaceError::OtherProcess).into());
        }
        Ok(self.regions.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }
}

fn foreign() -> Failure {
    Failure::argument("the address is not one that huepage_alloc gave and that is still in use")
}
