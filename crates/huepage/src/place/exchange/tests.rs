// SPDX-License-Identifier: MIT OR Apache-2.0
//! A kernel that fails at chosen calls, under a program that writes, forks,
//! discards and touches in between. No byte may be lost.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proptest::prelude::*;

use super::*;

const LIVE: usize = 100;
const POOL: usize = 200;
const PAGES: usize = 6;

fn page(n: usize) -> PageAddr {
    PageAddr::numbered(n)
}

fn number(page: PageAddr) -> usize {
    page.number()
}

/// Every live page, each with a page of the pool to replace it.
fn swaps() -> Vec<Swap> {
    let swap = |i| Swap { live: page(LIVE + i), fresh: page(POOL + i), outcome: Outcome::Pending };
    (0..PAGES).map(swap).collect()
}

/// What happens right before a system call.
#[derive(Clone, Copy, Debug)]
enum Act {
    Nothing,
    /// The call fails.
    Fail(Errno),
    /// A thread writes to a live page.
    Write(usize),
    Fork,
    /// Forks, and the child forks before its holes are filled.
    ForkTwice,
    /// A thread discards a live page.
    Discard(usize),
    /// A thread unmaps a live page.
    Unmap(usize),
    /// A thread moves a live page to an address where none was.
    Remap(usize),
    /// A thread moves a live page to where another one has just unmapped its own.
    Reuse(usize),
}

/// Between the addresses that a page is moved to.
const FAR: usize = 1000;

/// Which live page has this address, wherever it was moved to.
fn index(at: usize) -> usize {
    (at - LIVE) % FAR
}

type Pages = BTreeMap<usize, u64>;

/// A child: what it has, and what it should read.
#[derive(Clone, Debug)]
struct Child {
    pages: Pages,
    expected: [u64; PAGES],
    forks: usize,
    poisoned: Vec<usize>,
}

enum Pending {
    Fault(usize),
    Fork(usize),
    Discard(usize),
    Unmap,
    Remap(usize, usize),
}

struct Model {
    script: VecDeque<Act>,
    pages: Pages,
    expected: [u64; PAGES],
    children: Vec<Child>,
    pending: VecDeque<Pending>,
    waiting: Vec<(usize, u64)>,
    /// Where the live pages are.
    places: [usize; PAGES],
    /// Where nothing is mapped any more.
    unmapped: BTreeSet<usize>,
    /// Discards whose message was read: they take effect at some later step.
    zaps: Vec<usize>,
    clock: u64,
    /// The landing slot could not be emptied.
    stuck: bool,
}

impl Model {
    fn new(script: Vec<Act>, touched: [bool; PAGES]) -> Self {
        let mut model = Model {
            script: script.into(),
            pages: Pages::new(),
            expected: [0; PAGES],
            children: Vec::new(),
            pending: VecDeque::new(),
            waiting: Vec::new(),
            places: std::array::from_fn(|i| LIVE + i),
            unmapped: BTreeSet::new(),
            zaps: Vec::new(),
            clock: 1000,
            stuck: false,
        };
        for (i, _) in touched.iter().enumerate().filter(|(_, touched)| **touched) {
            model.expected[i] = i as u64 + 1;
            model.pages.insert(LIVE + i, i as u64 + 1);
        }
        for i in 0..PAGES {
            model.pages.insert(POOL + i, 0);
        }
        model
    }

    /// Lets the program act; the error the call is to return.
    fn step(&mut self) -> Option<Errno> {
        self.clock += 1;
        if self.clock.is_multiple_of(3) {
            self.zap();
        }
        match self.script.pop_front().unwrap_or(Act::Nothing) {
            Act::Nothing => {}
            Act::Fail(errno) => return Some(errno),
            Act::Write(i) => {
                self.clock += 1;
                if !self.unmapped.contains(&self.places[i]) {
                    self.write(self.places[i], self.clock);
                }
            }
            Act::Fork => self.fork(0),
            Act::ForkTwice => self.fork(1),
            Act::Discard(i) => self.pending.push_back(Pending::Discard(LIVE + i)),
            Act::Unmap(i) => {
                let at = self.places[i];
                if self.unmap(at) {
                    self.pages.remove(&at);
                    self.expected[i] = 0;
                    self.pending.push_back(Pending::Unmap);
                }
            }
            // The address of a page that another thread unmapped is used again before
            // the notice of that thread is queued.
            Act::Reuse(i) => {
                if self.remap(i) {
                    self.pending.push_back(Pending::Unmap);
                }
            }
            Act::Remap(i) => {
                self.remap(i);
            }
        }
        None
    }

