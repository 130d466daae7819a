// SPDX-License-Identifier: MIT OR Apache-2.0
//! Results as a page of Markdown.

use serde_json::Value;

use crate::{
    experiment::Experiment,
    results::{Failed, Page, Results},
};

/// The page of one experiment.
pub fn of(experiment: &Experiment, results: &Results, page: &Page) -> String {
    let kernel = &results.kernel;
    let mut text = format!(
        "<!-- SPDX-License-Identifier: MIT OR Apache-2.0 -->\n\
         # {}\n\n{}. Kind: {}. Kernel: Linux {} ({}; {}).\n\nCommand: `{}`\n",
        results.experiment,
        experiment.about,
        results.kind,
        kernel.version,
        kernel.variant,
        kernel.arch,
        results.command,
    );
    text += &failures("##", results);
    text += &tables("##", page);
    text + &format!("\n## What this means\n\n{}\n", experiment.remarks())
}

/// Boots without rows and checks that failed, below a heading; empty if there are none.
/// Boots that differ only in the seed are one line.
pub fn failures(level: &str, results: &Results) -> String {
    let all: String = by_seeds(&results.failed).map(|failed| format!("- {failed}\n")).collect();
    if all.is_empty() { all } else { format!("\n{level} What failed\n\n{all}") }
}

/// One entry for all that are the same except for the seed, in the order of the first
/// ones.
fn by_seeds(failed: &[Failed]) -> impl Iterator<Item = Failed> {
    let mut groups: Vec<(Failed, Vec<String>)> = Vec::new();
    for one in failed {
        let mut group = one.clone();
        let seed = group.settings.get_mut("seed").map(Value::take);
        let at = groups.iter().position(|(have, _)| *have == group).unwrap_or_else(|| {
            groups.push((group, Vec::new()));
            groups.len() - 1
        });
        groups[at].1.extend(seed.map(|seed| seed.to_string()));
    }
    groups.into_iter().map(|(mut failed, seeds)| {
        if let Some(seed) = failed.settings.get_mut("seed") {
            *seed = seeds.join(",").into();
        }
        failed
    })
}

/// All tables of a page, each below its heading.
pub fn tables(level: &str, page: &Page) -> String {
    let all = std::iter::once(&page.source).chain(&page.tables);
    all.map(|(heading, table)| format!("\n{level} {heading}\n\n{}", table.markdown())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn boots_that_differ_in_the_seed_are_one_line() {
        let failed = |settings: Value, reason: &str| Failed {
            settings: settings.as_object().cloned().unwrap_or_default(),
            reason: reason.to_owned(),
        };
        let results = Results {
            failed: vec![
                failed(json!({"policy": "on", "seed": 1}), "no memory"),
                failed(json!({"policy": "off", "seed": 1}), "no memory"),
                failed(json!({}), "more than stock"),
                failed(json!({"policy": "on", "seed": 2}), "no memory"),
                failed(json!({"policy": "on", "seed": 3}), "no disk"),
            ],
            ..Results::default()
        };
        let told = failures("##", &results);
        let lines: Vec<&str> = told.lines().filter(|line| line.starts_with("- ")).collect();
        assert_eq!(
            lines,
            [
                "- policy=on seed=1,2: no memory",
                "- policy=off seed=1: no memory",
                "- more than stock",
                "- policy=on seed=3: no disk",
            ]
        );
    }
}
