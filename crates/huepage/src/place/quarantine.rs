// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages that were being discarded when an exchange ended. Pure: no system
//! calls here.

use std::collections::BTreeMap;

use super::exchange::Discards;
use crate::mapping::PageAddr;

/// Address ranges, by their start, disjoint.
#[derive(Debug, Default)]
pub(super) struct Quarantine {
    ranges: BTreeMap<usize, usize>,
    /// Where the next review goes on.
    next: usize,
}

/// Pages looked at in one review: a fraction of a millisecond.
const LOOKS: usize = 1024;

impl Quarantine {
    /// Notes which pages of `[start, end)` were being discarded: all of them if that is
    /// not known.
    pub fn add(&mut self, discards: &Discards, start: PageAddr, end: PageAddr) {
        match discards.noted() {
            Some(ranges) => ranges.for_each(|(start, end)| self.insert(start.get(), end.get())),
            None => self.insert(start.get(), end.get()),
        }
    }

    fn insert(&mut self, start: usize, end: usize) {
        let (mut start, mut end) = (start, end);
        // Ranges that it touches are merged with it.
        while let Some((&s, &e)) = self.ranges.range(..=end).next_back()
            && e >= start
        {
            self.ranges.remove(&s);
            start = start.min(s);
            end = end.max(e);
        }
        if start < end {
            self.ranges.insert(start, end);
        }
    }

    fn remove(&mut self, start: usize, end: usize) {
        while let Some((&s, &e)) = self.ranges.range(..end).next_back()
            && e > start
        {
            self.ranges.remove(&s);
            if s < start {
                self.ranges.insert(s, start);
            }
            if e > end {
                self.ranges.insert(end, e);
            }
        }
    }

    /// Whether the page may be being discarded.
    pub fn may_hold(&self, page: PageAddr) -> bool {
        let before = self.ranges.range(..=page.get()).next_back();
        before.is_some_and(|(_, &end)| page.get() < end)
    }

    /// Releases pages that are missing now. Looks at a part of them each time.
    pub fn review(&mut self, missing: impl Fn(PageAddr) -> bool) {
        let size = rustix::param::page_size();
        let mut looks = LOOKS;
        for _ in 0..self.ranges.len() {
            let found = self.ranges.range(self.next..).next().or(self.ranges.iter().next());
            let Some((&start, &end)) = found else { return };
            // A range that one review does not finish is continued in the middle by the
            // next.
            let from = self.next.clamp(start, end);
            let from = if from == end { start } else { from };
            let mut page = from;
            let mut gone = None;
            while page < end && looks > 0 {
                match (missing(PageAddr::at(page)), gone) {
                    (true, None) => gone = Some(page),
                    (false, Some(first)) => {
                        self.remove(first, page);
                        gone = None;
                    }
                    _ => {}
                }
                page += size;
                looks -= 1;
            }
            if let Some(first) = gone {
                self.remove(first, page);
            }
            self.next = page;
            if looks == 0 {
                return;
            }
        }
    }

    #[cfg(test)]
    fn pages(&self) -> usize {
        let bytes: usize = self.ranges.iter().map(|(start, end)| end - start).sum();
        bytes / rustix::param::page_size()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a plain set of pages.
        #[test]
        fn pages_stay_until_they_are_seen_missing(
            steps in proptest::collection::vec((0usize..40, 0usize..8, any::<bool>(), any::<u64>()), 1..40)
        ) {
            let mut quarantine = Quarantine::default();
            let mut twin = BTreeSet::new();
            let size = rustix::param::page_size();
            for (start, len, review, missing) in steps {
                if review {
                    let is_missing = |n: usize| missing >> (n % 64) & 1 == 1;
                    // Twice: the first may begin in the middle.
                    for _ in 0..2 {
                        quarantine.review(|page| is_missing(page.number()));
                    }
                    twin.retain(|&n| !is_missing(n));
                } else {
                    quarantine.insert(start * size, (start + len) * size);
                    twin.extend(start..start + len);
                }
                for n in 0..50 {
                    let may_hold = quarantine.may_hold(PageAddr::numbered(n));
                    prop_assert_eq!(may_hold, twin.contains(&n), "page {}", n);
                }
                prop_assert_eq!(quarantine.pages(), twin.len());
            }
        }
    }
}
