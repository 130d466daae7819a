// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pools with synthetic labels, moved by the real kernel and by a faulty one.

use std::sync::Mutex;

use proptest::prelude::*;

use super::*;
use crate::{
    color::ByRule,
    frames::Pagemap,
    mapping::PageKind,
    place::{Recolored, verify},
    units::Pfn,
};

const MECHANISMS: [Mechanism; 2] = [Mechanism::Userfaultfd, Mechanism::Remap];

fn count(n: u32) -> ColorCount {
    ColorCount::new(n).unwrap()
}

fn bytes(pages: usize) -> Bytes {
    Bytes(pages as u64 * page_size().0)
}

/// A pool of `pages` pages whose labels repeat 0..n in a scattered order, or
/// `None` with the reason printed where the mechanism is missing.
fn pool(pages: usize, n: u32, mechanism: Mechanism) -> Option<Pool> {
    let mapping = Mapping::populated(pages, PageKind::Base).unwrap();
    let mut labels: Vec<_> = (0..pages).map(|i| Some(Color(i as u32 % n))).collect();
    fastrand::Rng::with_seed(7).shuffle(&mut labels);
    match Pool::from_parts(mapping, &labels, count(n), Some(mechanism)) {
        Ok(pool) => Some(pool),
        Err(PlaceError::NeedsMove { reason, .. }) => {
            eprintln!("skipped: {reason}");
            None
        }
        Err(e) => panic!("{e}"),
    }
}

fn frames(pages: impl Iterator<Item = PageAddr>) -> Option<Vec<Pfn>> {
    let pagemap = Pagemap::open().unwrap();
    if !pagemap.frame_numbers_visible().unwrap() {
        eprintln!("frames not compared: hidden without CAP_SYS_ADMIN");
        return None;
    }
    Some(pages.map(|page| pagemap.read(page, 1).unwrap()[0].pfn().unwrap()).collect())
}

#[test]
fn every_policy_gives_the_colors_it_promises_and_keeps_the_frames() {
    for mechanism in MECHANISMS {
        for policy in
            [Policy::Balanced, Policy::Colors(vec![Color(2), Color(5)]), Policy::Random { seed: 3 }]
        {
            let Some(mut pool) = pool(700, 7, mechanism) else { continue };
            assert_eq!(pool.mechanism(), mechanism);
            let labels = pool.slots.pages();
            let color_of = frames(labels.keys().copied())
                .map(|frames| frames.into_iter().zip(labels.values().copied()).collect::<Vec<_>>());
            let mut region = pool.allocate(bytes(150), &policy).unwrap();
            assert_eq!((region.pages(), pool.pages()), (150, 550));
            let want = policy.colors(region.page(0).number(), 150, count(7));
            let got: Vec<_> = (0..150).map(|i| region.color(i).unwrap()).collect();
            assert_eq!(got, want, "{policy:?}");
            if let Some(mut color_of) = color_of {
                color_of.sort();
                let now = frames((0..150).map(|i| region.page(i))).unwrap();
                for (frame, color) in now.iter().zip(want) {
                    let at = color_of.binary_search_by_key(frame, |entry| entry.0);
                    assert_eq!(at.map(|at| color_of[at].1), Ok(color), "{policy:?} {mechanism:?}");
                }
            }
            assert!(region.as_slice().iter().all(|&byte| byte == 0));
            region.as_mut_slice().fill(0xa5);
            pool.give_back(region).unwrap();
            assert_eq!(pool.pages(), 700);
        }
    }
}

