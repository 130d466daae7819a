// SPDX-License-Identifier: MIT OR Apache-2.0
//! Colored memory as a program uses it, with colors by a rule.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use super::*;
use crate::{
    color::{ByRule, Color, ColorCount},
    mapping::{PageAddr, page_size},
    place::{PlaceError, Policy},
    units::Bytes,
};

const COLORS: u32 = 4;

fn page_len() -> usize {
    page_size().0 as usize
}

/// The color is the number of the page, shifted by as much as the kernel has
/// "moved" all frames.
fn opened(policy: Policy) -> (Result<Huepage, ColoredError>, Arc<AtomicUsize>) {
    let moved = Arc::new(AtomicUsize::new(0));
    let shift = Arc::clone(&moved);
    let color = move |page: PageAddr| page.number() + shift.load(Ordering::Relaxed);
    let oracle =
        ByRule(ColorCount::new(COLORS).unwrap(), move |page| Some(color(page) as u32 % COLORS));
    (Huepage::builder().oracle(oracle).policy(policy).open(), moved)
}

fn open() -> (Huepage, Arc<AtomicUsize>) {
    let (huepage, moved) = opened(Policy::Balanced);
    (huepage.unwrap(), moved)
}

#[test]
fn a_placed_slice_is_default_typed_and_its_pages_come_back() {
    let (huepage, _) = open();
    let mut seen = Vec::new();
    for round in 0..3 {
        let mut numbers = huepage.vec::<f64>(5000).unwrap();
        assert_eq!((numbers.len(), numbers.colors().len()), (5000, 10));
        assert!(numbers.iter().all(|number| *number == 0.0), "round {round}");
        numbers.fill(1.5);
        assert_eq!((&numbers).into_iter().sum::<f64>(), 7500.0);
        let first = numbers.as_ptr().addr() / page_len();
        let want: Vec<_> = (0..10).map(|i| Some(Color(((first + i) as u32) % COLORS))).collect();
        assert_eq!(numbers.colors(), want);
        drop(numbers);
        seen.push(huepage.pages());
    }
    // The pool of the first round served all of them.
    assert!(seen[0] >= 10 && seen.iter().all(|pages| *pages == seen[0]), "{seen:?}");
}

