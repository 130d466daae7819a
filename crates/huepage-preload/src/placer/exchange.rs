// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exchanging some pages: drawing frames for them, and recording the outcomes.

use std::ops::Range;

use huepage::{
    color::Color,
    place::{Fate, Live, PlaceError, Wish},
    with_causes,
};

use huepage_loaded::{
    pages::{address, number, of_each_color},
    session::Stop,
    thread::sleep,
};

use super::Placer;
use crate::mutexes;

/// Frames drawn and classified at a time. Classifying takes some 17 ms, however few
/// pages it is about, and 2 µs for each.
const DRAWN: Range<usize> = 128..1024;
/// Frames in stock at most, in addition to two per cent of the program's pages.
const STOCK: usize = 1536;

impl Placer<'_> {
    /// Exchanges pages that have been recorded in the table; those that are not placed
    /// are removed from it.
    pub(super) fn exchange(
        &mut self,
        area: &Range<usize>,
        mut wishes: Vec<Wish>,
        keep: bool,
    ) -> Result<(), Stop> {
        let page_number = |wish: &Wish| number(wish.page);
        let all: Vec<usize> = wishes.iter().map(page_number).collect();
        mutexes::announce(&mut wishes, |wish| wish.page.get());
        let size = rustix::param::page_size();
        let (start, pages) = (address(area.start / size), area.len() / size);
        // SAFETY: this thread has a table of descriptors of its own; the range
        // is without memory of this library and what it needs (`Areas`); pages
        // that the kernel updates at exit were left out (`KernelData`).
        let fates = unsafe { self.live.exchange(start, pages, &wishes, keep) };
        mutexes::done();
        let fates = match fates {
            Ok(fates) => fates,
            Err(error) if error.is_about_the_range() => vec![Fate::Refused; wishes.len()],
            Err(error @ PlaceError::NeedsPrivilege { .. }) => {
                return Err(format!("the program gave up a privilege: {}", with_causes(&error)));
            }
            Err(error) => return Err(with_causes(&error)),
        };
        let left = &mut self.tally.report.left_alone;
        left.kernel_data += (all.len() - wishes.len()) as u64;
        let mut placed = Vec::with_capacity(wishes.len());
        for (wish, fate) in wishes.iter().zip(fates) {
            match fate {
                Fate::Placed => placed.push(page_number(wish)),
                Fate::Busy => left.busy += 1,
                Fate::Refused => left.refused += 1,
                Fate::Absent | Fate::Copied | Fate::Discarded | Fate::Short => {}
            }
        }
        self.tally.report.moves += placed.len() as u64;
        for page in all {
            match placed.binary_search(&page) {
                // Another frame, which is recorded when it is seen.
                Ok(_) => self.table.renew(page),
                Err(_) => self.table.forget(page),
            }
        }
        Ok(())
    }

    /// Classifies the old frames that were kept, if there are at least `enough`.
    pub(super) fn tell(&mut self, enough: usize) -> Result<(), Stop> {
        if self.live.kept() > 0 && self.live.kept() >= enough {
            let count = self.oracle.count();
            let told = self.live.tell_kept(&mut *self.oracle).map_err(|e| with_causes(&e))?;
            self.tally.old_frames(&told, self.table.window(), count, self.config.geometry.ways());
        }
        Ok(())
    }

    /// Draws frames until each wish finds one, or the stock is full.
    pub(super) fn stock_up(&mut self, wishes: &[Wish], ahead: usize) -> Result<(), Stop> {
        let limit = STOCK + self.table.placed() / 50;
        let needed = of_each_color(wishes, self.oracle.count());
        let short = |live: &Live| {
            let counts = (0..).zip(&needed);
            counts.map(|(c, &n)| n.saturating_sub(live.stock(Color(c)))).sum::<usize>()
        };
        while short(&self.live) > 0 {
            // Colors come at random, so some more frames than needed are drawn.
            let draw = (2 * ahead).next_power_of_two().clamp(DRAWN.start, DRAWN.end);
            if self.live.held() + draw > limit {
                self.tell(1)?;
                // Surplus frames of other colors. Until now they were kept, so that the
                // kernel did not give the same frames again.
                for color in self.oracle.count().iter() {
                    let (stock, needed) = (self.live.stock(color), needed[color.index()]);
                    self.live.release(color, self.table.surplus(color, stock, needed));
                }
                if self.live.held() + draw > limit {
                    return Ok(());
                }
            }
            let drawn = self.live.draw(draw, &mut *self.oracle).map_err(|e| with_causes(&e))?;
            self.tally.report.frames_drawn += drawn as u64;
            if drawn == 0 || sleep(self.due()) {
                return Ok(());
            }
        }
        Ok(())
    }
}
