// SPDX-License-Identifier: MIT OR Apache-2.0
//! The use of the CPU's time: stolen by the hypervisor, and used by this program.

use std::{
    fs,
    time::{Duration, Instant},
};

use rustix::time::ClockId;

use crate::cpu_ticks::{Ticks, cpu_time};

/// All clocks at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Clocks {
    at: Instant,
    own: Duration,
    stat: Option<Ticks>,
}

/// The time between two moments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spent {
    pub elapsed: Duration,
    /// Share of it that this program ran.
    pub own: f64,
    /// Share of the CPU's time that the hypervisor gave to others; `None` if the kernel
    /// does not count it.
    pub stolen: Option<f64>,
}

/// The time that this program ran, since its start.
pub fn own() -> Duration {
    cpu_time(ClockId::ProcessCPUTime)
}

impl Clocks {
    /// Reads them.
    pub fn read(cpu: u32) -> Self {
        let stat = fs::read_to_string("/proc/stat").ok();
        let stat = stat.and_then(|text| Ticks::of(&text, cpu));
        Clocks { at: Instant::now(), own: own(), stat }
    }

    /// The time from this moment to a later one.
    pub fn until(&self, later: &Clocks) -> Spent {
        let elapsed = later.at - self.at;
        let ran = later.own.saturating_sub(self.own);
        let stolen = self.stat.zip(later.stat).and_then(|(before, after)| {
            let ticks = after.since(before);
            (ticks.all > 0).then(|| ticks.stolen as f64 / ticks.all as f64)
        });
        Spent { elapsed, own: ran.as_secs_f64() / elapsed.as_secs_f64().max(1e-9), stolen }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_time_between() {
        let at = Instant::now();
        let clocks = |seconds, own, stat| Clocks {
            at: at + Duration::from_secs(seconds),
            own: Duration::from_millis(own),
            stat,
        };
        let before = clocks(0, 100, Some(Ticks { all: 1000, idle: 0, stolen: 10 }));
        let after = clocks(2, 120, Some(Ticks { all: 1200, idle: 0, stolen: 60 }));
        let spent = before.until(&after);
        assert_eq!((spent.elapsed, spent.stolen), (Duration::from_secs(2), Some(0.25)));
        assert!((spent.own - 0.01).abs() < 1e-12, "{spent:?}");
        assert_eq!(before.until(&clocks(2, 120, None)).stolen, None);
        assert_eq!(before.until(&before).stolen, None);
    }
}
