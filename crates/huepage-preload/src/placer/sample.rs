// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether placed pages have the colors that the table records.

use std::ops::Range;

use huepage::{
    color::{Color, Method},
    place::Wish,
    with_causes,
};

use huepage_loaded::{pages::address, session::Stop, tally::SAMPLE};

use super::Placer;

impl Placer<'_> {
    /// Checks some placed pages: each gets another frame of its color, and its old
    /// frame is classified in the stock.
    pub(super) fn sample(&mut self, areas: &[Range<usize>]) -> Result<(), Stop> {
        if self.oracle.method() == Method::FrameNumber || self.config.restless {
            return Ok(());
        }
        let size = rustix::param::page_size();
        let mut drawn: Vec<(usize, Color)> =
            (0..SAMPLE).filter_map(|_| self.table.draw(&mut self.rng)).collect();
        drawn.sort_unstable();
        drawn.dedup();
        for area in areas {
            let inside = |(page, _): &&(usize, Color)| area.contains(&(page * size));
            let wishes: Vec<Wish> = drawn
                .iter()
                .filter(inside)
                .filter(|(page, _)| !self.kernel_data.is_in(page * size))
                .map(|&(page, color)| Wish { page: address(page), color })
                .collect();
            if !wishes.is_empty() {
                self.stock_up(&wishes, wishes.len())?;
                self.exchange(area, wishes, true)?;
            }
        }
        let (mut wrong, mut looked) = (0, 0);
        for old in self.live.tell_kept(&mut *self.oracle).map_err(|e| with_causes(&e))? {
            let Some(was) = old.was else { continue };
            looked += 1;
            wrong += usize::from(was != old.placed);
            self.tally.verify(was == old.placed);
        }
        // More than single wrong answers: the host or the kernel has exchanged the
        // frames.
        if wrong * 4 > looked {
            self.tally.report.drifted += self.table.placed() as u64;
            self.table.clear();
        }
        Ok(())
    }
}
