// SPDX-License-Identifier: MIT OR Apache-2.0
//! Looks summed up: over an interval, or over the whole run.

use huepage::color::{ColorCount, Pressure};

use super::shares::Shares;

/// One look.
#[derive(Clone, Debug)]
pub struct Look(pub Pressure);

impl Look {
    /// Whether the thread lost its CPU meanwhile: the wait ends within a
    /// microsecond of its time, and an interrupt takes some tens of them.
    pub fn is_interrupted(&self) -> bool {
        self.0.waited > Pressure::WAIT * 3 / 2
    }
}

/// Many looks.
#[derive(Clone, Debug)]
pub struct Tally {
    pub sum: Pressure,
    pub interrupted: u64,
    /// Of each look.
    pub shares: Shares,
    /// Of each look that was not interrupted.
    pub uninterrupted: Shares,
}

impl Tally {
    /// No look yet.
    pub fn none(colors: ColorCount) -> Self {
        Tally {
            sum: Pressure::none(colors),
            interrupted: 0,
            shares: Shares::default(),
            uninterrupted: Shares::default(),
        }
    }

    /// Counts one more look.
    pub fn add(&mut self, look: &Look) {
        self.sum += &look.0;
        self.interrupted += u64::from(look.is_interrupted());
        // A look of which every sample was disturbed has no share.
        if let Some(share) = look.0.share() {
            self.shares.add(share);
            if !look.is_interrupted() {
                self.uninterrupted.add(share);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{super::sample::look, *};

    #[test]
    fn a_look_that_lost_its_cpu_counts_apart() {
        let mut tally = Tally::none(ColorCount::new(2).unwrap());
        tally.add(&look(&[0, 0], Duration::from_micros(301)));
        tally.add(&look(&[10, 10], Duration::from_millis(4)));
        assert_eq!((tally.sum.looks, tally.sum.quiet_looks, tally.interrupted), (2, 1, 1));
        assert_eq!(tally.shares.mean(), Some(0.5));
        assert_eq!(tally.uninterrupted.mean(), Some(0.0));
    }

    #[test]
    fn a_look_that_saw_nothing_has_no_share() {
        let colors = ColorCount::new(2).unwrap();
        let mut tally = Tally::none(colors);
        let mut blind = Pressure::none(colors);
        (blind.looks, blind.waited) = (1, Pressure::WAIT);
        tally.add(&Look(blind));
        assert_eq!((tally.sum.looks, tally.sum.quiet_looks), (1, 0));
        assert_eq!(tally.shares.mean(), None);
    }
}