    /// Whether the page was mapped until now. A thread that waits for it is not served.
    fn unmap(&mut self, at: usize) -> bool {
        self.waiting.retain(|waiting| waiting.0 != at);
        self.unmapped.insert(at)
    }

    /// Moves a page elsewhere, and whether it was mapped until now.
    fn remap(&mut self, i: usize) -> bool {
        let (from, to) = (self.places[i], self.places[i] + FAR);
        let mapped = self.unmap(from);
        if mapped {
            if let Some(bytes) = self.pages.remove(&from) {
                self.pages.insert(to, bytes);
            }
            self.places[i] = to;
            self.pending.push_back(Pending::Remap(from, to));
        }
        mapped
    }

    fn zap(&mut self) {
        for at in std::mem::take(&mut self.zaps) {
            self.pages.remove(&at);
            self.expected[at - LIVE] = 0;
        }
    }

    fn write(&mut self, at: usize, value: u64) {
        if let Some(bytes) = self.pages.get_mut(&at) {
            *bytes = value;
            self.expected[index(at)] = value;
        } else {
            self.waiting.push((at, value));
            self.pending.push_back(Pending::Fault(at));
        }
    }

    fn fork(&mut self, forks: usize) {
        let pages: Pages = self.pages.range(LIVE..LIVE + PAGES).map(|(&at, &v)| (at, v)).collect();
        let mut expected = self.expected;
        // While a page is being discarded, a child may find the page or a hole.
        for &at in self.zaps.iter().filter(|at| !pages.contains_key(at)) {
            expected[at - LIVE] = 0;
        }
        let child = Child { pages, expected, forks, poisoned: Vec::new() };
        self.children.push(child);
        self.pending.push_back(Pending::Fork(self.children.len() - 1));
    }

    /// Fills are refused while a fork or a discard waits for its reader.
    fn held(&self) -> bool {
        self.pending.iter().any(|p| !matches!(p, Pending::Fault(_)))
    }

    fn fill(&mut self, live: PageAddr, value: impl FnOnce(&mut Self) -> u64) -> Option<Errno> {
        if let Some(errno) = self.step() {
            return Some(errno);
        }
        if self.held() {
            return Some(Errno::AGAIN);
        }
        if self.unmapped.contains(&number(live)) {
            return Some(Errno::INVAL);
        }
        if self.pages.contains_key(&number(live)) {
            return Some(Errno::EXIST);
        }
        let value = value(self);
        self.pages.insert(number(live), value);
        self.wake_now(number(live));
        None
    }

    fn wake_now(&mut self, at: usize) {
        let (woken, still): (Vec<_>, _) = self.waiting.drain(..).partition(|w| w.0 == at);
        self.waiting = still;
        for (at, value) in woken {
            self.write(at, value);
        }
    }
}

// SAFETY: no memory is touched at all.
unsafe impl Kernel for Model {
    type Child = usize;

    fn inherited(&mut self, _: PageAddr) -> bool {
        true
    }

    fn take_out(&mut self, slot: PageAddr, live: PageAddr) -> Option<Errno> {
        if let Some(errno) = self.step() {
            return Some(errno);
        }
        assert!(!self.pages.contains_key(&number(slot)), "the landing slot is empty");
        let Some(bytes) = self.pages.remove(&number(live)) else { return Some(Errno::NOENT) };
        self.pages.insert(number(slot), bytes);
        None
    }

