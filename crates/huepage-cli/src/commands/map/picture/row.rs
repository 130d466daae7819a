// SPDX-License-Identifier: MIT OR Apache-2.0
//! One row: name, size, cells, balance.

use std::collections::BTreeMap;

use huepage::map::{Area, PageCounts, ProcessMap, RegisteredMemory};

use huepage_present::{
    number::{counted, share},
    svg::{self, Anchor, Svg},
};

use super::{
    super::{
        by::{By, Part},
        in_bytes,
        rows::{Row, main_cache},
    },
    balance, column, paint,
    strip::{self, Strip},
};

/// Space between two rows.
const GAP: f64 = 10.0;

/// All mappings together.
pub fn total(svg: &mut Svg, map: &ProcessMap, by: By, y: f64, height: f64) -> f64 {
    let detail = counted(map.areas.len() as u64, "mapping");
    let pages = &map.total.pages;
    texts(svg, map, y, height, "all mappings", &detail, pages);
    let areas: Vec<&Area> = map.areas.iter().collect();
    bar(svg, map, by, &areas, y, height);
    if let Some((index, cache)) = main_cache(map) {
        let all = &map.total.balances[index];
        balance::balance(svg, y, height - GAP, all, &cache.name, cache.ways);
    }
    y + height + 4.0
}

/// One mapping, cell by cell.
pub fn area(svg: &mut Svg, map: &ProcessMap, by: By, row: &Row<'_>, y: f64, height: f64) -> f64 {
    let Some(&area) = row.areas.first() else { return y };
    let pages = &area.placement.pages;
    let strip = Strip::new(&area.cells, pages.reserved, |cell| by.parts(cell, map));
    let cell = in_bytes(map, strip.pages_each);
    svg.begin(&format!(
        "{}\n{:x}-{:x} {}\n{} present; a cell is {cell}",
        row.name,
        area.start,
        area.end,
        area.permissions,
        in_bytes(map, pages.present),
    ));
    let reserved = in_bytes(map, pages.reserved);
    let each = if strip.pages_each > 1 { format!(", cells of {cell}") } else { String::new() };
    let detail = format!("{} {reserved}{each}", area.permissions);
    texts(svg, map, y, height, &row.name, &detail, pages);
    let classes = by.classes(map);
    strip.draw(svg, y, height - GAP, classes, |class| paint::fill(by, class, classes));
    balances(svg, map, row, y, height);
    svg.end();
    y + height
}

/// Many small mappings as one.
pub fn folded(svg: &mut Svg, map: &ProcessMap, by: By, row: &Row<'_>, y: f64, height: f64) -> f64 {
    let pages = &row.placement.pages;
    let reserved = in_bytes(map, pages.reserved);
    texts(svg, map, y, height, &row.name, &format!("{reserved} together"), pages);
    bar(svg, map, by, &row.areas, y, height);
    balances(svg, map, row, y, height);
    y + height
}

/// Memory whose colors the program itself has registered.
pub fn registered(
    svg: &mut Svg,
    map: &ProcessMap,
    range: &RegisteredMemory,
    y: f64,
    height: f64,
) -> f64 {
    let pages = PageCounts { reserved: range.pages, present: range.pages, ..PageCounts::default() };
    let name = format!("{} (reported by the program)", range.label);
    let detail = format!("{} of {} pages, {} colors", range.known, range.pages, range.colors.get());
    texts(svg, map, y, height, &name, &detail, &pages);
    let strip = Strip::new(&range.cells, range.pages, |cell| By::Color.parts(cell, map));
    let bands = range.cells.cells.iter().map(|cell| cell.colors.len()).max().unwrap_or(0);
    strip.draw(svg, y, height - GAP, bands, |class| paint::fill(By::Color, class, bands));
    if let (Some(all), Some(ways)) = (&range.balance, range.ways) {
        balance::balance(svg, y, height - GAP, all, "cache", ways);
    }
    y + height
}

fn texts(
    svg: &mut Svg,
    map: &ProcessMap,
    y: f64,
    height: f64,
    name: &str,
    detail: &str,
    pages: &PageCounts,
) {
    let middle = y + (height - GAP) / 2.0;
    let name = svg::fit(name, 13, column::NAME_WIDTH);
    svg.text((column::NAME, middle - 1.0), 13, paint::INK, Anchor::Start, &name);
    let detail = svg::fit(detail, 11, column::NAME_WIDTH);
    svg.text((column::NAME, middle + 12.0), 11, paint::PALE, Anchor::Start, &detail);
    let present = in_bytes(map, pages.present);
    svg.text((column::SIZE, middle - 1.0), 13, paint::INK, Anchor::End, &present);
    let part = share(pages.present, map.total.pages.present);
    svg.text((column::SIZE, middle + 12.0), 11, paint::PALE, Anchor::End, &part);
}

fn bar(svg: &mut Svg, map: &ProcessMap, by: By, areas: &[&Area], y: f64, height: f64) {
    let classes = by.classes(map);
    strip::bar(svg, y, height - GAP - 3.0, &parts(map, by, areas), |class| {
        paint::fill(by, class, classes)
    });
}

/// All pages of some areas by class.
pub fn parts(map: &ProcessMap, by: By, areas: &[&Area]) -> Vec<Part> {
    let mut all: BTreeMap<usize, u64> = BTreeMap::new();
    for cell in areas.iter().flat_map(|area| &area.cells.cells) {
        for part in by.parts(cell, map) {
            *all.entry(part.class).or_default() += part.pages;
        }
    }
    all.into_iter().map(|(class, pages)| Part { class, pages }).collect()
}

fn balances(svg: &mut Svg, map: &ProcessMap, row: &Row<'_>, y: f64, height: f64) {
    if let Some((index, cache)) = main_cache(map)
        && let Some(Some(of_row)) = row.balances.get(index)
    {
        balance::balance(svg, y, height - GAP, of_row, &cache.name, cache.ways);
    }
}
