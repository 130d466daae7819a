// SPDX-License-Identifier: MIT OR Apache-2.0
//! Detects disturbances by other programs while a program runs, whatever time it took.
//!
//! Context switches do not count here: a program's own threads take turns, and so does
//! the one that places its pages, so placed runs would look less quiet than others. The
//! time that its CPUs gave to other programs counts.

use std::time::{Duration, Instant};

use rustix::time::ClockId;

use crate::{
    bench::moment::{Clocks, Moment, arithmetic},
    cpu_ticks::{Ticks, cpu_time},
};

/// Reads the clocks of the CPUs that a program may run on.
pub struct Watch {
    cpus: Vec<Clocks>,
}

/// The beginning of a run.
pub struct Begun {
    arithmetic: u64,
    own: Duration,
    ticks: Vec<Option<Ticks>>,
    at: Instant,
}

impl Watch {
    /// A watch on these CPUs.
    pub fn of(cpus: &[u32]) -> Self {
        Watch { cpus: cpus.iter().map(|&cpu| Clocks::of(cpu)).collect() }
    }

    /// To be called just before the program is started.
    pub fn begin(&self) -> Begun {
        let arithmetic = arithmetic();
        let ticks = self.cpus.iter().map(Clocks::ticks).collect();
        Begun { arithmetic, own: cpu_time(ClockId::ThreadCPUTime), ticks, at: Instant::now() }
    }

    /// To be called when it has ended; `cpu` is the CPU time that it took.
    pub fn end(&self, begun: Begun, cpu: Duration) -> Moment {
        let elapsed = begun.at.elapsed();
        let own = cpu + (cpu_time(ClockId::ThreadCPUTime) - begun.own);
        let ticks = self.cpus.iter().zip(&begun.ticks);
        let ticks: Vec<Ticks> =
            ticks.filter_map(|(clocks, before)| Some(clocks.ticks()?.since((*before)?))).collect();
        let kept = kept(elapsed, self.cpus.len(), own, ticks.iter().map(|ticks| ticks.idle).sum());
        Moment {
            elapsed: elapsed.as_nanos() as u64,
            cpu: (elapsed.as_nanos() as f64 * kept) as u64,
            switches: 0,
            steal: ticks.iter().map(|ticks| ticks.stolen).sum(),
            arithmetic: begun.arithmetic.max(arithmetic()),
            evicted: None,
            cache_quiet: None,
        }
    }
}

/// The share of the time of `cpus` CPUs that other programs did not use: it was the
/// program's own, or idle. The rest went to others, or to the hypervisor.
fn kept(elapsed: Duration, cpus: usize, own: Duration, idle_ticks: u64) -> f64 {
    use crate::bench::moment::TICK;
    let all = elapsed.as_secs_f64() * cpus as f64;
    // A tick of idle time may have begun before the run.
    let idle = idle_ticks.saturating_sub(1) as f64 * TICK.as_secs_f64();
    ((own.as_secs_f64() + idle) / all.max(1e-9)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_is_neither_the_programs_nor_idle_went_to_others() {
        let seconds = Duration::from_secs_f64;
        assert_eq!(kept(seconds(1.0), 1, seconds(1.0), 0), 1.0);
        assert!((kept(seconds(1.0), 1, seconds(0.7), 0) - 0.7).abs() < 1e-9);
        // It slept for 0.2 s, and one tick more was idle at the edge.
        assert!((kept(seconds(1.0), 1, seconds(0.7), 21) - 0.9).abs() < 1e-9);
        // Two CPUs, of which it used one and the other did nothing.
        assert!((kept(seconds(1.0), 2, seconds(1.0), 101) - 1.0).abs() < 1e-9);
        assert_eq!(kept(seconds(1.0), 1, seconds(1.0), 50), 1.0);
    }

    #[test]
    fn the_clocks_of_a_run_go_on_and_its_time_is_its_own() {
        let watch = Watch::of(&huepage::topology::allowed_cpus().unwrap());
        let begun = watch.begin();
        std::thread::sleep(Duration::from_millis(30));
        // More than all CPUs could do: other programs had no time.
        let moment = watch.end(begun, Duration::from_secs(1000));
        assert!(moment.elapsed >= 30_000_000 && moment.arithmetic > 0, "{moment:?}");
        assert_eq!(moment.cpu, moment.elapsed, "{moment:?}");
        assert_eq!((moment.switches, moment.cache_quiet), (0, None));
    }
}