    fn copy(&mut self, to: PageAddr, from: PageAddr) {
        let bytes = self.pages[&number(from)];
        *self.pages.get_mut(&number(to)).expect("the fresh page is present") = bytes;
    }

    fn put_in(&mut self, live: PageAddr, slot: PageAddr) -> Option<Errno> {
        self.fill(live, |m| m.pages.remove(&number(slot)).expect("the slot holds a page"))
    }

    fn copy_in(&mut self, live: PageAddr, slot: PageAddr) -> Option<Errno> {
        self.fill(live, |m| m.pages[&number(slot)])
    }

    fn zero_in(&mut self, live: PageAddr) -> Option<Errno> {
        self.fill(live, |_| 0)
    }

    fn wake(&mut self, live: PageAddr) {
        self.wake_now(number(live));
    }

    fn empty(&mut self, slot: PageAddr) -> bool {
        if self.step().is_some() {
            self.stuck = true;
            return false;
        }
        self.pages.remove(&number(slot));
        true
    }

    fn notice(&mut self) -> Option<Notice<usize>> {
        // In the order in which they came; the kernel guarantees no order.
        Some(match self.pending.pop_front()? {
            Pending::Fault(at) => Notice::Fault(page(at)),
            Pending::Fork(child) => Notice::Fork(child),
            Pending::Unmap => Notice::Unmap,
            Pending::Remap(from, to) => Notice::Remap(page(from), page(to), 1),
            Pending::Discard(at) => {
                self.zaps.push(at);
                // A fork that has not returned yet may come after the discard
                // as well as before it.
                for pending in &self.pending {
                    let Pending::Fork(child) = *pending else { continue };
                    let child = &mut self.children[child];
                    if !child.pages.contains_key(&at) {
                        child.expected[at - LIVE] = 0;
                    }
                }
                Notice::Remove(page(at), page(at + 1))
            }
        })
    }

    fn is_changing(&mut self) -> bool {
        self.held()
    }

    fn copy_to_child(&mut self, child: &usize, live: PageAddr, slot: PageAddr) -> Option<Errno> {
        if let Some(errno) = self.step() {
            return Some(errno);
        }
        let bytes = self.pages[&number(slot)];
        let child = &mut self.children[*child];
        if child.forks > 0 {
            return Some(Errno::AGAIN);
        }
        if child.pages.contains_key(&number(live)) {
            return Some(Errno::EXIST);
        }
        child.pages.insert(number(live), bytes);
        None
    }

    fn notice_of_child(&mut self, child: &usize) -> Option<Notice<usize>> {
        if self.children[*child].forks == 0 {
            return None;
        }
        self.children[*child].forks -= 1;
        let grandchild = Child { forks: 0, ..self.children[*child].clone() };
        self.children.push(grandchild);
        Some(Notice::Fork(self.children.len() - 1))
    }

    fn poison_child(&mut self, child: &usize, live: PageAddr) {
        self.children[*child].poisoned.push(number(live));
    }

    fn finish_child(&mut self, child: usize) {
        // Its own children have what it has.
        while self.notice_of_child(&child).is_some() {}
    }

    fn pause(&mut self, _: u32) {}
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => Just(Act::Nothing),
        4 => prop_oneof![
            Just(Errno::AGAIN), Just(Errno::BUSY), Just(Errno::NOMEM), Just(Errno::PERM)
        ].prop_map(Act::Fail),
        3 => (0..PAGES).prop_map(Act::Write),
        2 => Just(Act::Fork),
        1 => Just(Act::ForkTwice),
        1 => (0..PAGES).prop_map(Act::Discard),
    ]
}

