// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bin hopping on the real kernel: colors in the order of first touch.

use std::{io::Read, os::fd::AsFd};

use huepage::{
    color::{Color, ColorCount},
    mapping::{Mapping, PageKind, page_size},
    place::{PlaceError, Policy, Pool, Region},
    units::Bytes,
};

const COLORS: u32 = 5;

fn bytes(pages: usize) -> Bytes {
    Bytes(pages as u64 * page_size().0)
}

fn pool(pages: usize) -> Pool {
    let mapping = Mapping::populated(pages, PageKind::Base).unwrap();
    let labels: Vec<_> = (0..pages).map(|i| Some(Color(i as u32 % COLORS))).collect();
    Pool::from_parts(mapping, &labels, ColorCount::new(COLORS).unwrap(), None).unwrap()
}

/// `None` with the reason printed where first touches cannot be followed.
fn sequence(pool: &mut Pool, pages: usize) -> Option<Region> {
    match pool.allocate(bytes(pages), &Policy::Sequence) {
        Err(PlaceError::NeedsPrivilege { reason, .. } | PlaceError::NeedsMove { reason, .. }) => {
            eprintln!("skipped: {reason}");
            None
        }
        region => Some(region.unwrap()),
    }
}

fn touch(region: &mut Region, page: usize) {
    region.as_mut_slice()[page * page_size().0 as usize] = page as u8 + 1;
}

#[test]
fn colors_follow_the_order_of_touch_not_of_address() {
    let mut pool = pool(40);
    let Some(mut region) = sequence(&mut pool, 20) else { return };
    let order = [7, 3, 19, 0, 11, 4, 5, 18];
    assert_eq!(region.color(7), None);
    for &page in &order {
        touch(&mut region, page);
    }
    for (turn, &page) in order.iter().enumerate() {
        assert_eq!(region.color(page), Some(Color(turn as u32 % COLORS)), "page {page}");
    }
    assert_eq!(region.color(6), None);
    assert_eq!(region.uncolored(), 0);
    for page in 0..20 {
        touch(&mut region, page);
    }
    let mut seen = [0; COLORS as usize];
    (0..20).for_each(|page| seen[region.color(page).unwrap().index()] += 1);
    assert_eq!(seen, [4; COLORS as usize]);
    assert_eq!(pool.pages(), 20);
    pool.give_back(region).unwrap();
    assert_eq!(pool.pages(), 40);
}

#[test]
fn a_system_call_is_a_first_touch_as_any_other() {
    let mut pool = pool(20);
    let Some(mut region) = sequence(&mut pool, 10) else { return };
    let len = region.len();
    std::fs::File::open("/dev/zero").unwrap().read_exact(region.as_mut_slice()).unwrap();
    for page in 0..10 {
        assert_eq!(region.color(page), Some(Color(page as u32 % COLORS)));
    }
    let (reader, writer) = std::io::pipe().unwrap();
    // Reading a page for a write is a touch too.
    let Some(other) = sequence(&mut pool, 4) else { return };
    let sent = rustix::io::write(writer.as_fd(), &other.as_slice()[..100]).unwrap();
    assert_eq!((sent, other.color(0)), (100, Some(Color(0))));
    drop(reader);
    assert_eq!(region.len(), len);
}

#[test]
fn threads_that_touch_at_once_each_get_one_page() {
    let mut pool = pool(400);
    let Some(mut region) = sequence(&mut pool, 400) else { return };
    let page = page_size().0 as usize;
    std::thread::scope(|scope| {
        // Neighbours share pages: two threads often wait for the same one.
        for part in region.as_mut_slice().chunks_mut(page / 2 * 25) {
            scope.spawn(move || part.iter_mut().step_by(page / 2).for_each(|byte| *byte += 1));
        }
    });
    assert!(region.as_slice().iter().step_by(page / 2).all(|&byte| byte == 1));
    let mut seen = [0; COLORS as usize];
    (0..400).for_each(|page| seen[region.color(page).unwrap().index()] += 1);
    assert_eq!(seen, [80; COLORS as usize]);
    assert_eq!(region.uncolored(), 0);
}

#[test]
fn settling_returns_the_waiting_pages_and_leaves_memory_usable() {
    let mut pool = pool(20);
    let Some(mut region) = sequence(&mut pool, 20) else { return };
    touch(&mut region, 2);
    touch(&mut region, 9);
    assert_eq!(pool.pages(), 0);
    pool.settle(&mut region).unwrap();
    assert_eq!(pool.pages(), 18);
    touch(&mut region, 3);
    assert_eq!((region.color(2), region.color(9)), (Some(Color(0)), Some(Color(1))));
    assert_eq!(region.color(3), None);
    assert_eq!(region.as_slice()[9 * page_size().0 as usize], 10);
    pool.give_back(region).unwrap();
    assert_eq!(pool.pages(), 20);
}

#[test]
fn a_region_outlives_its_pool_and_goes_quietly() {
    let mut pool = pool(20);
    let Some(mut region) = sequence(&mut pool, 10) else { return };
    drop(pool);
    for page in 0..10 {
        touch(&mut region, page);
        assert_eq!(region.color(page), Some(Color(page as u32 % COLORS)));
    }
    drop(region);
}
