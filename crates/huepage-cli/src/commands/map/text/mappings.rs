// SPDX-License-Identifier: MIT OR Apache-2.0
//! The mappings, largest first, those of one name together.

use std::fmt::Write;

use huepage::map::{Area, Balance, PageSummary, ProcessMap};

use huepage_present::{
    escape::{columns, shorten},
    number::{counted, expected, indexes, share},
    paragraph::put,
};

use super::super::{
    in_bytes,
    rows::{self, Limits, Row, main_cache},
};

const LIMITS: Limits = Limits { enough: 24, most: 24 };
/// Columns of a name.
const NAME: usize = 27;

/// All mappings; if there are many, the smaller ones are joined unless `all` is set.
pub fn mappings(out: &mut String, map: &ProcessMap, all: bool) {
    let groups = rows::by_name(map);
    let count = map.areas.len();
    let main = main_cache(map);
    let index = main.map_or(0, |(index, _)| index);
    let last = main.map(|(_, cache)| format!("{}*", shorten(&cache.name, 6)));
    let heading = counted(count as u64, "mapping");
    let heading = format!(
        "{heading:<NAME$} {:>8} {:>8} {:>5} {:>5} {:>5} {:>8} {:>7}",
        "reserved",
        "present",
        "huge",
        "shrd",
        "nodes",
        "longest",
        last.as_deref().unwrap_or_default(),
    );
    let _ = writeln!(out, "\n{}", heading.trim_end());
    if all {
        for group in groups {
            every(out, map, &group, index);
        }
        footnote(out, map);
        return;
    }
    let rows = rows::fold(map, groups, LIMITS);
    for row in rows.shown.iter().chain(&rows.folded) {
        let times = match row.areas.len() {
            1 => String::new(),
            _ if rows.folded.as_ref().is_some_and(|folded| folded.name == row.name) => {
                String::new()
            }
            n => format!(" ×{n}"),
        };
        let name = format!("{}{times}", shorten(&row.name, NAME - columns(&times)));
        let balance = row.balances.get(index).and_then(Option::as_ref);
        line(out, map, &name, &row.placement, balance);
    }
    footnote(out, map);
}

/// Explains the figures of the last column.
fn footnote(out: &mut String, map: &ProcessMap) {
    if let Some((_, cache)) = main_cache(map) {
        let text = format!(
            "* imbalance in {} by frame number, in pages, / that of random placement; - if the \
             pages fill the cache",
            cache.name
        );
        put(out, "", &text);
    }
}

/// One area on each line, under the name of all.
fn every(out: &mut String, map: &ProcessMap, group: &Row<'_>, index: usize) {
    let _ = writeln!(out, "{}", shorten(&group.name, 80));
    for area in &group.areas {
        let Area { start, permissions, placement, .. } = area;
        line(
            out,
            map,
            &format!("  {start:012x} {permissions}"),
            placement,
            placement.balances.get(index),
        );
    }
}

fn line(
    out: &mut String,
    map: &ProcessMap,
    name: &str,
    placement: &PageSummary,
    balance: Option<&Balance>,
) {
    let pages = &placement.pages;
    let bytes = |pages: u64| in_bytes(map, pages);
    let of_present = |count: u64| match count {
        0 => String::new(),
        count => share(count, pages.present),
    };
    let nodes: Vec<u32> = placement.nodes.iter().map(|node| node.node).collect();
    let huge = placement.huge.iter().map(|huge| huge.pages).sum();
    let longest = placement.runs.as_ref().filter(|runs| runs.longest > 0);
    let balance = balance.filter(|balance| balance.frames > 0);
    let text = format!(
        "{name}{:pad$} {:>8} {:>8} {:>5} {:>5} {:>5} {:>8} {:>7}",
        "",
        bytes(pages.reserved),
        if pages.present > 0 { bytes(pages.present) } else { "-".to_owned() },
        of_present(huge),
        of_present(pages.shared),
        shorten(&indexes(&nodes), 5),
        longest.map(|runs| bytes(runs.longest)).unwrap_or_default(),
        balance
            .map(|balance| match balance.imbalance {
                0 if balance.frames > balance.held => "-".to_owned(),
                n => format!("{n}/{}", expected(balance.imbalance_if_random)),
            })
            .unwrap_or_default(),
        pad = NAME.saturating_sub(columns(name)),
    );
    let _ = writeln!(out, "{}", text.trim_end());
}
