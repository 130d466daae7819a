// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much of a cache others use: how many lines they evict within a moment.

use std::{ops::AddAssign, time::Duration};

use super::ColorCount;

/// Lines of one color that were held in the cache, and how many of them others had
/// evicted in the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Held {
    /// Lines looked at.
    pub lines: u64,
    /// Lines that were gone.
    pub evicted: u64,
}

impl Held {
    /// The share of the lines that was evicted; `None` if no line was looked at.
    pub fn share(self) -> Option<f64> {
        (self.lines > 0).then(|| self.evicted as f64 / self.lines as f64)
    }
}

impl AddAssign for Held {
    fn add_assign(&mut self, other: Held) {
        self.lines += other.lines;
        self.evicted += other.evicted;
    }
}

/// What others evicted from the cache within some moments.
///
/// In each look, lines of known colors that fill about seven eighths of their cache
/// sets are read, left alone for a fraction of a millisecond, and timed: lines that
/// take as long as a miss were evicted by programs that run on another hyperthread of
/// the core or that ran on this CPU meanwhile. A neighbor that brings in fewer lines
/// than the free eighth of a set holds is not seen.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Pressure {
    /// How long the lines were left alone, in the mean.
    pub waited: Duration,
    /// Looks that are summed up here.
    pub looks: u64,
    /// Looks after which no more lines were gone than on a quiet machine.
    pub quiet_looks: u64,
    /// The lines of each color, by its index.
    pub colors: Vec<Held>,
}

impl Pressure {
    /// How long lines are left alone in a look by default: long enough to see a
    /// neighbor that streams, and a tenth of a visit of a benchmark. A longer wait
    /// shows slower neighbors.
    pub const WAIT: Duration = Duration::from_micros(300);

    /// No look yet at a cache of so many colors.
    pub fn none(count: ColorCount) -> Self {
        Pressure {
            waited: Duration::ZERO,
            looks: 0,
            quiet_looks: 0,
            colors: vec![Held::default(); count.get() as usize],
        }
    }

    /// All lines together.
    pub fn held(&self) -> Held {
        let mut all = Held::default();
        self.colors.iter().for_each(|&held| all += held);
        all
    }

    /// The share of the lines that others evicted, of all colors together;
    /// `None` before the first look.
    pub fn share(&self) -> Option<f64> {
        self.held().share()
    }

    /// Whether every look was a quiet one, and there was one.
    pub fn is_quiet(&self) -> bool {
        self.looks > 0 && self.quiet_looks == self.looks
    }
}

impl AddAssign<&Pressure> for Pressure {
    /// Sums up looks at the same cache.
    fn add_assign(&mut self, other: &Pressure) {
        let nanos = |of: &Pressure| of.waited.as_nanos() * u128::from(of.looks);
        let total = nanos(self) + nanos(other);
        self.looks += other.looks;
        self.quiet_looks += other.quiet_looks;
        // A mean is at most the longer of two durations, centuries in 64 bits.
        self.waited = Duration::from_nanos((total / u128::from(self.looks.max(1))) as u64);
        for (held, &more) in self.colors.iter_mut().zip(&other.colors) {
            *held += more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(evicted: [u64; 2], quiet: bool) -> Pressure {
        Pressure {
            waited: Pressure::WAIT,
            looks: 1,
            quiet_looks: u64::from(quiet),
            colors: evicted.map(|evicted| Held { lines: 10, evicted }).to_vec(),
        }
    }

    #[test]
    fn looks_sum_up_by_color() {
        let mut sum = Pressure::none(ColorCount::new(2).unwrap());
        assert_eq!((sum.share(), sum.is_quiet()), (None, false));
        sum += &look([0, 0], true);
        assert_eq!((sum.share(), sum.is_quiet()), (Some(0.0), true));
        sum += &look([10, 0], false);
        assert_eq!((sum.share(), sum.is_quiet()), (Some(0.25), false));
        assert_eq!([0, 1].map(|c| sum.colors[c].share()), [Some(0.5), Some(0.0)]);
        assert_eq!((sum.looks, sum.quiet_looks, sum.waited.as_micros()), (2, 1, 300));
    }

    /// Ten looks a second at some hundred lines pass 32 bits within two weeks.
    #[test]
    fn more_looks_than_32_bits_count_sum_up() {
        let mut sum = look([3_000_000_000, 0], false);
        sum.looks = 3_000_000_000;
        for held in &mut sum.colors {
            held.lines = 3_000_000_000;
        }
        let once = sum.clone();
        sum += &once;
        assert_eq!((sum.looks, sum.waited.as_micros()), (6_000_000_000, 300));
        assert_eq!(sum.held(), Held { lines: 12_000_000_000, evicted: 6_000_000_000 });
        assert_eq!(sum.share(), Some(0.5));
    }
}
