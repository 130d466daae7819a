// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a process did while it was read.

use std::{collections::HashSet, fs::File};

use super::{
    Change,
    process::{Identity, Since},
};
use crate::proc::{self, AreaLine};

/// What the process did since `identity` was taken.
pub(super) fn changes(identity: &Identity, lines: &[AreaLine], gone: bool) -> Vec<Change> {
    match identity.since() {
        Since::Exited => return vec![Change::Exited],
        Since::Executed => return vec![Change::Executed],
        Since::Same if gone => return vec![Change::Executed],
        Since::Same => {}
    }
    let Ok(now) = File::open(format!("/proc/{}/maps", identity.pid())).and_then(proc::areas) else {
        return Vec::new();
    };
    let bounds = |lines: &[AreaLine]| -> HashSet<(u64, u64)> {
        lines.iter().map(|line| (line.start, line.end)).collect()
    };
    let (before, after) = (bounds(lines), bounds(&now));
    let (gone, new) = (before.difference(&after).count(), after.difference(&before).count());
    if gone + new == 0 {
        return Vec::new();
    }
    vec![Change::Remapped { gone: gone as u64, new: new as u64 }]
}
