// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `VmFlags` of a mapping in `/proc/PID/smaps`.

/// The flags of a mapping that matter to placement, of those that
/// `proc_pid_smaps(5)` lists. None from `maps`, which does not print them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VmFlags(u8);

impl VmFlags {
    /// `pf`: memory without ordinary pages, such as a device's.
    pub const FRAMES_ONLY: VmFlags = VmFlags(1 << 0);
    /// `io`: the registers of a device.
    pub const IO: VmFlags = VmFlags(1 << 1);
    /// `mm`: ordinary pages and others.
    pub const MIXED: VmFlags = VmFlags(1 << 2);
    /// `ht`: pages of hugetlbfs.
    pub const HUGETLB: VmFlags = VmFlags(1 << 3);
    /// `lo`: locked by `mlock`.
    pub const LOCKED: VmFlags = VmFlags(1 << 4);
    /// `um`, `uw` or `ui`: registered with a userfaultfd.
    pub const REGISTERED: VmFlags = VmFlags(1 << 5);

    /// `wf`: empty in children (`MADV_WIPEONFORK`).
    pub const WIPED_IN_CHILDREN: VmFlags = VmFlags(1 << 6);

    /// Reads `rd wr mr mw me lo`.
    pub(super) fn parse(text: &str) -> Self {
        text.split_ascii_whitespace().fold(VmFlags::default(), |all, flag| {
            let flag = match flag {
                "pf" => Self::FRAMES_ONLY,
                "io" => Self::IO,
                "mm" => Self::MIXED,
                "ht" => Self::HUGETLB,
                "lo" => Self::LOCKED,
                "wf" => Self::WIPED_IN_CHILDREN,
                "um" | "uw" | "ui" => Self::REGISTERED,
                _ => return all,
            };
            all.and(flag)
        })
    }

    /// The union of both.
    pub const fn and(self, other: VmFlags) -> VmFlags {
        VmFlags(self.0 | other.0)
    }

    /// Whether one of `flags` is set.
    pub const fn any(self, flags: VmFlags) -> bool {
        self.0 & flags.0 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_read_by_their_letters_and_others_passed_over() {
        let flags = VmFlags::parse(" rd wr mr ?? ui lo");
        assert_eq!(flags, VmFlags::LOCKED.and(VmFlags::REGISTERED));
        assert!(flags.any(VmFlags::LOCKED.and(VmFlags::IO)) && !flags.any(VmFlags::IO));
        assert_eq!(VmFlags::parse("pf io mm ht wf"), VmFlags(0b100_1111));
        assert_eq!(VmFlags::parse(""), VmFlags::default());
    }
}