#[test]
fn a_region_given_back_comes_out_wiped_with_the_same_colors_and_frames() {
    for mechanism in MECHANISMS {
        let Some(mut pool) = pool(64, 4, mechanism) else { continue };
        let mut seen = Vec::new();
        for round in 0..4u8 {
            let mut region = pool.allocate(bytes(64), &Policy::Balanced).unwrap();
            assert!(region.as_slice().iter().all(|&byte| byte == 0), "round {round}");
            region.as_mut_slice().fill(round + 1);
            let colors = (0..64).map(|i| region.color(i).unwrap());
            let mut now: Option<Vec<_>> = frames((0..64).map(|i| region.page(i)))
                .map(|frames| frames.into_iter().zip(colors).collect());
            if let Some(now) = &mut now {
                now.sort();
            }
            seen.push(now);
            pool.give_back(region).unwrap();
        }
        assert!(seen.iter().all(|s| *s == seen[0]), "{mechanism:?}");
    }
}

#[test]
fn what_the_pool_lacks_is_named_and_nothing_is_taken() {
    let Some(mut pool) = pool(40, 4, Mechanism::Userfaultfd) else { return };
    let error = pool.allocate(bytes(11), &Policy::Colors(vec![Color(3)])).unwrap_err();
    assert!(matches!(error, PlaceError::PoolShort { color: Color(3), wanted: 11, held: 10 }));
    assert!(error.to_string().contains("holds 10 pages of color 3, 11 are needed"));
    assert!(matches!(pool.allocate(Bytes(0), &Policy::Balanced), Err(PlaceError::NoBytes)));
    assert!(matches!(
        pool.allocate(bytes(1), &Policy::Colors(vec![Color(4)])),
        Err(PlaceError::Policy(_))
    ));
    // More than there is memory for planning it.
    for policy in [Policy::Balanced, Policy::Sequence, Policy::Random { seed: 1 }] {
        let error = pool.allocate(Bytes(64 << 40), &policy).unwrap_err();
        let wanted = (64 << 40) / page_size().0 as usize;
        match error {
            PlaceError::PoolTooSmall { wanted: w, held: 40 } => assert_eq!(w, wanted),
            other => panic!("{other}"),
        }
        let built = Pool::build(&mut told(4, |_| None), Bytes(64 << 40), &policy);
        assert!(matches!(built, Err(PlaceError::NotEnoughMemory { .. })), "{built:?}");
    }
    assert_eq!(pool.pages(), 40);
    assert_eq!(pool.allocate(bytes(40), &Policy::Balanced).unwrap().pages(), 40);
}

#[test]
fn colors_of_another_pool_are_refused() {
    let (Some(mut a), Some(mut b)) =
        (pool(8, 2, Mechanism::Userfaultfd), pool(8, 2, Mechanism::Userfaultfd))
    else {
        return;
    };
    let mut region = a.allocate(bytes(4), &Policy::Balanced).unwrap();
    region.as_mut_slice().fill(9);
    let not = b.give_back(region).unwrap_err();
    assert!(matches!(not.error, PlaceError::ForeignRegion), "{not}");
    assert!(not.region.as_slice().iter().all(|&byte| byte == 9));
    a.give_back(*not.region).unwrap();
    assert_eq!((a.pages(), b.pages()), (8, 8));
}

#[test]
fn pages_without_a_label_go_back_to_the_kernel() {
    let mapping = Mapping::populated(6, PageKind::Base).unwrap();
    let first = mapping.page(0);
    let labels = [Some(Color(0)), None, Some(Color(1)), None, None, Some(Color(0))];
    let pool = Pool::from_parts(mapping, &labels, count(2), None).unwrap();
    assert_eq!((pool.pages(), pool.pages_of(Color(0)), pool.pages_of(Color(1))), (3, 2, 1));
    let states = Pagemap::open().unwrap().read(first, 6).unwrap();
    let present: Vec<bool> = states.iter().map(|s| s.present()).collect();
    assert_eq!(present, labels.map(|l| l.is_some()));

    let mapping = Mapping::populated(6, PageKind::Base).unwrap();
    assert!(matches!(
        Pool::from_parts(mapping, &labels[..5], count(2), None),
        Err(PlaceError::LabelCount { labels: 5, pages: 6 })
    ));
}

