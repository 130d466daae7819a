// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kernel's accounts of a CPU's time, and of this program's time on it.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// CPU time of this thread, or of this process.
pub fn cpu_time(clock: ClockId) -> Duration {
    clock_gettime(clock).try_into().expect("CPU time is not negative")
}

/// Ticks of one CPU since boot, as `proc_stat(5)` has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    pub all: u64,
    /// Nothing to do, or waiting for a disk.
    pub idle: u64,
    pub stolen: u64,
}

impl Ticks {
    /// The ticks of a CPU in the text of `/proc/stat`: user, nice, system, idle,
    /// iowait, irq, softirq, steal; the time of guests is in user and nice already.
    /// `None` for a CPU that does not exist, or a kernel that does not count them.
    pub fn of(stat: &str, cpu: u32) -> Option<Self> {
        let name = format!("cpu{cpu}");
        let line = stat.lines().find(|line| line.split(' ').next() == Some(&name))?;
        let fields = line.split_whitespace().skip(1).take(8);
        let fields: Vec<u64> = fields.map(str::parse).collect::<Result<_, _>>().ok()?;
        let stolen = *fields.get(7)?;
        Some(Ticks { all: fields.iter().sum(), idle: fields[3] + fields[4], stolen })
    }

    /// The ticks from an earlier moment to this one; a CPU that went offline and came
    /// back starts at zero.
    pub fn since(self, before: Ticks) -> Ticks {
        Ticks {
            all: self.all.saturating_sub(before.all),
            idle: self.idle.saturating_sub(before.idle),
            stolen: self.stolen.saturating_sub(before.stolen),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  10 0 10 100 0 0 0 9 0 0\n\
                        cpu1 1 2 3 40 5 6 7 8 9 9\n\
                        cpu10 1 1 1 1 1 1 1 1 0 0\n\
                        intr 5 5 5\n";

    #[test]
    fn steal_is_the_eighth_figure_of_the_cpu_and_idle_the_fourth_and_fifth() {
        assert_eq!(Ticks::of(STAT, 1), Some(Ticks { all: 72, idle: 45, stolen: 8 }));
        assert_eq!(Ticks::of(STAT, 10), Some(Ticks { all: 8, idle: 2, stolen: 1 }));
        for (text, cpu) in [(STAT, 0), (STAT, 2), ("", 1), ("cpu1 1 2 3\n", 1), ("cpu1 x\n", 1)] {
            assert_eq!(Ticks::of(text, cpu), None, "{text} {cpu}");
        }
    }
}
