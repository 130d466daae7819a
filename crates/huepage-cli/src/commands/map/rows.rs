// SPDX-License-Identifier: MIT OR Apache-2.0
//! Selects mappings that are shown one by one, and those that are shown together.

use std::{cmp::Reverse, collections::HashMap};

use huepage::map::{Area, Backing, Balance, MappedCache, PageSummary, ProcessMap};

/// Some areas shown as one.
pub struct Row<'a> {
    /// What they are called.
    pub name: String,
    /// By address; never empty.
    pub areas: Vec<&'a Area>,
    /// All of them added up, without the balances.
    pub placement: PageSummary,
    /// Per cache; `None` if there is no balance of all of them together.
    pub balances: Vec<Option<Balance>>,
}

/// The rows that are shown.
pub struct Rows<'a> {
    /// Fullest first.
    pub shown: Vec<Row<'a>>,
    /// The rest, where there is one.
    pub folded: Option<Row<'a>>,
}

/// The areas of one name together, since a program maps each library several times;
/// largest first.
pub fn by_name(map: &ProcessMap) -> Vec<Row<'_>> {
    let mut groups: Vec<(String, Vec<&Area>)> = Vec::new();
    let mut found = HashMap::new();
    for area in &map.areas {
        let name = name(area);
        let at = *found.entry((name.clone(), area.file)).or_insert_with(|| {
            groups.push((name, Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push(area);
    }
    largest_first(groups.into_iter().map(|(name, areas)| row(map, name, areas)).collect())
}

/// Every area for itself, largest first.
pub fn each(map: &ProcessMap) -> Vec<Row<'_>> {
    largest_first(map.areas.iter().map(|area| row(map, name(area), vec![area])).collect())
}

/// How many rows to show.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Up to so many all are shown, however small.
    pub enough: usize,
    /// Never more, the folded row among them.
    pub most: usize,
}

/// Joins rows that show almost nothing into one. Large areas are kept, even if they
/// hold few pages.
pub fn fold<'a>(map: &'a ProcessMap, rows: Vec<Row<'a>>, limits: Limits) -> Rows<'a> {
    if rows.len() <= limits.enough {
        return Rows { shown: rows, folded: None };
    }
    let total = &map.total.pages;
    let is_large = |row: &Row<'_>| row.placement.pages.reserved >= (total.reserved / 20).max(1);
    let is_full = |row: &Row<'_>| row.placement.pages.present >= (total.present / 1000).max(1);
    let mut large = rows.iter().filter(|row| is_large(row)).count().min(limits.most / 2);
    let mut small = limits.most - 1 - large;
    let (mut shown, mut rest) = (Vec::new(), Vec::new());
    for row in rows {
        if large > 0 && is_large(&row) {
            large -= 1;
            shown.push(row);
        } else if small > 0 && (shown.len() < limits.enough - 1 || is_full(&row)) {
            small -= 1;
            shown.push(row);
        } else {
            rest.extend(row.areas);
        }
    }
    rest.sort_unstable_by_key(|area| area.start);
    let folded = match rest.len() {
        0 => None,
        1 => Some(row(map, name(rest[0]), rest)),
        count => Some(row(map, format!("{count} smaller mappings"), rest)),
    };
    Rows { shown, folded }
}

fn row<'a>(map: &ProcessMap, name: String, areas: Vec<&'a Area>) -> Row<'a> {
    let (placement, balances) = (placement(&areas), balances(map, &areas));
    Row { name, areas, placement, balances }
}

/// The balances of all `areas` added up, one per cache; `None` if one of them has no
/// histogram to add.
fn balances(map: &ProcessMap, areas: &[&Area]) -> Vec<Option<Balance>> {
    let caches = map.caches.iter().enumerate();
    caches
        .map(|(i, cache)| {
            let parts: Option<Vec<&Balance>> =
                areas.iter().map(|area| area.placement.balances.get(i)).collect();
            match &parts?[..] {
                [one] => Some((*one).clone()),
                parts => Balance::sum(cache, parts.iter().copied()),
            }
        })
        .collect()
}

/// The placements of all `areas`, added up except for their balances. A frame that two
/// of them map counts twice; how many distinct ones there are is unknown.
fn placement(areas: &[&Area]) -> PageSummary {
    if let [one] = areas {
        return one.placement.clone();
    }
    let hidden = areas.iter().any(|area| area.placement.pages.huge_mapped.is_none());
    let mut total = PageSummary::default();
    total.pages.huge_mapped = (!hidden).then_some(0);
    areas.iter().for_each(|area| total.add_counts(&area.placement));
    total
}

/// By pages present or swapped, then by address space, then by address.
fn largest_first(mut rows: Vec<Row<'_>>) -> Vec<Row<'_>> {
    rows.sort_by_key(|row| {
        let pages = row.placement.pages;
        let key = (pages.present + pages.swapped, pages.reserved);
        (Reverse(key), row.areas[0].start)
    });
    rows
}

/// The cache that is shown if there is room for one: that of the cells; `None` if no
/// colors are known.
pub fn main_cache(map: &ProcessMap) -> Option<(usize, &MappedCache)> {
    let index = map.cell_cache.unwrap_or(0);
    let cache = map.caches.get(index)?;
    map.total.balances.get(index)?;
    Some((index, cache))
}

/// What an area is called.
fn name(area: &Area) -> String {
    match area.backing {
        _ if !area.name.is_empty() => area.name.to_string(),
        Backing::File => "file without a name".to_owned(),
        // Distinguished by their addresses.
        _ if area.placement.pages.present > 0 => format!("anonymous {:x}", area.start),
        _ => "anonymous, untouched".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_areas_stay_and_what_holds_next_to_nothing_is_one_row() {
        let record = include_str!("../../../tests/maps/numa-four-kinds-of-memory.json");
        let map = ProcessMap::from_json(record).unwrap();
        let names = |rows: &Rows<'_>| -> Vec<String> {
            rows.shown.iter().chain(&rows.folded).map(|row| row.name.clone()).collect()
        };
        let rows = fold(&map, by_name(&map), Limits { enough: 4, most: 6 });
        assert_eq!(
            names(&rows),
            [
                "[anon:rows]",
                "/dev/hugepages/pool (deleted)",
                "anonymous 7f4a50020000",
                "[heap]",
                // Three pages of 64 GiB.
                "anonymous 7f3a40000000",
                "17 smaller mappings"
            ]
        );
        let pages = |rows: &Rows<'_>| -> u64 {
            let rows = rows.shown.iter().chain(&rows.folded);
            rows.map(|row| row.placement.pages.present).sum()
        };
        assert_eq!(pages(&rows), map.total.pages.present);
        let all = fold(&map, each(&map), Limits { enough: 22, most: 22 });
        assert_eq!((all.shown.len(), all.folded.is_none()), (22, true));
    }
}
