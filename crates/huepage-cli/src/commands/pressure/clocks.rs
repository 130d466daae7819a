// SPDX-License-Identifier: MIT OR Apache-2.0
//! What became of the CPU's time: taken by the hypervisor, and by this program.

use std::{
    fs,
    time::{Duration, Instant},
};

use rustix::time::{ClockId, clock_gettime};

/// All clocks at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Clocks {
    at: Instant,
    own: Duration,
    stat: Option<Ticks>,
}

/// Ticks of one CPU since boot, as `proc_stat(5)` has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ticks {
    all: u64,
    stolen: u64,
}

/// The time between two moments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spent {
    pub elapsed: Duration,
    /// Share of it that this program ran.
    pub own: f64,
    /// Share of the CPU's time that the hypervisor gave to others; `None` where
    /// the kernel does not tell.
    pub stolen: Option<f64>,
}

impl Clocks {
    /// Reads them.
    pub fn read(cpu: u32) -> Self {
        let stat = fs::read_to_string("/proc/stat").ok();
        let stat = stat.and_then(|text| ticks(&text, cpu));
        Clocks { at: Instant::now(), own: own(), stat }
    }

    /// From this moment to a later one.
    pub fn until(&self, later: &Clocks) -> Spent {
        let elapsed = later.at - self.at;
        let ran = later.own.saturating_sub(self.own);
        let stolen = self.stat.zip(later.stat).and_then(|(before, after)| {
            // A CPU that went offline and came back begins anew.
            let all = after.all.checked_sub(before.all).filter(|&all| all > 0)?;
            Some(after.stolen.saturating_sub(before.stolen) as f64 / all as f64)
        });
        Spent { elapsed, own: ran.as_secs_f64() / elapsed.as_secs_f64().max(1e-9), stolen }
    }
}

/// The time that this program ran, since its start.
pub fn own() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// user, nice, system, idle, iowait, irq, softirq, steal; what guests took is in
/// user and nice already.
fn ticks(stat: &str, cpu: u32) -> Option<Ticks> {
    let name = format!("cpu{cpu}");
    let line = stat.lines().find(|line| line.split(' ').next() == Some(&name))?;
    let fields = line.split_whitespace().skip(1).take(8);
    let fields: Vec<u64> = fields.map(str::parse).collect::<Result<_, _>>().ok()?;
    Some(Ticks { all: fields.iter().sum(), stolen: *fields.get(7)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  10 0 10 100 0 0 0 9 0 0\n\
                        cpu1 1 2 3 40 5 6 7 8 9 9\n\
                        cpu10 1 1 1 1 1 1 1 1 0 0\n\
                        intr 5 5 5\n";

    #[test]
    fn steal_is_the_eighth_figure_of_the_cpu() {
        assert_eq!(ticks(STAT, 1), Some(Ticks { all: 72, stolen: 8 }));
        assert_eq!(ticks(STAT, 10), Some(Ticks { all: 8, stolen: 1 }));
        for (text, cpu) in [(STAT, 0), (STAT, 2), ("", 1), ("cpu1 1 2 3\n", 1), ("cpu1 x\n", 1)] {
            assert_eq!(ticks(text, cpu), None, "{text} {cpu}");
        }
    }

    #[test]
    fn shares_are_of_the_time_between() {
        let at = Instant::now();
        let clocks = |seconds, own, stat| Clocks {
            at: at + Duration::from_secs(seconds),
            own: Duration::from_millis(own),
            stat,
        };
        let before = clocks(0, 100, Some(Ticks { all: 1000, stolen: 10 }));
        let after = clocks(2, 120, Some(Ticks { all: 1200, stolen: 60 }));
        let spent = before.until(&after);
        assert_eq!((spent.elapsed, spent.stolen), (Duration::from_secs(2), Some(0.25)));
        assert!((spent.own - 0.01).abs() < 1e-12, "{spent:?}");
        assert_eq!(before.until(&clocks(2, 120, None)).stolen, None);
        assert_eq!(before.until(&before).stolen, None);
    }
}
