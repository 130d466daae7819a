// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages by their numbers, and how many are worth placing. Pure: no system calls here.

use std::ptr;

use huepage::{
    color::ColorCount,
    mapping::{PageAddr, page_size},
    place::Wish,
    run::Config,
};

/// A program of fewer pages than this part of the cache is not placed: its pages
/// find room however they lie.
const PART: usize = 8;

/// The page of a number.
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

/// So many pages are worth placing. Programs that use a part of the cache must not use
/// the rest, however small they are.
pub fn worth_it(config: &Config) -> usize {
    if config.colors.is_none() && !config.restless { of_cache(config) / PART } else { 1 }
}

/// How many frames of each color are wished for.
pub fn of_each_color(wishes: &[Wish], count: ColorCount) -> Vec<usize> {
    let mut needed = vec![0; count.get() as usize];
    wishes.iter().for_each(|wish| needed[wish.color.index()] += 1);
    needed
}
