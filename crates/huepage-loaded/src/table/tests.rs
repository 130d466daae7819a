// SPDX-License-Identifier: MIT OR Apache-2.0
use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

const WAYS: u32 = 4;

fn table(colors: u32, order: Order) -> Table {
    Table::new(order, (0..colors).map(|color| Color(2 * color)).collect(), WAYS)
}

/// The largest difference between two colors in one window.
fn uneven(table: &Table, pages: &BTreeSet<usize>) -> usize {
    let windows: BTreeSet<usize> = pages.iter().map(|page| page / table.window()).collect();
    let spread = |window: usize| {
        let counts = table.counts(window * table.window());
        counts.iter().max().unwrap() - counts.iter().min().unwrap()
    };
    windows.into_iter().map(spread).max().unwrap_or(0)
}

proptest! {
    #[test]
    fn every_window_gets_every_color_equally_often_whatever_pages_are_there(
        colors in 1u32..12,
        pages in proptest::collection::btree_set(0usize..300, 0..200),
    ) {
        let mut table = table(colors, Order::Balanced);
        // In two parts, as a program grows.
        let pages: Vec<usize> = pages.into_iter().collect();
        let (first, second): (Vec<usize>, Vec<usize>) = pages.iter().partition(|p| *p % 3 == 0);
        for part in [first, second] {
            for (page, color) in part.iter().zip(table.wish(&part, |_| None)) {
                prop_assert_eq!(table.color(*page), Some(color));
                prop_assert!(table.uses(color));
            }
        }
        prop_assert_eq!(table.placed(), pages.len());
        prop_assert!(uneven(&table, &pages.into_iter().collect()) <= 1);
    }

    #[test]
    fn what_goes_is_evened_out_by_what_stays(
        colors in 1u32..12,
        pages in proptest::collection::btree_set(0usize..300, 0..200),
        gone in proptest::collection::btree_set(0usize..300, 0..200),
    ) {
        let mut table = table(colors, Order::Balanced);
        let all: Vec<usize> = pages.iter().copied().collect();
        table.wish(&all, |_| None);
        table.keep(0, 300, |page| !gone.contains(&page));
        let left: BTreeSet<usize> = pages.difference(&gone).copied().collect();
        prop_assert_eq!(table.placed(), left.len());
        table.even_out(0, 300);
        let again: Vec<usize> =
            left.iter().copied().filter(|&page| table.color(page).is_none()).collect();
        table.wish(&again, |_| None);
        prop_assert_eq!(table.placed(), left.len());
        prop_assert!(uneven(&table, &left) <= 1);
    }
}

#[test]
fn a_page_keeps_the_color_it_has_where_that_is_as_good() {
    let mut table = table(4, Order::Balanced);
    // All have one color: the first page keeps it, the others get missing colors.
    let wished = table.wish(&[0, 1, 2, 3], |_| Some(Color(6)));
    assert_eq!(wished[0], Color(6));
    assert_eq!(wished.iter().collect::<BTreeSet<_>>().len(), 4, "{wished:?}");
    // A color that may not be used is never kept.
    assert!(table.wish(&[5], |_| Some(Color(1)))[0] != Color(1));
}

#[test]
fn in_sequence_the_next_page_gets_the_next_color() {
    let mut table = table(3, Order::Sequence);
    assert_eq!(table.wish(&[7, 90, 200, 4], |_| None), [0, 2, 4, 0].map(Color));
}

#[test]
fn another_frame_is_noticed_and_a_hidden_one_is_not() {
    let mut table = table(3, Order::Balanced);
    table.wish(&[7], |_| None);
    assert!(!table.other_frame(7, Some(1 << 33 | 5)), "noted for the first time");
    assert!(!table.other_frame(7, Some(1 << 33 | 5)));
    assert!(!table.other_frame(7, None));
    assert!(table.other_frame(7, Some(6)));
    assert!(!table.other_frame(8, Some(6)), "not placed");
}

#[test]
fn a_drawn_page_is_a_placed_one() {
    let mut table = table(3, Order::Balanced);
    let mut rng = fastrand::Rng::with_seed(1);
    assert_eq!(table.draw(&mut rng), None);
    table.wish(&[7, 50, 51], |_| None);
    let drawn: BTreeSet<usize> = (0..100).map(|_| table.draw(&mut rng).unwrap().0).collect();
    assert_eq!(drawn, [7, 50, 51].into());
    table.clear();
    assert_eq!((table.draw(&mut rng), table.placed()), (None, 0));
}
