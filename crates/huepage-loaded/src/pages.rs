// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages by their numbers, and how many are worth placing. Pure: no system calls here.

use std::ptr;

use huepage::{
    color::ColorCount,
    mapping::{PageAddr, page_size},
    place::Wish,
    run::Config,
};

/// A program of fewer pages than this part of the cache is not placed, since its pages
/// fit the cache in any placement.
const PART: usize = 8;

/// The page with a number.
pub fn address(page: usize) -> PageAddr {
    let address = page * rustix::param::page_size();
    PageAddr::containing(ptr::with_exposed_provenance::<u8>(address))
}

/// The number of a page.
pub fn number(page: PageAddr) -> usize {
    page.get() / rustix::param::page_size()
}

/// Pages that the cache holds.
pub fn of_cache(config: &Config) -> usize {
    (config.geometry.colors(page_size()).get() * config.geometry.ways()) as usize
}

/// The number of pages from which placing is worth it: one for programs that use a part
/// of the cache, since even a small program must not use the rest.
pub fn worth_it(config: &Config) -> usize {
    if config.colors.is_none() && !config.restless { of_cache(config) / PART } else { 1 }
}

/// How many frames of each color the wishes need.
pub fn of_each_color(wishes: &[Wish], count: ColorCount) -> Vec<usize> {
    let mut needed = vec![0; count.get() as usize];
    wishes.iter().for_each(|wish| needed[wish.color.index()] += 1);
    needed
}
