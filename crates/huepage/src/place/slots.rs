// SPDX-License-Identifier: MIT OR Apache-2.0
//! The color of each page of the pool. Pure bookkeeping: no system calls.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    color::{Color, ColorCount},
    mapping::PageAddr,
};

/// Where a pool's pages are. A *slot* is one page of address space that the
/// pool owns; it is empty or holds a page of known color.
///
/// Pages leave lowest address first: a region that was given back in one piece
/// then leaves in one piece again, and adjacent pages move in one system call.
#[derive(Debug)]
pub(super) struct Slots {
    colors: Vec<BTreeSet<PageAddr>>,
    /// Pages that hold old contents. The others are zero.
    dirty: BTreeSet<PageAddr>,
    empty: BTreeSet<PageAddr>,
    held: usize,
}

impl Slots {
    pub fn new(count: ColorCount) -> Self {
        Slots {
            colors: vec![BTreeSet::new(); count.get() as usize],
            dirty: BTreeSet::new(),
            empty: BTreeSet::new(),
            held: 0,
        }
    }

    /// Notes that `slot` holds a page.
    pub fn put(&mut self, slot: PageAddr, color: Color, dirty: bool) {
        self.empty.remove(&slot);
        if self.colors[color.index()].insert(slot) {
            self.held += 1;
        }
        if dirty {
            self.dirty.insert(slot);
        }
    }

    /// Notes that `slot` is the pool's and holds no page.
    pub fn put_empty(&mut self, slot: PageAddr) {
        self.empty.insert(slot);
    }

    /// Removes a page of `color` from the list; returns whether it is dirty.
    pub fn take(&mut self, color: Color) -> Option<(PageAddr, bool)> {
        let slot = self.colors[color.index()].pop_first()?;
        self.held -= 1;
        Some((slot, self.dirty.remove(&slot)))
    }

    /// Takes `pages` empty slots, adjacent where possible; all or none.
    pub fn take_empty(&mut self, pages: usize) -> Option<Vec<PageAddr>> {
        if self.empty.len() < pages {
            return None;
        }
        Some(std::iter::from_fn(|| self.empty.pop_first()).take(pages).collect())
    }

    /// Takes one empty slot.
    pub fn take_one_empty(&mut self) -> Option<PageAddr> {
        self.empty.pop_first()
    }

    pub fn empty(&self) -> usize {
        self.empty.len()
    }

    pub fn held(&self) -> usize {
        self.held
    }

    pub fn held_of(&self, color: Color) -> usize {
        self.colors[color.index()].len()
    }

    /// Every page with its color, ascending by address.
    pub fn pages(&self) -> BTreeMap<PageAddr, Color> {
        (0u32..)
            .zip(&self.colors)
            .flat_map(|(color, slots)| slots.iter().map(move |&slot| (slot, Color(color))))
            .collect()
    }

    /// Removes the page in `slot`, whatever its color; returns whether it is dirty.
    /// `None` if the slot holds none.
    pub fn remove(&mut self, slot: PageAddr, color: Color) -> Option<bool> {
        if !self.colors[color.index()].remove(&slot) {
            return None;
        }
        self.held -= 1;
        Some(self.dirty.remove(&slot))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Put(usize, u32, bool),
        Take(u32),
        TakeEmpty(usize),
        Remove(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0usize..24, 0u32..3, any::<bool>()).prop_map(|(s, c, d)| Step::Put(s, c, d)),
            (0u32..3).prop_map(Step::Take),
            (0usize..4).prop_map(Step::TakeEmpty),
            (0usize..24).prop_map(Step::Remove),
        ]
    }

    proptest! {
        /// Against a twin that is a plain list.
        #[test]
        fn slots_do_what_a_list_does(steps in proptest::collection::vec(step(), 0..80)) {
            let slot = PageAddr::numbered;
            let mut slots = Slots::new(ColorCount::new(3).unwrap());
            let mut full: Vec<(PageAddr, u32, bool)> = Vec::new();
            let mut empty: Vec<PageAddr> = Vec::new();
            for step in steps {
                match step {
                    Step::Put(s, c, dirty) => {
                        if full.iter().any(|f| f.0 == slot(s)) { continue; }
                        slots.put(slot(s), Color(c), dirty);
                        empty.retain(|&e| e != slot(s));
                        full.push((slot(s), c, dirty));
                    }
                    Step::Take(c) => {
                        let first = full.iter().filter(|f| f.1 == c).min().copied();
                        prop_assert_eq!(slots.take(Color(c)), first.map(|f| (f.0, f.2)));
                        if let Some(first) = first {
                            full.retain(|f| *f != first);
                            slots.put_empty(first.0);
                            empty.push(first.0);
                        }
                    }
                    Step::TakeEmpty(n) => {
                        empty.sort();
                        let want = (empty.len() >= n).then(|| empty.drain(..n).collect::<Vec<_>>());
                        prop_assert_eq!(slots.take_empty(n), want);
                    }
                    Step::Remove(s) => {
                        let at = full.iter().position(|f| f.0 == slot(s));
                        let color = at.map_or(0, |at| full[at].1);
                        let dirty = at.map(|at| full.remove(at).2);
                        prop_assert_eq!(slots.remove(slot(s), Color(color)), dirty);
                    }
                }
                prop_assert_eq!(slots.held(), full.len());
                prop_assert_eq!(slots.empty(), empty.len());
                for color in 0..3 {
                    let n = full.iter().filter(|f| f.1 == color).count();
                    prop_assert_eq!(slots.held_of(Color(color)), n);
                }
                let mut want: Vec<_> = full.iter().map(|f| (f.0, Color(f.1))).collect();
                want.sort();
                prop_assert_eq!(slots.pages().into_iter().collect::<Vec<_>>(), want);
            }
        }
    }
}
