// SPDX-License-Identifier: MIT OR Apache-2.0
//! Instructions per page by function of the kernel.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::results::{Row, rounded};

/// A function with a smaller share of all instructions is left out of results.
const LEAST: f64 = 0.0005;

/// Instructions of each function, and the pages that they were executed for.
#[derive(Clone, Debug, Default)]
pub(super) struct Functions {
    instructions: BTreeMap<String, f64>,
    pages: u64,
}

impl Functions {
    /// Adds instructions that were executed for `pages` more pages.
    pub fn add(&mut self, executed: &BTreeMap<String, u64>, pages: u64) {
        for (name, times) in executed {
            *self.instructions.entry(name.clone()).or_default() += *times as f64;
        }
        self.pages += pages;
    }

    /// Instructions per page by function, for the metrics of a row; `None` if functions
    /// were not counted.
    pub fn per_page(&self) -> Option<Value> {
        let least = LEAST * self.instructions.values().sum::<f64>();
        let counted = self.instructions.iter().filter(|(_, instructions)| **instructions >= least);
        let per_page = |(name, instructions): (&String, &f64)| {
            (name.clone(), rounded(instructions / self.pages as f64))
        };
        let functions: BTreeMap<String, f64> = counted.map(per_page).collect();
        (!functions.is_empty()).then(|| json!(functions))
    }
}

/// Instructions per page in both rows, of the functions that differ most first; empty
/// if one of them has no functions.
pub(super) fn beside(stock: &Row, here: &Row) -> Vec<(String, [f64; 2])> {
    let mut both: BTreeMap<String, [f64; 2]> = BTreeMap::new();
    for (place, row) in [stock, here].into_iter().enumerate() {
        let Some(Value::Object(functions)) = row.metrics.get("functions") else {
            return Vec::new();
        };
        for (name, instructions) in functions {
            both.entry(name.clone()).or_default()[place] = instructions.as_f64().unwrap_or(0.0);
        }
    }
    let mut both: Vec<_> = both.into_iter().collect();
    let change = |both: &[f64; 2]| (both[1] - both[0]).abs();
    both.sort_by(|a, b| change(&b.1).total_cmp(&change(&a.1)));
    both
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::map;

    fn row(counts: &[(&str, u64)]) -> Row {
        let mut functions = Functions::default();
        for _ in 0..2 {
            let executed = counts.iter().map(|(name, times)| ((*name).to_owned(), *times));
            functions.add(&executed.collect(), 10);
        }
        Row { metrics: map([("functions", functions.per_page().unwrap())]), ..Row::default() }
    }

    #[test]
    fn functions_are_told_by_page_and_the_largest_difference_is_first() {
        let stock = row(&[("rmqueue", 1000), ("gone", 70)]);
        let here = row(&[("rmqueue", 1010), ("rank", 300)]);
        let expected = [("rank", [0.0, 30.0]), ("gone", [7.0, 0.0]), ("rmqueue", [100.0, 101.0])];
        let expected = expected.map(|(name, both)| (name.to_owned(), both));
        assert_eq!(beside(&stock, &here), expected);
        assert_eq!(beside(&stock, &Row::default()), []);
    }

    #[test]
    fn what_hardly_executes_is_left_out() {
        assert_eq!(row(&[("many", 10_000), ("few", 1)]), row(&[("many", 10_000)]));
        assert_eq!(Functions::default().per_page(), None);
    }
}
