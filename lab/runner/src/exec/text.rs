// SPDX-License-Identifier: MIT OR Apache-2.0
//! Outcomes as text.

use super::{Ended, MappingCounts, Outcome, ZERO_PAGES};
use crate::results::{Table, thousands};

/// Mappings with a line of their own, besides the zero pages; the others are one line.
const MAPPINGS: usize = 12;

/// All of them side by side, then each by its mappings.
pub fn text(outcomes: &[Outcome]) -> String {
    let mut parts = vec![side_by_side(outcomes)];
    for outcome in outcomes {
        let Outcome { policy, age, .. } = outcome;
        parts.push(format!("{policy}, {age}, by mapping:\n\n{}", by_mapping(outcome).markdown()));
    }
    parts.join("\n")
}

fn side_by_side(outcomes: &[Outcome]) -> String {
    let Some(first) = outcomes.first() else { return String::new() };
    let colors = &first.colors;
    let last = ["modelled cycles", "pages", "in conflict", "spread"].map(str::to_owned);
    let mut table = Table::wide(
        &["policy", "age", "ended", "instructions", "accesses"],
        misses(first).chain(last),
    );
    for outcome in outcomes {
        let ended = match outcome.ended {
            Ended::Code(code) => format!("code {code}"),
            Ended::Signal(signal) => format!("signal {signal}"),
        };
        let mut row = vec![outcome.policy.to_owned(), outcome.age.to_owned(), ended];
        row.extend([outcome.instructions, outcome.accesses].map(count));
        row.extend(outcome.caches.iter().map(|cache| count(cache.misses)));
        row.extend([count(outcome.cycles), count(outcome.colors.pages)]);
        row.push(format!("{:.1} %", 100.0 * outcome.colors.conflicts));
        row.push(outcome.colors.spread.to_string());
        table.row(row);
    }
    format!(
        "{}\nin conflict: pages whose color of {} more pages have than its {} ways (there are {} \
         colors);\nspread: most pages on a color, less the fewest. Modelled.\n",
        table.markdown(),
        colors.cache,
        colors.ways,
        colors.colors
    )
}

fn by_mapping(outcome: &Outcome) -> Table {
    let mut table =
        Table::wide(&["mapping", "pages", "on a zero page", "accesses"], misses(outcome));
    let (zero, mut told): (Vec<_>, Vec<_>) =
        outcome.mappings.iter().partition(|of| of.name == ZERO_PAGES);
    let others = told.split_off(MAPPINGS.min(told.len()));
    for of in zero.into_iter().chain(told) {
        let mut row = vec![of.name.clone()];
        row.extend([of.pages, of.mapped, of.accesses].map(count));
        row.extend(of.misses.iter().map(|&misses| count(misses)));
        table.row(row);
    }
    if !others.is_empty() {
        let sum =
            |of: &dyn Fn(&MappingCounts) -> u64| count(others.iter().map(|entry| of(entry)).sum());
        let mut row = vec![format!("{} more", others.len())];
        row.extend([sum(&|of| of.pages), sum(&|of| of.mapped), sum(&|of| of.accesses)]);
        row.extend((0..outcome.caches.len()).map(|cache| sum(&|of| of.misses[cache])));
        table.row(row);
    }
    table
}

/// Heads of columns, one for each cache.
fn misses(outcome: &Outcome) -> impl Iterator<Item = String> {
    outcome.caches.iter().map(|cache| format!("{} misses", cache.name))
}

fn count(number: u64) -> String {
    thousands(number as f64)
}
