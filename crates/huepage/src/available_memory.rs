// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much memory this process can have before the kernel kills a process (OOM).

use std::{fs, path::Path};

use crate::units::Bytes;

/// The least of what the machine has left and what the control groups of this
/// process allow; `None` where the kernel says neither.
pub fn available_memory() -> Option<Bytes> {
    let read = |path: &str| fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").as_deref().and_then(machine);
    let group = read("/proc/self/cgroup").as_deref().and_then(|own| {
        let own = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
        // The limit of a parent group applies as well.
        Path::new(own)
            .ancestors()
            .filter_map(|group| {
                let file = |name: &str| read(Path::new(ROOT).join(group).join(name).to_str()?);
                let stat = file("memory.stat").unwrap_or_default();
                left(&file("memory.max")?, &file("memory.current")?, &stat)
            })
            .min()
    });
    [machine, group].into_iter().flatten().min()
}

/// Where version 2 of control groups is mounted, by convention.
const ROOT: &str = "/sys/fs/cgroup";

/// `MemAvailable:   22689000 kB`, where kB means KiB.
fn machine(meminfo: &str) -> Option<Bytes> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(Bytes(kib.saturating_mul(1024)))
}

/// What a limit leaves in bytes; page cache counts as free, since the kernel drops it
/// before it kills a process, and it fills the limit of any group that reads files.
/// `None` if the limit is `max`, which is none.
fn left(limit: &str, current: &str, stat: &str) -> Option<Bytes> {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let taken = number(current)?.saturating_sub(cache(stat));
    Some(Bytes(number(limit)?.saturating_sub(taken)))
}

/// Page cache in bytes, by `memory.stat`. Not its `file`, which counts shared
/// memory and tmpfs too: those cannot be dropped.
fn cache(stat: &str) -> u64 {
    let count = |line: &str| {
        let (name, count) = line.split_once(' ')?;
        let dropped = matches!(name, "active_file" | "inactive_file" | "slab_reclaimable");
        if dropped { count.trim().parse::<u64>().ok() } else { None }
    };
    stat.lines().filter_map(count).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_tells_in_kib() {
        let meminfo = "MemTotal:  2048 kB\nMemFree:  1 kB\nMemAvailable:    1024 kB\n";
        assert_eq!(machine(meminfo), Some(Bytes::mib(1)));
        assert_eq!(machine("MemTotal:  2048 kB\n"), None);
    }

    #[test]
    fn a_group_leaves_its_limit_less_what_is_taken() {
        assert_eq!(left("4096\n", "1024\n", ""), Some(Bytes(3072)));
        assert_eq!(left("4096\n", "5000\n", ""), Some(Bytes(0)));
        assert_eq!(left("max\n", "1024\n", ""), None);
    }

    #[test]
    fn page_cache_of_a_group_is_left_too_and_its_shared_memory_is_not() {
        let stat = "anon 500\nfile 3400\nshmem 400\ninactive_anon 600\nactive_file 1000\n\
                    inactive_file 2000\nslab_reclaimable 96\nslab_unreclaimable 7\n";
        assert_eq!(left("4096\n", "4096\n", stat), Some(Bytes(3096)));
        // Where the kernel counts more page cache than usage, no more than the limit is
        // left.
        assert_eq!(left("4096\n", "100\n", stat), Some(Bytes(4096)));
    }

    #[test]
    fn this_machine_has_memory_left() {
        assert!(available_memory().is_some_and(|left| left > Bytes::mib(1)));
    }
}
