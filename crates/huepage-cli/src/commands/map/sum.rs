// SPDX-License-Identifier: MIT OR Apache-2.0
//! Placements added up, for rows that stand for several areas.

use huepage::map::{
    Area, Balance, HugeCount, NodeCount, PageCounts, PageSummary, ProcessMap, RunBucket, Runs,
};

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
    let mut total = PageSummary::default();
    let all = || areas.iter().map(|area| &area.placement);
    let hidden_somewhere = all().any(|placement| placement.pages.huge_mapped.is_none());
    total.pages.huge_mapped = (!hidden_somewhere).then_some(0);
    for placement in all() {
        add_pages(&mut total.pages, &placement.pages);
        for huge in &placement.huge {
            match total.huge.iter_mut().find(|sum| sum.size == huge.size) {
                Some(sum) => sum.pages += huge.pages,
                None => total.huge.push(HugeCount { ..*huge }),
            }
        }
        for node in &placement.nodes {
            match total.nodes.iter_mut().find(|sum| sum.node == node.node) {
                Some(sum) => sum.pages += node.pages,
                None => total.nodes.push(NodeCount { ..*node }),
            }
        }
        if let Some(runs) = &placement.runs {
            add_runs(total.runs.get_or_insert_default(), runs);
        }
    }
    total.huge.sort_unstable_by_key(|huge| huge.size);
    total.nodes.sort_unstable_by_key(|node| node.node);
    total
}

fn add_pages(sum: &mut PageCounts, more: &PageCounts) {
    sum.reserved += more.reserved;
    sum.present += more.present;
    sum.anonymous += more.anonymous;
    sum.ksm += more.ksm;
    sum.zero += more.zero;
    sum.file += more.file;
    sum.shared_memory += more.shared_memory;
    sum.hugetlb += more.hugetlb;
    sum.special += more.special;
    sum.swapped += more.swapped;
    sum.shared += more.shared;
    sum.huge_mapped = sum.huge_mapped.zip(more.huge_mapped).map(|(sum, more)| sum + more);
}

fn add_runs(sum: &mut Runs, more: &Runs) {
    sum.count += more.count;
    sum.longest = sum.longest.max(more.longest);
    for bucket in &more.histogram {
        match sum.histogram.iter_mut().find(|sum| sum.from == bucket.from) {
            Some(sum) => {
                sum.runs += bucket.runs;
                sum.pages += bucket.pages;
            }
            None => sum.histogram.push(RunBucket { ..*bucket }),
        }
    }
    sum.histogram.sort_unstable_by_key(|bucket| bucket.from);
}
