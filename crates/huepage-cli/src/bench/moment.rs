// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of CPU and cache around a slice, measured without its result.

use std::{
    fs::File,
    hint::black_box,
    os::unix::fs::FileExt,
    time::{Duration, Instant},
};

use rustix::time::ClockId;
use serde::Serialize;

use crate::cpu_ticks::{Ticks, cpu_time};

/// Measurements around one slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Moment {
    /// Nanoseconds by the wall clock.
    pub elapsed: u64,
    /// Nanoseconds that the thread had the CPU.
    pub cpu: u64,
    /// How often the scheduler took the CPU away from it.
    pub switches: u64,
    /// Hundredths of a second that the hypervisor took from the CPU during the visit; 0
    /// if the kernel does not count it.
    pub steal: u64,
    /// Nanoseconds of a fixed loop of arithmetic, the longer of just before and just
    /// after: more if the clock rate is lower or another hyperthread computes.
    pub arithmetic: u64,
    /// Share of held cache lines that others evicted just before and just after the
    /// visit; null if it cannot be measured.
    pub evicted: Option<f64>,
    /// Whether both looks saw no more than on a quiet machine; null if it cannot be
    /// measured.
    pub cache_quiet: Option<bool>,
}

/// If arithmetic is slower by this factor than in the run's quick moments, the clock
/// rate has changed: processors change it in steps of about this size.
const SLOWER: f64 = 1.05;
/// A slice that had its CPU for less of its time than this was interrupted.
pub const WHOLE: f64 = 0.99;
/// The unit of `/proc/stat`, on all architectures: a single one is too much for any
/// slice, and little for a program of seconds.
pub const TICK: Duration = Duration::from_millis(10);

impl Moment {
    /// Whether the CPU was taken away, by another program or the hypervisor.
    pub fn lost_cpu(&self) -> bool {
        let elapsed = self.elapsed as f64;
        let stolen = self.steal as f64 * TICK.as_nanos() as f64;
        self.switches > 0 || stolen > (1.0 - WHOLE) * elapsed || (self.cpu as f64) < WHOLE * elapsed
    }

    /// Whether the CPU computed as fast as in quick moments of the same run,
    /// whose loop took `quick` nanoseconds.
    pub fn full_speed(&self, quick: f64) -> bool {
        self.arithmetic as f64 <= SLOWER * quick
    }

    /// Whether others used the cache; false if that is not known.
    pub fn cache_shared(&self) -> bool {
        self.cache_quiet == Some(false)
    }

    /// Whether no other program used the CPU, the cache, or a part of the clock rate.
    pub fn is_quiet(&self, quick: f64) -> bool {
        !self.lost_cpu() && !self.cache_shared() && self.full_speed(quick)
    }
}

/// Reads the clocks of the thread and of its CPU.
pub struct Clocks {
    stat: Option<File>,
    cpu: u32,
}

/// The thread's clocks at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    at: Instant,
    cpu: Duration,
    switches: u64,
}

impl Clocks {
    /// The clocks of the calling thread on a CPU.
    pub fn of(cpu: u32) -> Self {
        Clocks { stat: File::open("/proc/stat").ok(), cpu }
    }

    /// The thread's clocks now. The wall clock is read last, so that the time for
    /// reading the other clocks is not part of the interval that begins here.
    pub fn read(&self) -> Reading {
        let switches = switches();
        let cpu = cpu_time(ClockId::ThreadCPUTime);
        Reading { at: Instant::now(), cpu, switches }
    }

    /// The time since an earlier reading.
    pub fn since(&self, before: Reading) -> Moment {
        let elapsed = before.at.elapsed();
        let now = self.read();
        Moment {
            elapsed: elapsed.as_nanos() as u64,
            cpu: (now.cpu - before.cpu).as_nanos() as u64,
            switches: now.switches - before.switches,
            ..Moment::default()
        }
    }

    /// Time stolen from the CPU since the machine started, in hundredths of a second;
    /// `None` if the kernel does not count it.
    pub fn steal(&self) -> Option<u64> {
        Some(self.ticks()?.stolen)
    }

    /// The CPU's time since the machine started, by use; `None` if the kernel does not
    /// count it.
    pub fn ticks(&self) -> Option<Ticks> {
        let mut text = vec![0; 1 << 16];
        let length = self.stat.as_ref()?.read_at(&mut text, 0).ok()?;
        Ticks::of(&String::from_utf8_lossy(&text[..length]), self.cpu)
    }
}

/// Involuntary context switches of the calling thread.
fn switches() -> u64 {
    // SAFETY: all fields of the structure are integers, for which zero is valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a structure of the type asked for.
    let done = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) };
    if done == 0 { usage.ru_nivcsw as u64 } else { 0 }
}

/// Nanoseconds for a fixed chain of multiplications: some ten microseconds.
pub fn arithmetic() -> u64 {
    let begin = Instant::now();
    let mut value = black_box(1u64);
    for _ in 0..8192 {
        value = black_box(value.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    }
    black_box(value);
    begin.elapsed().as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet() -> Moment {
        Moment {
            elapsed: 1000,
            cpu: 995,
            arithmetic: 100,
            evicted: Some(0.0),
            cache_quiet: Some(true),
            ..Moment::default()
        }
    }

    #[test]
    fn any_sign_of_others_makes_a_moment_unquiet() {
        assert!(quiet().is_quiet(100.0));
        assert!(Moment { cache_quiet: None, ..quiet() }.is_quiet(100.0));
        for moment in [
            Moment { switches: 1, ..quiet() },
            Moment { steal: 1, ..quiet() },
            Moment { cpu: 980, ..quiet() },
            Moment { arithmetic: 106, ..quiet() },
            Moment { cache_quiet: Some(false), ..quiet() },
        ] {
            assert!(!moment.is_quiet(100.0), "{moment:?}");
        }
    }

    #[test]
    fn a_tick_of_steal_is_little_for_a_program_of_seconds() {
        let second = Moment { elapsed: 1_000_000_000, cpu: 999_000_000, ..quiet() };
        assert!(Moment { steal: 1, ..second }.is_quiet(100.0));
        assert!(!Moment { steal: 2, ..second }.is_quiet(100.0));
    }

    #[test]
    fn the_clocks_of_a_busy_thread_go_on() {
        let clocks = Clocks::of(0);
        let before = clocks.read();
        let took = arithmetic();
        let moment = clocks.since(before);
        assert!(took > 0 && moment.elapsed >= took, "{moment:?} {took}");
        assert!(moment.cpu > 0);
    }
}