#[test]
fn a_label_of_a_page_that_is_not_there_is_refused() {
    let mapping = Mapping::reserve(6, PageKind::Base).unwrap();
    for i in [0, 1, 4] {
        // SAFETY: the page lies in `mapping`.
        unsafe { mapping.page(i).as_ptr().write_volatile(1) };
    }
    let labels = [0, 1, 0].map(|color| Some(Color(color)));
    let labels = [labels[0], labels[1], None, labels[2], None, None];
    match Pool::from_parts(mapping, &labels, count(2), None) {
        Err(PlaceError::PageMissing { page: 3 }) => {}
        other => panic!("{other:?}"),
    }
}

/// Gives colors by a fixed rule over page numbers.
fn told(n: u32, rule: fn(usize) -> Option<u32>) -> impl ColorOracle {
    ByRule(count(n), move |page: PageAddr| rule(page.number()))
}

#[test]
fn a_built_pool_serves_its_region_and_holds_at_most_a_tenth_more() {
    // Scattered over 8 colors; every 50th page has none.
    let scatter = |n: usize| {
        let hash = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        (!hash.is_multiple_of(50)).then_some((hash % 8) as u32)
    };
    for policy in [
        Policy::Balanced,
        Policy::Sequence,
        Policy::Colors(vec![Color(1), Color(6)]),
        Policy::Random { seed: 11 },
    ] {
        let pages = 1001;
        let mut pool = Pool::build(&mut told(8, scatter), bytes(pages), &policy).unwrap();
        assert!(pool.pages() >= pages, "{policy:?}");
        if !matches!(policy, Policy::Random { .. }) {
            assert!(pool.pages() <= pages + pages / 10, "{policy:?}: {}", pool.pages());
        }
        for (slot, color) in pool.slots.pages() {
            assert_eq!(Some(color.0), scatter(slot.number()));
        }
        if policy != Policy::Sequence {
            let region = pool.allocate(bytes(pages), &policy).unwrap();
            assert_eq!(region.pages(), pages);
        }
    }
}

