// SPDX-License-Identifier: MIT OR Apache-2.0
//! Other frames for each attempt at finding colors.
//!
//! The kernel gives single free pages before it cuts larger blocks. If a program took
//! pages of some colors and gave back the others, which other programs then got, the
//! pages that it leaves behind, hundreds of MiB, have few colors, and no discovery on
//! them finds the rest (seen after a benchmark in a quarter of the cache, beside a
//! compiler). So an attempt that failed keeps its pages until another one succeeds, and
//! the next attempt draws its pages from a stretch four times as large.

use std::{collections::VecDeque, io};

use crate::{
    available_memory,
    mapping::{Mapping, PageAddr, PageKind, page_size},
    units::Bytes,
};

/// Memory held by attempts at most, and at most a quarter of what is available.
const MOST: Bytes = Bytes::mib(2048);
/// How many times as large the stretch of each further attempt is.
const GROWTH: usize = 4;

/// Pages of attempts that failed.
#[derive(Debug, Default)]
pub(super) struct Fresh {
    spent: VecDeque<Mapping>,
    attempts: u32,
}

/// Pages for one attempt, drawn from a mapping.
#[derive(Debug)]
pub(super) struct Drawn {
    mapping: Mapping,
    pages: Vec<PageAddr>,
}

impl Fresh {
    /// `wanted` pages for the next attempt, in random order if they are drawn from
    /// more.
    pub fn draw(&mut self, wanted: usize, rng: &mut fastrand::Rng) -> io::Result<Drawn> {
        let room = Bytes(available_memory().map_or(MOST.0, |bytes| bytes.0 / 4).min(MOST.0));
        let most = room.pages(page_size());
        let stretch = wanted.saturating_mul(GROWTH.saturating_pow(self.attempts));
        let stretch = stretch.min(most).max(wanted);
        // From the largest stretch on, all pages are drawn from as many as there may
        // be.
        while !self.spent.is_empty() && self.held() + stretch > most {
            self.spent.pop_front();
        }
        self.attempts += 1;
        let mapping = Mapping::populated(stretch, PageKind::Base)?;
        let mut pages: Vec<PageAddr> = mapping.iter().collect();
        if stretch > wanted {
            rng.shuffle(&mut pages);
            pages.truncate(wanted);
        }
        Ok(Drawn { mapping, pages })
    }

    /// Keeps the pages of an attempt that failed.
    pub fn keep(&mut self, drawn: Drawn) {
        self.spent.push_back(drawn.mapping);
    }

    fn held(&self) -> usize {
        self.spent.iter().map(Mapping::pages).sum()
    }
}

impl Drawn {
    /// The pages drawn.
    pub fn pages(&self) -> &[PageAddr] {
        &self.pages
    }

    /// Gives all pages back but those drawn, which discovery goes on using.
    pub fn settle(&mut self) {
        if self.pages.len() == self.mapping.pages() {
            return;
        }
        let mut drawn = self.pages.clone();
        drawn.sort_unstable();
        for page in self.mapping.iter().filter(|page| drawn.binary_search(page).is_err()) {
            // SAFETY: the page belongs to our mapping and was not drawn, so it is never
            // read or written. If the kernel refuses, the page stays, which is
            // harmless.
            let _ = unsafe { page.advise(1, rustix::mm::Advice::LinuxDontNeed) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_attempt_has_pages_that_those_before_it_did_not_have() {
        let mut fresh = Fresh::default();
        let mut rng = fastrand::Rng::with_seed(1);
        let mut seen = std::collections::HashSet::new();
        for attempt in 0..3 {
            let drawn = fresh.draw(50, &mut rng).unwrap();
            assert_eq!(drawn.pages().len(), 50);
            assert_eq!(drawn.mapping.pages(), 50 * GROWTH.pow(attempt));
            for page in drawn.pages() {
                assert!(seen.insert(page.get()), "attempt {attempt} has a page again");
            }
            fresh.keep(drawn);
        }
    }

    #[test]
    fn pages_drawn_keep_their_content_when_the_rest_is_given_back() {
        let mut fresh = Fresh { attempts: 1, ..Fresh::default() };
        let mut drawn = fresh.draw(20, &mut fastrand::Rng::with_seed(2)).unwrap();
        assert_eq!(drawn.mapping.pages(), 80);
        for page in drawn.mapping.iter() {
            // SAFETY: a populated, writable page of our mapping.
            unsafe { page.as_ptr().write(7) };
        }
        drawn.settle();
        for page in drawn.mapping.iter() {
            // SAFETY: as above; a page given back reads as zero.
            let byte = unsafe { page.as_ptr().read() };
            assert_eq!(byte, if drawn.pages().contains(&page) { 7 } else { 0 });
        }
    }

    #[test]
    fn what_attempts_hold_is_bounded() {
        let mut fresh = Fresh::default();
        let mut rng = fastrand::Rng::with_seed(3);
        let mut held = Vec::new();
        for _ in 0..6 {
            let drawn = fresh.draw(1024, &mut rng).unwrap();
            fresh.keep(drawn);
            held.push(fresh.held());
        }
        assert!(held.iter().all(|pages| pages * 4096 <= MOST.0 as usize), "{held:?}");
        assert_eq!(held[..3], [1024, 5 * 1024, 21 * 1024]);
    }
}
