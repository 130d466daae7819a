// SPDX-License-Identifier: MIT OR Apache-2.0
//! Placements added up, for rows that stand for several areas.

use huepage::map::{Area, Balance, PageSummary, ProcessMap};

/// The balances of all `areas` added up, one per cache; `None` where one of them
/// has no histogram to add.
pub fn balances(map: &ProcessMap, areas: &[&Area]) -> Vec<Option<Balance>> {
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

/// The placements of all `areas`, added up but for their balances. A frame that
/// two of them map counts twice; how many distinct ones there are is unknown.
pub fn placement(areas: &[&Area]) -> PageSummary {
    if let [one] = areas {
        return one.placement.clone();
    }
    let hidden = areas.iter().any(|area| area.placement.pages.huge_mapped.is_none());
    let mut total = PageSummary::default();
    total.pages.huge_mapped = (!hidden).then_some(0);
    areas.iter().for_each(|area| total.add_counts(&area.placement));
    total
}