#[test]
fn colors_that_do_not_exist_end_the_drawing() {
    let mut three_of_four = told(4, |n| Some((n % 3) as u32));
    match Pool::build(&mut three_of_four, bytes(64), &Policy::Balanced) {
        Err(PlaceError::ColorsNotDrawn { missing, drawn }) => {
            assert_eq!(missing, [Color(3)]);
            assert!((64..64 * 64).contains(&drawn), "{drawn}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn reclassifying_notes_changes_and_releases_what_cannot_be_told() {
    let mapping = Mapping::populated(9, PageKind::Base).unwrap();
    let number = mapping.page(0).number();
    let labels: Vec<_> = (0..9).map(|i| Some(Color(((number + i) % 3).min(1) as u32))).collect();
    let mut pool = Pool::from_parts(mapping, &labels, count(3), None).unwrap();
    let mut oracle = told(3, |n| (!n.is_multiple_of(3)).then_some((n % 3) as u32));
    let found = pool.reclassify(&mut oracle).unwrap();
    assert_eq!(found, Reclassified { same: 3, changed: 3, released: 3 });
    let held: Vec<_> = count(3).iter().map(|color| pool.pages_of(color)).collect();
    assert_eq!(held, [0, 3, 3]);
}

#[test]
fn moving_by_userfaultfd_adds_no_mapping_beside_the_region() {
    let Some(mut pool) = pool(4096, 16, Mechanism::Userfaultfd) else { return };
    // Other tests map memory meanwhile: far fewer mappings than pages moved.
    let before = super::super::remap::mappings().unwrap();
    let region = pool
        .allocate(bytes(4000), &Policy::Random { seed: 5 })
        .or_else(|_| pool.allocate(bytes(4000), &Policy::Balanced));
    let after = super::super::remap::mappings().unwrap();
    assert!(after < before + 1000, "{before} mappings, then {after}");
    drop(region);
}

#[test]
fn the_limit_of_mappings_is_reported_before_it_is_hit() {
    let limit: usize =
        std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap().trim().parse().unwrap();
    let pages = limit / 8 * 5;
    if pages > 100_000 {
        eprintln!("skipped: vm.max_map_count is {limit}, too many pages to try");
        return;
    }
    let mut pool = pool(pages, 16, Mechanism::Remap).unwrap();
    let before = super::super::remap::mappings().unwrap();
    match pool.allocate(bytes(pages - 15), &Policy::Balanced) {
        Err(PlaceError::MappingLimit { needed, limit: reported, .. }) => {
            assert_eq!(reported, limit);
            assert!(needed > limit / 2);
        }
        other => panic!("{:?}", other.map(|region| region.len())),
    }
    assert_eq!(pool.pages(), pages);
    assert!(super::super::remap::mappings().unwrap() < before + 100);
}

#[test]
fn a_repair_that_fails_does_not_forget_which_colors_were_wanted() {
    // The kernel has exchanged every frame, and the pool has none left.
    let mut moved_on = told(4, |n| Some(((n + 1) % 4) as u32));
    let mut as_placed = told(4, |n| Some((n % 4) as u32));
    let Some(mut pool) = pool(64, 4, Mechanism::Userfaultfd) else { return };
    let mut region = pool.allocate(bytes(64), &Policy::Balanced).unwrap();
    for _ in 0..2 {
        let report = pool.repair(&mut region, &mut moved_on).unwrap();
        assert_eq!(report, Recolored { short: 64, ..Recolored::default() });
        let drift = verify(&region, &mut moved_on, 64, 1).unwrap();
        assert_eq!((drift.same, drift.changed), (0, 64));
    }
    let wanted = region.page(0).number() % 4;
    assert_eq!(region.wanted(0), Some(Color(wanted as u32)));
    assert_eq!(region.color(0), Some(Color((wanted as u32 + 1) % 4)));
    // Pages have their colors again, so none has to be exchanged.
    assert_eq!(pool.repair(&mut region, &mut as_placed).unwrap().already, 64);
    assert_eq!(region.color(0), region.wanted(0));
}

/// Pages are exchanged by the thousand; the second thousand meets an error.
#[test]
fn an_error_after_pages_were_moved_comes_with_what_was_done() {
    const PAGES: usize = 2048;
    let mut as_placed = told(2, |n| Some((n % 2) as u32));
    let mut moved_on = told(2, |n| Some(((n + 1) % 2) as u32));
    let Some(mut pool) = pool(2 * PAGES, 2, Mechanism::Userfaultfd) else { return };
    let mut region = pool.allocate(bytes(PAGES), &Policy::Balanced).unwrap();
    let held = pool.pages();
    let inner = mechanism::open(Some(Mechanism::Userfaultfd)).unwrap();
    let (script, allowed) = (Mutex::default(), Some(Mutex::new(1)));
    pool.mover = Arc::new(Faulty { inner, script, allowed });
    match pool.repair(&mut region, &mut moved_on) {
        Err(PlaceError::Interrupted { report, source }) => {
            assert_eq!((report.placed, report.left), (1024, PAGES - 1024), "{report:?}");
            assert!(matches!(*source, PlaceError::MappingLimit { .. }), "{source}");
        }
        other => panic!("{other:?}"),
    }
    // One frame for another, and what was placed is noted.
    assert_eq!(pool.pages(), held);
    assert_eq!(region.color(0), region.wanted(0));
    assert_ne!(region.color(PAGES - 1), region.wanted(PAGES - 1));
    // Before anything is moved it is the error alone.
    let error = pool.repair(&mut region, &mut moved_on).unwrap_err();
    assert!(matches!(error, PlaceError::MappingLimit { .. }), "{error}");
    assert_eq!(pool.repair(&mut region, &mut as_placed).unwrap().already, PAGES);
}

/// Passes moves on to the kernel, except where the script says otherwise.
#[derive(Debug)]
struct Faulty {
    inner: Box<dyn Mover>,
    script: Mutex<Vec<Fault>>,
    /// How often moves are allowed, if not as often as the kernel allows them.
    allowed: Option<Mutex<usize>>,
}

#[derive(Clone, Copy, Debug)]
enum Fault {
    None,
    /// Half of the run is moved, then the call is told to try again.
    Partial,
    Again,
    Busy,
    NoMemory,
}

impl Mover for Faulty {
    fn mechanism(&self) -> Mechanism {
        self.inner.mechanism()
    }

    unsafe fn open(&self, start: PageAddr, pages: usize) -> Result<(), PlaceError> {
        // SAFETY: passed on.
        unsafe { self.inner.open(start, pages) }
    }

    fn close(&self, start: PageAddr, pages: usize) {
        self.inner.close(start, pages);
    }

    fn allow(&self, needed: usize) -> Result<(), PlaceError> {
        let Some(allowed) = &self.allowed else { return self.inner.allow(needed) };
        let mut left = allowed.lock().unwrap();
        let limit = || PlaceError::MappingLimit { present: 0, needed, limit: 0 };
        *left = left.checked_sub(1).ok_or_else(limit)?;
        Ok(())
    }

    unsafe fn move_run(&self, dst: PageAddr, src: PageAddr, pages: usize) -> Progress {
        let stop = |errno| Progress { pages: 0, stop: Some(errno) };
        match self.script.lock().unwrap().pop().unwrap_or(Fault::None) {
            // SAFETY: passed on.
            Fault::None => unsafe { self.inner.move_run(dst, src, pages) },
            Fault::Partial if pages > 1 => {
                // SAFETY: passed on, a part of the run.
                let done = unsafe { self.inner.move_run(dst, src, pages / 2) };
                Progress { stop: done.stop.or(Some(Errno::AGAIN)), ..done }
            }
            Fault::Partial | Fault::Again => stop(Errno::AGAIN),
            Fault::Busy => stop(Errno::BUSY),
            Fault::NoMemory => stop(Errno::NOMEM),
        }
    }
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        3 => Just(Fault::None),
        2 => Just(Fault::Partial),
        1 => Just(Fault::Again),
        1 => Just(Fault::Busy),
        1 => Just(Fault::NoMemory),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever errors a move meets, a region that is returned has the colors asked
    /// for, and the pool's record matches what is really in its slots.
    #[test]
    fn failing_moves_leave_true_books(
        mechanism in prop_oneof![Just(Mechanism::Userfaultfd), Just(Mechanism::Remap)],
        script in proptest::collection::vec(fault(), 0..40),
        rounds in 1usize..4,
    ) {
        let Some(mut pool) = pool(48, 3, mechanism) else { return Ok(()) };
        let inner = mechanism::open(Some(mechanism)).unwrap();
        pool.mover = Arc::new(Faulty { inner, script: Mutex::new(script), allowed: None });
        for _ in 0..rounds {
            let pages = 24.min(3 * count(3).iter().map(|c| pool.pages_of(c)).min().unwrap());
            if pages == 0 { break; }
            if let Ok(mut region) = pool.allocate(bytes(pages), &Policy::Balanced) {
                prop_assert!(region.as_slice().iter().all(|&byte| byte == 0));
                region.as_mut_slice().fill(1);
                pool.give_back(region).unwrap();
            }
            let pagemap = Pagemap::open().unwrap();
            let held = pool.slots.pages();
            prop_assert_eq!(held.len(), pool.pages());
            prop_assert_eq!(held.len() + pool.slots.empty(), 48);
            for page in pool.arenas[0].mapping().iter() {
                let present = pagemap.read(page, 1).unwrap()[0].present();
                prop_assert_eq!(present, held.contains_key(&page));
            }
        }
    }
}
