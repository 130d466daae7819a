// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a process cannot be mapped at all.

/// Why there is no map. What is only missing in part is a
/// [`super::Shortfall`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// No such process here.
    #[error(
        "there is no process {pid}: it ended, or runs in another PID namespace (look for its \
         number here with: ps -e -o pid,pidns,args)"
    )]
    NoProcess {
        /// The number asked for.
        pid: u32,
    },
    /// A thread of the kernel has no address space of its own.
    #[error("{pid} ({name}) is a thread of the kernel: it has no memory of its own to map")]
    KernelThread {
        /// The process.
        pid: u32,
        /// Its name.
        name: super::Name,
    },
    /// It has ended; its parent has not yet asked how.
    #[error("{pid} ({name}) has ended and only waits for its parent: it has no memory any more")]
    Zombie {
        /// The process.
        pid: u32,
        /// Its name.
        name: super::Name,
    },
    /// The process belongs to someone else, or protects itself.
    #[error(
        "process {pid} may not be looked at: that takes the same user and a process that can be \
         traced, or {needs} (run as root, or: setcap {needs}+ep on this program)"
    )]
    Denied {
        /// The process.
        pid: u32,
        /// The capabilities that are missing, with commas between them.
        needs: &'static str,
    },
    /// No capability is missing: something else forbids it.
    #[error(
        "process {pid} may not be looked at, although this program has CAP_SYS_PTRACE: a security \
         module (SELinux, AppArmor) or a sandbox forbids it; look there for a rule about ptrace"
    )]
    Forbidden {
        /// The process.
        pid: u32,
    },
    /// The kernel has no pagemap.
    #[error(
        "{path} does not exist: this kernel shows no pages (it takes CONFIG_PROC_PAGE_MONITOR)"
    )]
    NoPagemap {
        /// The file.
        path: String,
    },
    /// Anything else the system refuses.
    #[error("cannot {action}")]
    System {
        /// What was tried.
        action: String,
        /// What it said.
        source: std::io::Error,
    },
}