fn act_on_mappings() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => Just(Act::Nothing),
        3 => prop_oneof![
            Just(Errno::AGAIN), Just(Errno::BUSY), Just(Errno::NOMEM)
        ].prop_map(Act::Fail),
        3 => (0..PAGES).prop_map(Act::Write),
        1 => (0..PAGES).prop_map(Act::Unmap),
        2 => (0..PAGES).prop_map(Act::Remap),
        2 => (0..PAGES).prop_map(Act::Reuse),
        1 => Just(Act::Fork),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn no_byte_is_lost_whatever_happens(
        script in proptest::collection::vec(act(), 0..60),
        touched in any::<[bool; PAGES]>(),
    ) {
        let mut model = Model::new(script, touched);
        let mut swaps = swaps();
        let mut landing = POOL + PAGES;
        let mut discards = Discards::default();
        let last = exchange(&mut model, &mut swaps, page(landing), &mut discards);
        model.script.clear();
        answer(&mut model, &mut discards);
        model.zap();

        // Callers that note the outcomes have right records.
        for swap in &swaps {
            prop_assert_ne!(swap.outcome, Outcome::Pending);
            let fresh = number(swap.fresh);
            if swap.outcome == Outcome::Placed {
                prop_assert!(model.pages.contains_key(&landing));
                landing = fresh;
            } else {
                prop_assert!(model.pages.contains_key(&fresh), "{:?}", swap.outcome);
            }
        }
        prop_assert_eq!(number(last), landing);
        prop_assert_eq!(model.pages.contains_key(&landing), model.stuck);

        // Every byte is where the program expects it, and no thread waits.
        prop_assert_eq!(&model.waiting, &[]);
        for (i, swap) in swaps.iter().enumerate() {
            let bytes = model.pages.get(&(LIVE + i)).copied().unwrap_or(0);
            prop_assert_eq!(bytes, model.expected[i], "page {} {:?}", i, swap.outcome);
        }
        for child in &model.children {
            for i in 0..PAGES {
                if !child.poisoned.contains(&(LIVE + i)) {
                    let bytes = child.pages.get(&(LIVE + i)).copied().unwrap_or(0);
                    prop_assert_eq!(bytes, child.expected[i], "page {} of a child", i);
                }
            }
        }
    }

    #[test]
    fn bytes_follow_where_the_program_moves_its_pages(
        script in proptest::collection::vec(act_on_mappings(), 0..60),
        touched in any::<[bool; PAGES]>(),
    ) {
        let mut model = Model::new(script, touched);
        let mut discards = Discards::default();
        for i in 0..PAGES {
            // Each page with a slot of its own, as if old frames were not used again.
            let (fresh, landing) = (POOL + i, POOL + PAGES + i);
            let swap =
                Swap { live: page(LIVE + i), fresh: page(fresh), outcome: Outcome::Pending };
            let outcome = one(&mut model, &swap, page(landing), &mut discards);
            answer(&mut model, &mut discards);
            let (left, kept) =
                (!model.pages.contains_key(&fresh), model.pages.contains_key(&landing));
            match outcome {
                Outcome::Placed => prop_assert!(left && kept),
                Outcome::Copied | Outcome::Discarded => prop_assert!(!left && kept),
                _ => prop_assert!(!left && !kept, "{:?}", outcome),
            }
        }
        model.script.clear();
        answer(&mut model, &mut discards);
        prop_assert_eq!(&model.waiting, &[]);
        for (i, at) in model.places.iter().enumerate() {
            let bytes = model.pages.get(at).copied();
            if model.unmapped.contains(at) {
                prop_assert_eq!(bytes, None, "page {} is mapped again", i);
            } else {
                prop_assert_eq!(bytes.unwrap_or(0), model.expected[i], "page {}", i);
            }
        }
        // No page appears at an address that was unmapped.
        prop_assert!(model.unmapped.iter().all(|at| !model.pages.contains_key(at)));
    }

    #[test]
    fn without_trouble_every_touched_page_is_placed(touched in any::<[bool; PAGES]>()) {
        let mut model = Model::new(Vec::new(), touched);
        let mut swaps = swaps();
        exchange(&mut model, &mut swaps, page(POOL + PAGES), &mut Discards::default());
        for (swap, touched) in swaps.iter().zip(touched) {
            let want = if touched { Outcome::Placed } else { Outcome::Absent };
            prop_assert_eq!(swap.outcome, want);
        }
    }
}
