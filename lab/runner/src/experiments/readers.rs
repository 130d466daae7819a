// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code that experiments with sequential readers share.

use anyhow::ensure;
use huepage::units::Bytes;

use crate::{
    arch::Arch,
    boot::Disk,
    experiment::PAGE,
    settings::{Point, Settings},
};

/// How many of the named settings do not have their first value.
pub fn others(settings: &Settings, point: &Point, names: &[&str]) -> usize {
    names.iter().filter(|name| point.text(name) != settings.values(name)[0]).count()
}

/// The kernel option that keeps a processor awake: while it sleeps, the emulator's time
/// jumps from timer to timer, and reads that wait for the host would time out.
pub fn awake(arch: Arch) -> &'static str {
    match arch {
        Arch::X86_64 => "idle=poll",
        Arch::Arm64 => "nohlt",
    }
}

/// The settings `readers`, `read_ahead` and `segments`.
pub fn checked(point: &Point) -> anyhow::Result<(u64, Bytes, u32)> {
    let readers: u64 = point.parsed("readers")?;
    let read_ahead: Bytes = point.parsed("read_ahead")?;
    let segments: u32 = point.parsed("segments")?;
    ensure!((1..=128).contains(&readers), "setting readers={readers}: 1 to 128");
    ensure!(
        read_ahead.0 >= PAGE && read_ahead.0.is_multiple_of(PAGE),
        "setting read_ahead={read_ahead}: whole pages of 4 KiB"
    );
    ensure!(
        segments == 1 || Disk::can_limit(segments),
        "setting segments={segments}: 1, or 2 less than a power of two, such as 14 or 62"
    );
    Ok((readers, read_ahead, segments))
}
