// SPDX-License-Identifier: MIT OR Apache-2.0
//! Keeping the calling thread on one CPU for a while.

use std::{io, marker::PhantomData};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::list;

/// Why a thread cannot be kept on a CPU.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PinError {
    /// Outside the thread's affinity mask: taskset, a container, or no such CPU.
    #[error("CPU {cpu} is not available to this process: choose one of {allowed}")]
    NotAllowed {
        /// The CPU asked for.
        cpu: u32,
        /// The CPUs of the mask, as a list.
        allowed: String,
    },
    /// The kernel refused.
    #[error("cannot set the CPU affinity")]
    System(#[from] io::Error),
}

/// The CPUs that the calling thread may run on, ascending.
///
/// # Errors
/// What `sched_getaffinity(2)` reports: `EINVAL` on a machine with more than
/// 1024 possible CPUs.
pub fn allowed_cpus() -> io::Result<Vec<u32>> {
    let mask = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| mask.is_set(cpu)).map(|cpu| cpu as u32).collect())
}

/// While this value lives, the thread that made it runs on one CPU only; on
/// drop its affinity is as before.
#[derive(Debug)]
pub struct Pinned {
    before: CpuSet,
    /// Affinity belongs to a thread: dropping elsewhere would restore another's.
    not_send: PhantomData<*const ()>,
}

impl Pinned {
    /// Moves the calling thread to `cpu` and keeps it there.
    ///
    /// # Errors
    /// [`PinError`] if the thread may not run there or the kernel refuses.
    pub fn to(cpu: u32) -> Result<Self, PinError> {
        let before = sched_getaffinity(None).map_err(io::Error::from)?;
        let index = cpu as usize;
        if index >= CpuSet::MAX_CPU || !before.is_set(index) {
            return Err(PinError::NotAllowed { cpu, allowed: list::format(&allowed_cpus()?) });
        }
        let mut only = CpuSet::new();
        only.set(index);
        sched_setaffinity(None, &only).map_err(io::Error::from)?;
        Ok(Pinned { before, not_send: PhantomData })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // If the old mask is refused now, its CPUs were taken offline meanwhile, and
        // the kernel picks others.
        let _ = sched_setaffinity(None, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_kept_on_its_cpu_and_let_go() {
        let before = allowed_cpus().unwrap();
        let last = *before.last().unwrap();
        {
            let _pinned = Pinned::to(last).unwrap();
            assert_eq!(allowed_cpus().unwrap(), [last]);
            assert_eq!(rustix::thread::sched_getcpu(), last as usize);
        }
        assert_eq!(allowed_cpus().unwrap(), before);
    }

    #[test]
    fn a_cpu_outside_the_mask_is_named_with_those_inside() {
        let allowed = list::format(&allowed_cpus().unwrap());
        for cpu in [1023, 5000] {
            assert_eq!(
                Pinned::to(cpu).unwrap_err().to_string(),
                format!("CPU {cpu} is not available to this process: choose one of {allowed}")
            );
        }
    }
}