#[test]
fn threads_share_the_way_in_and_what_it_gave() {
    let (huepage, _) = open();
    let sums: Vec<u64> = std::thread::scope(|scope| {
        let sum = |n: u64| {
            let huepage = &huepage;
            scope.spawn(move || {
                let mut numbers = huepage.vec::<u64>(3000).unwrap();
                numbers.fill(n);
                std::thread::spawn(move || numbers.iter().sum()).join().unwrap()
            })
        };
        let threads: Vec<_> = (1..5).map(sum).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(sums, [3000, 6000, 9000, 12_000]);
    // All pages drawn are in the pool again.
    assert!(huepage.pages() >= 6);
}

#[test]
fn elements_are_made_and_dropped_once() {
    static ALIVE: AtomicUsize = AtomicUsize::new(0);
    #[derive(Debug)]
    struct Counted(#[expect(dead_code)] [u64; 3]);
    impl Default for Counted {
        fn default() -> Self {
            assert!(ALIVE.fetch_add(1, Ordering::Relaxed) < 500, "no more than that");
            Counted([0; 3])
        }
    }
    impl Drop for Counted {
        fn drop(&mut self) {
            ALIVE.fetch_sub(1, Ordering::Relaxed);
        }
    }
    let (huepage, _) = open();
    let some = huepage.vec::<Counted>(400).unwrap();
    assert_eq!(ALIVE.load(Ordering::Relaxed), 400);
    // Elements that were made before a panic are dropped too.
    let panicked = std::panic::catch_unwind(|| huepage.vec::<Counted>(400).map(drop));
    assert!(panicked.is_err());
    assert_eq!(ALIVE.load(Ordering::Relaxed), 399 + 2);
    drop(some);
    assert_eq!(ALIVE.load(Ordering::Relaxed), 1);
}

#[test]
fn nothing_and_too_much_are_asked_for() {
    let (huepage, _) = open();
    assert!(huepage.vec::<u64>(0).unwrap().is_empty());
    assert_eq!(huepage.vec::<()>(7).unwrap().len(), 7);
    let error = huepage.vec::<u64>(usize::MAX).unwrap_err();
    assert!(matches!(error, ColoredError::TooMany { elements: usize::MAX, size: 8 }), "{error}");
    let error = huepage.vec::<u8>(64 << 40).unwrap_err();
    assert!(matches!(error, ColoredError::Place(PlaceError::NotEnoughMemory { .. })), "{error}");
    let error = opened(Policy::Colors(vec![Color(COLORS)])).0.unwrap_err();
    assert!(matches!(error, ColoredError::Place(PlaceError::Policy(_))), "{error}");
}

#[test]
fn memory_in_a_part_of_the_cache_has_its_colors_only() {
    let (huepage, _) = open();
    let parts = huepage.partition().split(&[1, 3]).unwrap();
    let small = huepage.vec_in::<u8>(&parts[0], 5 * page_len()).unwrap();
    let rest = huepage.vec_in::<u8>(&parts[1], 9 * page_len()).unwrap();
    assert_eq!(small.colors(), vec![Some(Color(0)); 5]);
    assert!(rest.colors().iter().flatten().all(|color| color.0 > 0));
    assert_eq!(rest.colors().len(), 9);
}

#[test]
fn what_was_moved_is_found_and_put_right() {
    let (huepage, moved) = open();
    // As much again is in the pool.
    huepage.draw(Bytes(32 * page_size().0)).unwrap();
    let mut bytes = huepage.vec::<u8>(16 * page_len()).unwrap();
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = index as u8;
    }
    let all_in_place = bytes.reverify().unwrap();
    assert_eq!((all_in_place.already, all_in_place.placed), (16, 0));
    moved.store(1, Ordering::Relaxed);
    assert!(huepage.reverify().unwrap().changed > 0);
    let repaired = bytes.reverify().unwrap();
    assert_eq!((repaired.already, repaired.placed), (0, 16), "{repaired:?}");
    assert!(bytes.iter().enumerate().all(|(index, byte)| *byte == index as u8));
}

#[test]
fn the_colors_of_any_slice_can_be_asked_for() {
    let (huepage, _) = open();
    let heap = vec![1u16; 3 * page_len() / 2];
    let first = heap.as_ptr().addr() / page_len();
    let last = (heap.as_ptr().addr() + 3 * page_len() - 1) / page_len();
    let colors = huepage.colors_of(&heap).unwrap();
    assert_eq!(colors.len(), last - first + 1);
    assert_eq!(colors[1], Some(Color((first + 1) as u32 % COLORS)));
    let inner = huepage.colors_of(&heap[1..2]).unwrap();
    assert_eq!(inner.len(), 1);
    assert!(huepage.colors_of::<u8>(&[]).unwrap().is_empty());
}

#[test]
fn collections_grow_shrink_and_give_back() {
    let (huepage, _) = open();
    huepage.draw(Bytes(64 * page_size().0)).unwrap();
    let held = huepage.pages();
    {
        let mut numbers = allocator_api2::vec::Vec::new_in(huepage.clone());
        numbers.extend(0..20_000u64);
        assert_eq!(numbers.as_ptr().addr() % page_len(), 0);
        assert!(numbers.iter().copied().eq(0..20_000));
        numbers.truncate(10);
        numbers.shrink_to_fit();
        assert!(numbers.iter().copied().eq(0..10));
        let boxed = allocator_api2::boxed::Box::new_in([7u8; 100], huepage.clone());
        assert_eq!(boxed[99], 7);
        let empty = allocator_api2::boxed::Box::new_in((), huepage.clone());
        drop((boxed, empty));
    }
    assert_eq!(huepage.pages(), held);
}
